//! Words of a schema that say something about its slots.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{limits::Limit, units::Unit};
use crate::text::{fold, names::singular};

/// Words in names and descriptions of slots. Singular and plural of single words count as one, except in `measured` and
/// `periods`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfSlots {
    /// Things that are done in the morning, so that an hour is in the morning: "breakfast".
    pub morning: Vec<String>,
    /// Things that are done from noon on: "dinner".
    pub afternoon: Vec<String>,
    /// Things that are done in working hours: "appointment".
    pub working_hours: Vec<String>,
    /// Things in the past, so that a date is in the past: "birth".
    pub past: Vec<String>,
    /// The same if a function is about such a thing, unless the slot is about one of `ahead`.
    pub past_matters: Vec<String>,
    pub ahead: Vec<String>,
    /// Sums of money, which are not weighed: "price".
    pub sums: Vec<String>,
    /// Words for a number of years: "age".
    pub ages: Vec<String>,
    /// Words that begin the name of a bound, although they are units as well: "min".
    pub bounds: Vec<String>,
    /// Words that relate two things, so that a unit beside them is not the slot's unit: "per".
    pub relations: Vec<String>,
    /// Words before a unit in a description: "in", "how many".
    pub measured: Vec<String>,
    /// Words that name one particular unit rather than a length: "the day of the month".
    pub periods: Vec<String>,
    /// Words which say that things are counted: "num".
    pub numbers: Vec<String>,
    /// Words for people who are counted: "people".
    pub people: Vec<String>,
    /// Endings of slot names for a part of a person's name.
    pub given_names: Vec<String>,
    pub family_names: Vec<String>,
    /// Slot names for a count, as whole names and as beginnings: "quantity", "number of".
    pub counts: Vec<String>,
    pub count_beginnings: Vec<String>,
    /// The same in descriptions: "how many".
    pub counting: Vec<String>,
    /// The start and the end of a range: names of their slots ("start", "arrival"; "until", "departure"), and the words
    /// that make a day or a time one of them ("since", "until").
    pub begins: Limit,
    pub ends: Limit,
    /// Endings of slot names for remarks: "note".
    pub remarks: Vec<String>,
    /// Endings of slot names for a part of an address: "street"; "city"; "zip".
    pub streets: Vec<String>,
    pub towns: Vec<String>,
    /// Words that begin the name of a street, in languages where they do: "calle".
    pub kinds_of_street: Vec<String>,
    /// Parts of a house that are written before the street: "flat".
    pub dwellings: Vec<String>,
    pub postal_codes: Vec<String>,
    /// Each dimension: the word in slot names, and the word that people say behind a number: "width", "wide".
    pub dimensions: Vec<Vec<String>>,
    /// Positions in a sequence: "floor".
    pub ranks: Vec<String>,
    /// Units besides those that `values.toml` has: "nights".
    pub units: BTreeMap<Unit, Vec<String>>,
    pub written: WrittenFormWords,
}

/// Words of slots whose values are recognized by how they are written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenFormWords {
    /// Files and folders: `/etc/hosts`.
    pub paths: Vec<String>,
    /// Patterns of files: `*.rs`.
    pub patterns: Vec<String>,
    /// `#general`.
    pub channels: Vec<String>,
    /// `@ann`.
    pub handles: Vec<String>,
    /// Recipients of mail: `ann@example.org`.
    pub addressees: Vec<String>,
    /// `owner/name`.
    pub repositories: Vec<String>,
    /// Hashes, full or shortened: `9f3c2ab`.
    pub hashes: Vec<String>,
    /// `PROJ-123`.
    pub ids: Vec<String>,
    /// The start and the destination, in a function that is about such things.
    pub ends: Vec<String>,
}

impl WrittenFormWords {
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
    /// Puts the words into the form in which names are compared.
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
