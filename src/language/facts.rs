//! Facts about languages and regions, also those without a pack.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::text::tag;

/// Facts about a language.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Facts {
    /// ISO 3166 code of the country whose phone numbers and dollars are meant if the tag names no region.
    region: Option<String>,
    /// `1.000,5` or `1 000,5` means what English writes `1,000.5`.
    pub decimal_comma: bool,
    /// Hours are counted to 12: "at 3" may be the afternoon.
    pub twelve_hours: bool,
    /// Kanji numerals are numbers in any position.
    pub kanji_numbers: bool,
    /// Lengths in days that mean whole weeks, today counted: "quinze jours".
    pub days_of_weeks: Vec<i64>,
    /// The language puts no spaces between words.
    pub unspaced: bool,
    /// Regions in which the month comes first in `3/4/2026`.
    month_first: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FactsToml {
    currencies: Vec<String>,
    decimal_point_regions: Vec<String>,
    usual: BTreeMap<String, String>,
    regional: BTreeMap<String, BTreeMap<String, String>>,
    languages: BTreeMap<String, Facts>,
}

static FILE: LazyLock<FactsToml> =
    LazyLock::new(|| toml::from_str(include_str!("facts.toml")).expect("the tests read it"));

/// The dollar of any region.
pub const DOLLAR: &str = "$";

impl Facts {
    /// The facts about the language that a BCP 47 tag names.
    #[must_use]
    pub fn of(tag: &str) -> &'static Self {
        static NOTHING: LazyLock<Facts> = LazyLock::new(Facts::default);
        FILE.languages.get(&tag::language(tag)).unwrap_or(&NOTHING)
    }

    /// The region that a tag of this language names or implies.
    #[must_use]
    pub fn region(&self, tag: &str) -> String {
        tag::region(tag).or_else(|| self.region.clone()).unwrap_or_else(|| "US".to_owned())
    }

    #[must_use]
    pub fn has_decimal_comma(&self, region: &str) -> bool {
        self.decimal_comma && !FILE.decimal_point_regions.iter().any(|other| other == region)
    }

    #[must_use]
    pub fn is_month_first(&self, region: &str) -> bool {
        self.month_first.iter().any(|first| first == region)
    }
}

/// True for a BCP 47 tag of a language that puts no spaces between words.
#[must_use]
pub fn is_unspaced_language(tag: &str) -> bool {
    Facts::of(tag).unspaced
}

/// The ISO 4217 code with this spelling, or the name of money that depends on the region, such as [`DOLLAR`].
pub(super) fn currency(code: &str) -> Option<&'static str> {
    FILE.usual.keys().chain(&FILE.currencies).find(|known| *known == code).map(String::as_str)
}

/// The currency that a symbol, given as a code, means in a region: for [`DOLLAR`], the region's dollar.
#[must_use]
pub fn regional(code: &'static str, region: &str) -> &'static str {
    own(code, region).or_else(|| FILE.usual.get(code).map(String::as_str)).unwrap_or(code)
}

/// The same, if the region has a currency of its own for it.
#[must_use]
pub fn own(code: &str, region: &str) -> Option<&'static str> {
    FILE.regional.get(code)?.get(region).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_and_regions_differ() {
        for (tag, region, has_comma, is_month_first) in [
            ("en", "US", false, true),
            ("en-GB", "GB", false, false),
            ("en_PH", "PH", false, true),
            ("de-AT", "AT", true, false),
            ("de-CH", "CH", false, false),
            ("es-US", "US", true, false),
            ("sv", "SE", true, false),
            ("xx", "US", false, false),
        ] {
            let facts = Facts::of(tag);
            let found = facts.region(tag);
            assert_eq!(found, region, "{tag}");
            assert_eq!(facts.has_decimal_comma(&found), has_comma, "{tag}");
            assert_eq!(facts.is_month_first(&found), is_month_first, "{tag}");
        }
        assert!(is_unspaced_language("ja-JP") && is_unspaced_language("ZH_tw") && !is_unspaced_language("ko"));
    }

    #[test]
    fn symbols_mean_what_they_mean_in_a_region() {
        for (code, region, expected) in [
            ("$", "CA", "CAD"),
            ("$", "FR", "USD"),
            ("JPY", "CN", "CNY"),
            ("JPY", "JP", "JPY"),
            ("EUR", "CA", "EUR"),
            ("centime", "CH", "CHF"),
            ("tenner", "US", "GBP"),
        ] {
            assert_eq!(regional(code, region), expected);
        }
        let known = |code: &String| currency(code).is_some();
        assert!(FILE.regional.values().flat_map(BTreeMap::values).chain(FILE.usual.values()).all(known));
        assert_eq!((own("$", "MX"), own("$", "ES")), (Some("MXN"), None));
        assert!(currency("XXX").is_none());
    }
}
