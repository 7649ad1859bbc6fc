//! Texts of others (of clients, of services that are called) on their way to a person or into a log.

/// The text without what a terminal or a page would act on, and at most so many characters of it: control characters
/// and those that turn the direction of writing are left out; line breaks and tabs are spaces.
#[must_use]
pub fn shown(text: &str, most: usize) -> String {
    let plain = harmless(text).map(|c| if c.is_whitespace() { ' ' } else { c });
    plain.take(most).collect()
}

/// The same of a text that may have several lines, all of it.
#[must_use]
pub fn lines(text: &str) -> String {
    harmless(text).collect()
}

fn harmless(text: &str) -> impl Iterator<Item = char> {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let turns = |c: char| matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(move |c| !acts(*c) && !turns(*c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_is_shown() {
        let text = "a\u{1b}[31m\u{202e}b\u{7}\nc\r\td\u{9b}é日本";
        assert_eq!(shown(text, 99), "a[31mb c dé日本");
        assert_eq!(shown(text, 3), "a[3");
        assert_eq!(lines(text), "a[31mb\nc\tdé日本");
    }
}
