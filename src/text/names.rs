//! Names of functions, slots and values as words.

use std::borrow::Cow;

use unicode_normalization::char::is_combining_mark;

/// The words of a name, in lower case: `departure_city`, `departureCity` and `Departure-City` are `departure`, `city`;
/// `HTTPServer2` is `http`, `server2`.
#[must_use]
pub fn name_words(name: &str) -> Vec<String> {
    let characters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut is_within = false;
    for (index, &character) in characters.iter().enumerate() {
        // In many scripts a mark belongs to its letter.
        if !character.is_alphanumeric() && (!is_within || !is_combining_mark(character)) {
            is_within = false;
            continue;
        }
        if !is_within || begins_word(&characters, index) {
            words.push(String::new());
            is_within = true;
        }
        if let Some(word) = words.last_mut() {
            word.extend(character.to_lowercase());
        }
    }
    words
}

/// A name as words: the same for `getUserByID`, `get_user_by_id` and `get-user-by-id`.
#[must_use]
pub fn in_words(name: &str) -> String {
    name_words(name).join(" ")
}

/// Removes an English plural ending, roughly; errors do not matter as long as both sides of a comparison are treated
/// alike.
#[must_use]
pub fn singular(word: &str) -> Cow<'_, str> {
    if word.len() > 4
        && let Some(stem) = word.strip_suffix("ies")
    {
        return format!("{stem}y").into();
    }
    for ending in ["sses", "xes", "ches", "shes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].into();
        }
    }
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['s', 'u', 'i']) => stem.into(),
        _ => word.into(),
    }
}

/// True for the capitals of `numDays`, `day2Night` and for the S of `HTTPServer`.
fn begins_word(characters: &[char], index: usize) -> bool {
    let before = index.checked_sub(1).map(|before| characters[before]);
    let after_is_lower = characters.get(index + 1).is_some_and(|after| after.is_lowercase());
    characters[index].is_uppercase()
        && before.is_some_and(|before| {
            before.is_lowercase() || before.is_numeric() || (before.is_uppercase() && after_is_lower)
        })
}

/// True for a name with a capital inside: `numDays`.
#[must_use]
pub fn is_camel_case(name: &str) -> bool {
    name.chars().zip(name.chars().skip(1)).any(|(left, right)| left.is_lowercase() && right.is_uppercase())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_fall_into_words() {
        for (name, words) in [
            ("HTTPServer2_of-thePlace", "http server2 of the place"),
            ("num_days", "num days"),
            ("shippingAddress.zipCode", "shipping address zip code"),
            ("getUserByID", "get user by id"),
            ("day2Night", "day2 night"),
            ("__", ""),
            ("Stra\u{df}e", "stra\u{df}e"),
            ("\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}", "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}"),
        ] {
            assert_eq!(name_words(name).join(" "), words, "{name}");
        }
        assert!(is_camel_case("numDays") && !is_camel_case("Num_days") && !is_camel_case("NUM"));
    }

    proptest! {
        #[test]
        fn words_have_letters_or_digits(name in "\\PC{0,40}") {
            for word in name_words(&name) {
                prop_assert!(word.chars().any(char::is_alphanumeric), "{word:?}");
            }
        }
    }

    #[test]
    fn words_are_taken_apart() {
        let singulars: Vec<_> =
            ["cities", "dishes", "boxes", "class", "bus", "tags", "gas"].into_iter().map(singular).collect();
        assert_eq!(singulars, ["city", "dish", "box", "class", "bus", "tag", "gas"]);
    }
}
