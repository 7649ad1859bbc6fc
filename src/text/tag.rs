//! BCP 47 tags: `pt-BR` is Portuguese as in Brazil. An underscore counts as a hyphen, and case is ignored.

use icu_time::zone::IanaParser;

/// The language of a tag, in lower case: `pt` of `pt-BR`.
#[must_use]
pub fn language(tag: &str) -> String {
    tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// The region of a tag as ISO 3166 writes it, if the tag has one: `BR` of `pt-BR`.
#[must_use]
pub fn region(tag: &str) -> Option<String> {
    let mut parts = tag.split(['-', '_']).skip(1);
    let region = parts.find(|part| part.len() == 2 && part.chars().all(|letter| letter.is_ascii_alphabetic()))?;
    Some(region.to_ascii_uppercase())
}

/// The country of an IANA time zone: `GB` of `Europe/London`; `None` of `UTC`.
#[must_use]
pub fn region_of_zone(zone: &str) -> Option<String> {
    let zone = IanaParser::new().parse(zone);
    // Unicode's zone ids have five letters: two for the country, three for a town in it.
    let country = zone.as_str().get(..2).filter(|_| zone.as_str().len() == 5)?;
    Some(country.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_lie_in_countries() {
        for (zone, expected) in [
            ("Europe/London", Some("GB")),
            ("America/Chicago", Some("US")),
            ("America/Argentina/Buenos_Aires", Some("AR")),
            ("Asia/Tokyo", Some("JP")),
            ("UTC", None),
            ("Etc/GMT+3", None),
            ("Mars/Olympus", None),
        ] {
            assert_eq!(region_of_zone(zone).as_deref(), expected, "{zone}");
        }
    }

    #[test]
    fn tags_name_a_language_and_a_region() {
        for (tag, expected) in [
            ("pt-BR", ("pt", Some("BR"))),
            ("EN_gb", ("en", Some("GB"))),
            ("zh-Hant-TW", ("zh", Some("TW"))),
            ("de", ("de", None)),
            ("", ("", None)),
        ] {
            assert_eq!((language(tag).as_str(), region(tag).as_deref()), expected, "{tag}");
        }
    }
}
