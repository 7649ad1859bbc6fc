//! Calls that a reply only shows: in a quotation, in the middle of a sentence, or beside words that doubt it or call it
//! an example.

use std::ops::Range;

/// Words that keep a call beside them from being made: they negate it, doubt it, or call it an example. These are the
/// model's words, which are mostly English whatever the person speaks.
const DOUBTS: [&str; 22] = [
    "not", "never", "none", "would", "could", "might", "may", "perhaps", "maybe", "example", "nicht", "nie", "würde",
    "könnte", "beispiel", "nunca", "podría", "ejemplo", "pas", "jamais", "pourrait", "exemple",
];
/// The same within words, and in a language without spaces.
const DOUBTS_WITHIN: [&str; 6] = ["n't", "n’t", "例", "ない", "ません", "かも"];

/// Fence of a code block.
const FENCE: &str = "```";

/// True if the place has lines of its own, or follows the end of a sentence or a colon.
pub(super) fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    let line = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.end..].find('\n').map_or(text.len(), |at| place.end + at);
    let before = text[line..place.start].trim();
    let before = match before.rsplit_once(FENCE) {
        // A fence may name a language.
        Some((before, language)) if language.chars().all(|c| c.is_alphanumeric() || c == '_') => before.trim(),
        _ => before,
    };
    let after = text[place.end..end].trim();
    let after = after.strip_prefix(FENCE).unwrap_or(after).trim();
    let leads_to_it = before.is_empty() || before == "-" || before.ends_with([':', '：', '.', '。', '!', '！']);
    leads_to_it && !before.starts_with('>') && after.chars().all(|c| matches!(c, '.' | ',' | ';' | '!'))
}

/// True if words of the same sentence stand before and after it: "one could write `<tool_call>` ... but nothing fits".
pub(super) fn is_in_a_sentence(text: &str, place: &Range<usize>) -> bool {
    let line = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.end..].find('\n').map_or(text.len(), |at| place.end + at);
    let (before, after) = (text[line..place.start].trim_end(), text[place.end..end].trim_start());
    let ends_word = |c: char| c.is_alphanumeric() || c == ',';
    before.ends_with(ends_word) && after.starts_with(|c: char| c.is_alphanumeric())
}

/// True if the place is in a code block or in quotation marks.
pub(super) fn is_marked_as_code(text: &str, at: usize) -> bool {
    let before = &text[..at];
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    before.matches(FENCE).count() % 2 == 1
        || line.trim_start().starts_with('>')
        || before.ends_with(['`', '"', '\'', '“', '„', '«', '「'])
}

/// True if the words around `places`, which are in order, put the calls there in doubt.
pub(super) fn is_doubted(text: &str, places: &[Range<usize>]) -> bool {
    let mut from = 0;
    let mut outside = Vec::with_capacity(places.len() + 1);
    for place in places {
        outside.push(text[from..place.start.max(from)].to_lowercase());
        from = place.end.max(from);
    }
    outside.push(text[from..].to_lowercase());
    outside.iter().any(|words| {
        words.split(|c: char| !c.is_alphanumeric()).any(|word| DOUBTS.contains(&word))
            || DOUBTS_WITHIN.iter().any(|part| words.contains(part))
    })
}
