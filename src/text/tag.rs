//! BCP 47 tags: `pt-BR` is Portuguese as in Brazil. An underscore counts as a hyphen, and case does not count.

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

#[cfg(test)]
mod tests {
    use super::*;

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
