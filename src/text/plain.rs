//! Turns documentation with Markdown and HTML into text for people.

/// Words that end with a full stop without ending a sentence, in lower case.
const ABBREVIATIONS: [&str; 22] = [
    "e.g", "i.e", "etc", "vs", "cf", "incl", "excl", "approx", "max", "min", "no", "nr", "st", "dr", "mr", "mrs", "ms",
    "z.b", "d.h", "ca", "bzw", "p.ej",
];

/// The first plain sentence of a text, without its full stop; empty if there is none.
#[must_use]
pub fn first_sentence(text: &str) -> String {
    let paragraph = plain(&first_paragraph(text));
    let end = paragraph.char_indices().find_map(|(at, character)| match character {
        '。' => Some(at),
        // "v1.2" and "e.g. Paris" do not end a sentence.
        '.' if ends_sentence(&paragraph, at) => Some(at),
        '!' | '?' if is_gap(&paragraph[at + 1..]) => Some(at + 1),
        '！' | '？' => Some(at + character.len_utf8()),
        _ => None,
    });
    paragraph[..end.unwrap_or(paragraph.len())].trim().to_owned()
}

fn is_gap(rest: &str) -> bool {
    rest.chars().next().is_none_or(char::is_whitespace)
}

fn ends_sentence(text: &str, at: usize) -> bool {
    let word = text[..at].rsplit(|c: char| c.is_whitespace() || "(\"'".contains(c)).next().unwrap_or_default();
    let is_abbreviation = ABBREVIATIONS.contains(&word.to_lowercase().as_str()) && !text[at + 1..].trim().is_empty();
    is_gap(&text[at + 1..]) && !is_abbreviation
}

/// The lines of the first paragraph as one; a heading counts only if there is nothing else.
fn first_paragraph(text: &str) -> String {
    let mut paragraph = String::new();
    let mut heading = None;
    let mut is_code = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        }
        let is_rule = line.len() > 2 && line.chars().all(|c| "-=*_| :".contains(c));
        let is_other =
            is_code || line.starts_with("```") || line.starts_with("~~~") || line.starts_with('|') || is_rule;
        let title = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim());
        if let Some(title) = title.filter(|_| !is_other) {
            heading.get_or_insert(title.to_owned());
        }
        let body = if is_other || title.is_some() { "" } else { without_bullet(line) };
        match (body.is_empty(), paragraph.is_empty()) {
            (true, true) => {}
            (true, false) => break,
            (false, true) => paragraph.push_str(body),
            // A wrapped line continues in lower case.
            (false, false) if body.len() == line.len() && body.chars().next().is_some_and(char::is_lowercase) => {
                paragraph.push(' ');
                paragraph.push_str(body);
            }
            (false, false) => break,
        }
    }
    if paragraph.is_empty() { heading.unwrap_or_default() } else { paragraph }
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim_start_matches(['>', ' ']);
    ["- ", "* ", "+ "].iter().find_map(|bullet| line.strip_prefix(bullet)).unwrap_or(line).trim_start()
}

/// Removes marks of emphasis and code, replaces links by their texts, and removes HTML tags.
fn plain(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        let is_image = first == '!' && behind.starts_with('[');
        if is_image && let Some((_, after)) = link(&behind[1..]) {
            rest = after;
            continue;
        }
        if first == '['
            && let Some((inner, after)) = link(behind)
        {
            written.push_str(&inner.replace(['*', '`'], ""));
            rest = after;
            continue;
        }
        if first == '<'
            && let Some(after) = tag(behind)
        {
            rest = after;
            continue;
        }
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let stands_within = is_word(written.chars().next_back()) && is_word(behind.chars().next());
        match first {
            '*' | '`' => {}
            // "snake_case" keeps its underscore.
            '_' if !stands_within => {}
            '\\' if behind.starts_with(|c: char| c.is_ascii_punctuation()) => {}
            other => written.push(other),
        }
        rest = behind;
    }
    written.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Longest text or address of a link, in characters: bounds the search for a closing bracket.
const LONGEST_LINK: usize = 400;

/// The text of a link after its opening bracket, and the text behind the link.
fn link(text: &str) -> Option<(&str, &str)> {
    let at = text.char_indices().take(LONGEST_LINK).find(|(at, _)| text[*at..].starts_with("]("))?.0;
    let address = &text[at + 2..];
    let end = address.char_indices().take(LONGEST_LINK).find(|(_, c)| *c == ')')?.0;
    Some((&text[..at], &address[end + 1..]))
}

/// The text behind a tag, after its opening bracket.
fn tag(text: &str) -> Option<&str> {
    let name = text.strip_prefix('/').unwrap_or(text);
    name.chars().next().filter(char::is_ascii_alphabetic)?;
    let end =
        text.char_indices().take(LONGEST_LINK).find(|(_, c)| *c == '>' || *c == '<').filter(|(_, c)| *c == '>')?.0;
    Some(&text[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_plain() {
        for (text, expected) in [
            ("Order shoes. Second.", "Order shoes"),
            ("The city, e.g. Paris. Or more.", "The city, e.g. Paris"),
            ("Uses API v1.2 of it", "Uses API v1.2 of it"),
            (
                "## Get the weather\n\nReturns **the weather** of a `city`.\n\n- one\n- two",
                "Returns the weather of a city",
            ),
            ("# Title only", "Title only"),
            (
                "See [the docs](https://example.com/a.b) for *more* of snake_case.",
                "See the docs for more of snake_case",
            ),
            ("![logo](x.png) <p>A <b>pet</b> with a < b</p>", "A pet with a < b"),
            ("```json\n{\"a\": 1}\n```\nThe body.", "The body"),
            ("A line that\ngoes on here\nArgs:\n  x: y", "A line that goes on here"),
            ("A first line\nA second", "A first line"),
            ("- a bullet\n- another", "a bullet"),
            ("How many?  Guests.", "How many?"),
            ("何人ですか。お名前も。", "何人ですか"),
            ("| a | b |\n|---|---|\nText", "Text"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_read_in_time() {
        for unit in ["[", "](", "<a", "![x](", "*", "`", "\\", "ü[", "a. "] {
            let text = unit.repeat(20_000);
            let clock = std::time::Instant::now();
            let sentence = first_sentence(&text);
            assert!(sentence.len() <= text.len());
            assert!(clock.elapsed().as_secs() < 5, "{unit}");
        }
    }
}
