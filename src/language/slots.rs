//! What the words of a schema say of its slots.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::units::Unit;
use crate::text::{fold, names::singular};

/// Words that names and descriptions of slots are made of. Singular and plural of single words are one, but in
/// `measured` and `periods`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfSlots {
    /// What is done in the morning, so that an hour lies there: "breakfast".
    pub morning: Vec<String>,
    /// What is done from noon on: "dinner".
    pub afternoon: Vec<String>,
    /// What is done in the hours of work: "appointment".
    pub working_hours: Vec<String>,
    /// What lies behind, so that a date does: "birth".
    pub past: Vec<String>,
    /// The same where a function is about it, unless the slot is about what is `ahead`.
    pub past_matters: Vec<String>,
    pub ahead: Vec<String>,
    /// Sums of money, which are not weighed: "price".
    pub sums: Vec<String>,
    /// Count years: "age".
    pub ages: Vec<String>,
    /// Begin the name of a bound, though they are units as well: "min".
    pub bounds: Vec<String>,
    /// Join two of a kind, so that a unit beside them is not that of the slot: "per".
    pub relations: Vec<String>,
    /// Stand before a unit in a description: "in", "how many".
    pub measured: Vec<String>,
    /// Name one of a unit, rather than how long something is: "the day of the month".
    pub periods: Vec<String>,
    /// Say that things are counted: "num".
    pub numbers: Vec<String>,
    /// Who are counted: "people".
    pub people: Vec<String>,
    /// How names of slots end that take a part of a person's name.
    pub given_names: Vec<String>,
    pub family_names: Vec<String>,
    /// Names of slots that say how many there are of something, whole and by how they begin: "quantity", "number of".
    pub counts: Vec<String>,
    pub count_beginnings: Vec<String>,
    /// The same in descriptions: "how many".
    pub counting: Vec<String>,
    /// Name the one end of a range and the other: "start", "arrival"; "until", "departure".
    pub begins: Vec<String>,
    pub ends: Vec<String>,
    /// How names of slots end that take whatever is remarked: "note".
    pub remarks: Vec<String>,
    /// How names of slots end that take a part of an address: "street"; "city"; "zip".
    pub streets: Vec<String>,
    pub towns: Vec<String>,
    /// Words that streets begin with, where they do: "calle".
    pub kinds_of_street: Vec<String>,
    /// Parts of a house, which stand before its street: "flat".
    pub dwellings: Vec<String>,
    pub postal_codes: Vec<String>,
    /// Each dimension, as names of slots have it and as people say it behind a number: "width", "wide".
    pub dimensions: Vec<Vec<String>>,
    /// Places in a row: "floor".
    pub ranks: Vec<String>,
    /// Units beside those that people say, which `values.toml` has: "nights".
    pub units: BTreeMap<Unit, Vec<String>>,
    pub written: Written,
}

/// Words of slots whose values are told by how they are written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Files and folders: `/etc/hosts`.
    pub paths: Vec<String>,
    /// Patterns of files: `*.rs`.
    pub patterns: Vec<String>,
    /// `#general`.
    pub channels: Vec<String>,
    /// `@ann`.
    pub handles: Vec<String>,
    /// Who is written to: `ann@example.org`.
    pub addressees: Vec<String>,
    /// `owner/name`.
    pub repositories: Vec<String>,
    /// Hashes, cut short or not: `9f3c2ab`.
    pub hashes: Vec<String>,
    /// `PROJ-123`.
    pub ids: Vec<String>,
    /// Where something comes from, and where it goes, in a function that is about such things.
    pub ends: Vec<String>,
}

impl Written {
    fn lists(&mut self) -> [&mut Vec<String>; 9] {
        [
            &mut self.paths,
            &mut self.patterns,
            &mut self.channels,
            &mut self.handles,
            &mut self.addressees,
            &mut self.repositories,
            &mut self.hashes,
            &mut self.ids,
            &mut self.ends,
        ]
    }
}

impl OfSlots {
    /// Makes the words such as names are compared by.
    pub(super) fn fold(&mut self) {
        let lists = [
            &mut self.morning,
            &mut self.afternoon,
            &mut self.working_hours,
            &mut self.past,
            &mut self.past_matters,
            &mut self.ahead,
            &mut self.sums,
            &mut self.ages,
            &mut self.bounds,
            &mut self.relations,
            &mut self.numbers,
            &mut self.people,
            &mut self.ranks,
            &mut self.remarks,
        ];
        for word in lists.into_iter().chain(self.units.values_mut()).chain(self.written.lists()).flatten() {
            *word = singular(&fold(word)).into_owned();
        }
        let plain = [
            &mut self.measured,
            &mut self.periods,
            &mut self.counting,
            &mut self.begins,
            &mut self.ends,
            &mut self.streets,
            &mut self.kinds_of_street,
            &mut self.dwellings,
            &mut self.towns,
            &mut self.postal_codes,
        ];
        for word in plain.into_iter().chain(&mut self.dimensions).flatten() {
            *word = fold(word);
        }
        let names = [&mut self.counts, &mut self.count_beginnings, &mut self.given_names, &mut self.family_names];
        for name in names.into_iter().flatten() {
            *name = fold(name);
            name.retain(char::is_alphanumeric);
        }
    }
}
