//! Where an utterance may be divided into parts that each ask for something: at conjunctions and between sentences.
//!
//! Words alone cannot tell "salt and pepper" from two requests: that is for `segment` to judge.

use std::cmp::Reverse;

use crate::{
    language::{Language, words::Joints as JoiningWords},
    recognize::Mention,
    text::{Span, Utterance},
};

/// The most clauses, and the fewest words in each.
const MOST: usize = 4;
const FEWEST_WORDS: usize = 2;

/// How surely one request ends and another begins, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// A bare "and", which also joins the items of a list.
    Conjunction,
    /// The end of a sentence.
    Sentence,
    /// Words that order what is to be done: "and then".
    Sequence,
}

/// A part of an utterance, without the words that join it to the part before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clause {
    pub span: Span,
    /// How it is joined to the part before; `None` for the first.
    pub joined: Option<Strength>,
}

/// What stands between two parts and belongs to neither. It may be empty: behind a full stop without a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Joint {
    span: Span,
    strength: Strength,
}

/// The clauses of the utterance, in order: at most [`MOST`], each with at least [`FEWEST_WORDS`] words (in scripts
/// without spaces: characters). There is one clause unless the utterance contains something that may join two requests.
/// The clauses do not contain what joins them, nor the space around it. A mention is never cut.
///
/// The work is linear in the length of the utterance, whatever it contains.
pub(crate) fn clauses(utterance: &Utterance, language: &str, mentions: &[Mention]) -> Vec<Clause> {
    let joints = outside(joints(utterance, Language::of(language)), mentions);
    let joints = strongest(long_enough(utterance, joints));
    between(utterance, &joints)
}

/// The joints that cut no mention.
fn outside(mut joints: Vec<Joint>, mentions: &[Mention]) -> Vec<Joint> {
    let mut spans: Vec<Span> = mentions.iter().map(|mention| mention.span).collect();
    spans.sort_unstable();
    let mut spans = spans.into_iter().peekable();
    // The furthest end of the mentions that begin before a joint.
    let mut reach = 0;
    joints.retain(|joint| {
        while let Some(span) = spans.next_if(|span| span.start < joint.span.start) {
            reach = reach.max(span.end);
        }
        joint.span.end >= reach
    });
    joints
}

/// The joints that leave no clause too short. If a clause is too short, the weaker of the joints at its ends goes; of
/// two equal ones, the last.
fn long_enough(utterance: &Utterance, joints: Vec<Joint>) -> Vec<Joint> {
    let words = utterance.words();
    let words_in = |start: usize, end: usize| {
        words.partition_point(|word| word.end <= end).saturating_sub(words.partition_point(|word| word.start < start))
    };
    let mut kept: Vec<Joint> = Vec::with_capacity(joints.len());
    let mut next = joints.into_iter().peekable();
    loop {
        // All clauses before the last kept joint are long enough.
        let start = kept.last().map_or(0, |joint| joint.span.end);
        let end = next.peek().map_or(utterance.len(), |joint| joint.span.start);
        if words_in(start, end) >= FEWEST_WORDS {
            match next.next() {
                Some(joint) => kept.push(joint),
                None => return kept,
            }
            continue;
        }
        match (kept.last(), next.peek()) {
            (None, None) => return kept,
            (Some(before), behind) if behind.is_none_or(|behind| before.strength < behind.strength) => {
                kept.pop();
            }
            _ => {
                next.next();
            }
        }
    }
}

/// The joints of at most [`MOST`] clauses: the strongest, and of equal ones the first.
fn strongest(mut joints: Vec<Joint>) -> Vec<Joint> {
    joints.sort_by_key(|joint| Reverse(joint.strength));
    joints.truncate(MOST - 1);
    joints.sort_by_key(|joint| joint.span);
    joints
}

/// The text between the joints, without the space and the commas at its ends.
fn between(utterance: &Utterance, joints: &[Joint]) -> Vec<Clause> {
    let is_outside = |character: char| character.is_whitespace() || matches!(character, ',' | '、' | '，' | ';' | '；');
    let starts = std::iter::once((0, None)).chain(joints.iter().map(|joint| (joint.span.end, Some(joint.strength))));
    let ends = joints.iter().map(|joint| joint.span.start).chain(std::iter::once(utterance.len()));
    starts
        .zip(ends)
        .map(|((start, joined), end)| Clause { span: utterance.trimmed(Span::new(start, end), is_outside), joined })
        .collect()
}

/// Everything that may join two requests, in order, without overlaps.
fn joints(utterance: &Utterance, language: Option<&Language>) -> Vec<Joint> {
    let known = language.map(|language| &language.words.joints);
    let is_short = |word: &str| language.is_some_and(|language| language.is_abbreviation(word));
    let words = utterance.words();
    let folded: Vec<&str> = utterance.folded_words().collect();
    let mut joints: Vec<Joint> = Vec::new();
    let mut next = 0;
    while next < words.len() {
        let before = if next == 0 { 0 } else { words[next - 1].end };
        let gap = Span::new(before, words[next].start);
        let stop = sentence_end(utterance, gap, next.checked_sub(1).map(|i| words[i]), is_short);
        let follows_comma = next > 0 && utterance.slice(Span::new(before, words[next].start)).contains(',');
        let mut strength = stop.map(|_| Strength::Sentence);
        let mut behind = next;
        loop {
            let rest = &folded[behind..];
            // For a language without a pack, only punctuation is known.
            let Some(known) = known else { break };
            let (length, found) = if let Some(length) = starts_with(rest, &known.sequences) {
                (length, Strength::Sequence)
            } else if let Some(length) = starts_with(rest, &known.conjunctions) {
                (length, Strength::Conjunction)
            } else if let Some(length) = starts_with(rest, &known.followers)
                && (strength.is_some() || follows_comma)
            {
                (length, Strength::Sequence)
            } else {
                break;
            };
            strength = strength.max(Some(found));
            behind += length;
        }
        if let Some(strength) = strength {
            let start = stop.unwrap_or(words[next].start);
            let end = if behind > next { words[behind - 1].end } else { words[next].start };
            joints.push(Joint { span: Span::new(start, end), strength });
        }
        next = behind.max(next + 1);
    }
    joints.extend(known.into_iter().flat_map(|known| unspaced(utterance, known)));
    joints.sort_by_key(|joint| joint.span);
    // "…て、それから…" is one joint.
    joints.dedup_by(|later, earlier| {
        let touch = later.span.start <= earlier.span.end;
        if touch {
            earlier.span.end = earlier.span.end.max(later.span.end);
            earlier.strength = earlier.strength.max(later.strength);
        }
        touch
    });
    joints
}

/// The number of words in the first phrase that the text begins with.
fn starts_with(folded: &[&str], phrases: &[String]) -> Option<usize> {
    phrases.iter().find_map(|phrase| {
        let length = phrase.split(' ').count();
        let matches = folded.len() >= length && phrase.split(' ').zip(folded).all(|(word, own)| word == *own);
        matches.then_some(length)
    })
}

/// The end of a sentence between two words, behind its final mark.
fn sentence_end(
    utterance: &Utterance,
    gap: Span,
    word_before: Option<Span>,
    is_abbreviation: impl Fn(&str) -> bool,
) -> Option<usize> {
    let word = utterance.slice(word_before?);
    let marks: Vec<char> = utterance.slice(gap).chars().collect();
    let at = marks.iter().position(|mark| match mark {
        '!' | '?' | ';' | '。' | '！' | '？' | '；' => true,
        // "St. Louis", "J. Smith", "5 p.m. today": the full stop belongs to an abbreviation.
        '.' => {
            let is_initial = word.chars().count() < 3 && word.starts_with(char::is_uppercase);
            let is_short = is_initial || word.contains('.') || is_abbreviation(word);
            !is_short && marks.iter().any(|mark| mark.is_whitespace())
        }
        _ => false,
    })?;
    Some(gap.start + at + 1)
}

fn unspaced<'a>(utterance: &'a Utterance, known: &'a JoiningWords) -> impl Iterator<Item = Joint> + 'a {
    let between = known.unspaced.iter().map(|marker| (marker, 0));
    // A verb form that another verb follows, "…て、", is part of its own request.
    let endings = known.unspaced_endings.iter().map(|marker| (marker, marker.chars().count().saturating_sub(1)));
    between.chain(endings).flat_map(move |(marker, own)| {
        utterance.text().match_indices(marker.as_str()).map(move |(at, marker)| {
            let span = utterance.span_of_bytes(at..at + marker.len());
            Joint { span: Span::new(span.start + own, span.end), strength: Strength::Sequence }
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use crate::{decide::clauses::*, module::RecognizerId};

    /// Splits `text`; if the words of `mention` stand in it, they are one mention.
    fn split<'a>(language: &str, text: &'a str, mention: &str) -> Vec<&'a str> {
        let utterance = Utterance::new(text);
        let found = text.find(mention).filter(|_| !mention.is_empty());
        let mentions: Vec<Mention> = found
            .map(|at| Mention {
                recognizer: RecognizerId::from_index(0),
                span: utterance.span_of_bytes(at..at + mention.len()),
                text: mention.to_owned(),
                value: Value::Null,
                others: Vec::new(),
                unread: Vec::new(),
                score: 1.0,
            })
            .into_iter()
            .collect();
        let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let clauses = clauses(&utterance, language, &mentions);
        clauses.iter().map(|clause| &text[bytes[clause.span.start]..bytes[clause.span.end]]).collect()
    }

    #[test]
    fn requests_are_told_apart_in_each_language() {
        for (language, text, expected) in [
            (
                "en",
                "Turn off the lights and play some jazz, please!",
                &["Turn off the lights", "play some jazz, please!"][..],
            ),
            (
                "en-GB",
                "cancel my table; what's the weather in Rome?",
                &["cancel my table", "what's the weather in Rome?"],
            ),
            (
                "en",
                "book a table for four, and then also text Anna. After that play $2 jazz",
                &["book a table for four", "text Anna.", "play $2 jazz"],
            ),
            (
                "de",
                "Mach das Licht aus und spiel dann Jazz, anschließend ruf Anna an",
                &["Mach das Licht aus", "spiel dann Jazz", "ruf Anna an"],
            ),
            ("de", "Licht bitte aus, und dann Musik an", &["Licht bitte aus", "Musik an"]),
            (
                "es",
                "apaga la luz y luego pon música. También llama a Ana",
                &["apaga la luz", "pon música.", "llama a Ana"],
            ),
            ("fr", "éteins la lumière et puis joue du jazz", &["éteins la lumière", "joue du jazz"]),
            ("ja", "電気を消して、それから音楽をかけて", &["電気を消して", "音楽をかけて"]),
            ("ja", "電気を消して、音楽をかけて。天気を教えて？", &["電気を消して", "音楽をかけて。", "天気を教えて？"]),
            ("xx", "mm nn and then oo pp! qq rr", &["mm nn and then oo pp!", "qq rr"]),
        ] {
            assert_eq!(split(language, text, ""), expected, "{text}");
        }
    }

    #[test]
    fn what_is_one_stays_whole() {
        for (text, mention) in [
            ("is it sunny in Trinidad and Tobago today", "Trinidad and Tobago"),
            ("find me a bed and breakfast in Rome", "bed and breakfast"),
            ("for two and a half hours", "two and a half hours"),
            ("salt and pepper", ""),
            ("hello. goodbye", ""),
            ("fly to St. Louis at 5 p.m. on Monday with J. Smith", ""),
            ("it costs 3.50 at example.com today", ""),
            ("and then play jazz", ""),
            ("...and", ""),
            ("", ""),
        ] {
            assert_eq!(split("en", text, mention).len(), 1, "{text}");
        }
    }

    #[test]
    fn of_too_many_parts_those_that_are_surest_apart_stay() {
        let text = "a b and c d and e f and then g h and i j. k l";
        assert_eq!(split("en", text, ""), ["a b", "c d and e f", "g h and i j.", "k l"]);
    }

    /// The clauses by the definition itself. Joints are removed one by one, the weakest first: beside the first clause
    /// that is too short, or anywhere if there are too many clauses.
    fn one_by_one(utterance: &Utterance, language: &str, mentions: &[Mention]) -> Vec<Clause> {
        let mut joints = joints(utterance, Language::of(language));
        joints.retain(|joint| {
            !mentions.iter().any(|one| one.span.start < joint.span.start && joint.span.end < one.span.end)
        });
        loop {
            let clauses = between(utterance, &joints);
            let words = |clause: &Clause| utterance.words().iter().filter(|word| clause.span.contains(**word)).count();
            let short = clauses.iter().position(|clause| words(clause) < FEWEST_WORDS);
            let loose = match short {
                Some(index) => index.saturating_sub(1)..(index + 1).min(joints.len()),
                None if clauses.len() > MOST => 0..joints.len(),
                None => return clauses,
            };
            let Some(weakest) = loose.rev().min_by_key(|index| joints[*index].strength) else { return clauses };
            joints.remove(weakest);
        }
    }

    #[test]
    fn hostile_texts_take_work_in_proportion() {
        for piece in ["x;", "a. ", "and ", "a b; ", "and then ", ", and ", "て、", "電気それから", "1 and ", "; "]
        {
            let work = |characters: usize| {
                let text: String = piece.chars().cycle().take(characters).collect();
                let utterance = Utterance::new(&text);
                let mention = |word: &Span| Mention {
                    recognizer: RecognizerId::from_index(0),
                    span: *word,
                    text: String::new(),
                    value: Value::Null,
                    score: 1.0,
                    others: Vec::new(),
                    unread: Vec::new(),
                };
                let mentions: Vec<Mention> = utterance.words().iter().map(mention).collect();
                crate::text::fuel::of(|| {
                    for language in ["en", "ja"] {
                        assert!(clauses(&utterance, language, &mentions).len() <= MOST);
                    }
                })
            };
            let (half, whole) = (work(4_000), work(8_000));
            assert!(whole > 0 && whole <= 2 * half + 100, "{piece:?}: {half}, then {whole}");
            assert!(whole < 8_000 * 40, "{piece:?}: {whole}");
        }
    }

    proptest! {
        #[test]
        fn clauses_are_those_of_the_rule(
            language in "en|de|es|fr|ja|xx",
            pieces in prop::collection::vec(
                "and|then|also|und|dann|[a-zé]{1,5}|[.?!;,]|て、|それから|電気|[\\p{L}\\p{N}\\p{P}\\p{Zs}]{0,3}", 0..25),
            found in prop::collection::vec((0_usize..80, 1_usize..12), 0..3),
        ) {
            let utterance = Utterance::new(&pieces.join(" "));
            let mention = |(start, length): (usize, usize)| Mention {
                recognizer: RecognizerId::from_index(0),
                span: Span::new(start, start + length),
                text: String::new(),
                value: Value::Null,
                score: 1.0,
                others: Vec::new(),
                unread: Vec::new(),
            };
            let mentions: Vec<Mention> = found.into_iter().map(mention).collect();
            prop_assert_eq!(
                clauses(&utterance, &language, &mentions),
                one_by_one(&utterance, &language, &mentions)
            );
        }

        #[test]
        fn clauses_are_few_in_order_and_long_enough(
            language in "en|de|es|fr|ja|xx",
            pieces in prop::collection::vec(
                "and|then|also|und|dann|y|et|puis|[a-zé]{1,5}|[.?!;,]|て、|それから|電気|[\\p{L}\\p{N}\\p{P}\\p{Zs}]{0,3}", 0..25),
        ) {
            let text = pieces.join(" ");
            let utterance = Utterance::new(&text);
            let clauses = clauses(&utterance, &language, &[]);
            prop_assert!(!clauses.is_empty() && clauses.len() <= MOST);
            prop_assert_eq!(clauses.iter().position(|clause| clause.joined.is_none()), Some(0));
            for pair in clauses.windows(2) {
                prop_assert!(pair[0].span.end <= pair[1].span.start && pair[1].joined.is_some());
            }
            for clause in clauses.iter().filter(|_| clauses.len() > 1) {
                let words = utterance.words().iter().filter(|word| clause.span.contains(**word)).count();
                prop_assert!(words >= FEWEST_WORDS && clause.span.end <= utterance.len());
                prop_assert_eq!(utterance.slice(clause.span).trim(), utterance.slice(clause.span));
            }
        }
    }
}
