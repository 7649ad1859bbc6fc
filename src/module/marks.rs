//! Marks for values in an author's words: "A table on `<date>` at `<time>`?"

/// A run of such a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run<'a> {
    Text(&'a str),
    /// The text between `<` and `>`; once a module is loaded, the path of a slot.
    Mark(&'a str),
}

/// Splits a text into runs. A `<` or `>` without a partner is text.
#[must_use]
pub fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let (mut rest, mut from) = (text, 0);
    while let Some(open) = rest[from..].find('<').map(|at| from + at) {
        let after = &rest[open + 1..];
        match after.find(['<', '>']).filter(|&end| end > 0 && after.as_bytes()[end] == b'>') {
            Some(end) => {
                if open > 0 {
                    runs.push(Run::Text(&rest[..open]));
                }
                runs.push(Run::Mark(&after[..end]));
                (rest, from) = (&after[end + 1..], 0);
            }
            None => from = open + 1,
        }
    }
    if !rest.is_empty() {
        runs.push(Run::Text(rest));
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_pairs_are_marks() {
        use Run::{Mark, Text};
        assert_eq!(runs("<a> to <b.c[]>?"), [Mark("a"), Text(" to "), Mark("b.c[]"), Text("?")]);
        assert_eq!(runs("1 < 2 <<a> <> <"), [Text("1 < 2 <"), Mark("a"), Text(" <> <")]);
        assert_eq!(runs(""), []);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "[a-z<> 日]{0,30}") {
            let back: String = runs(&text).iter().map(|run| match run {
                Run::Text(text) => (*text).to_owned(),
                Run::Mark(mark) => format!("<{mark}>"),
            }).collect();
            prop_assert_eq!(back, text);
        }
    }
}
