//! Values that are recognized by how they are written: paths, file patterns, channels, handles, mail addresses,
//! `owner/name`, hashes and ids.
//!
//! These rules serve a function that is only described. Such a value fills the empty free-text slot whose name asks for
//! it, or else the one whose description does. If only the function is about such things, the values fill its slots in
//! the order of the schema. If more such values are said than slots ask for them, the words alone decide which value is
//! meant.

use crate::{
    ablation,
    decide::{
        candidates::quotations,
        filling::{Filling, FillingRule},
        situation::Situation,
        vocabulary::words_of,
    },
    language::{Language, negation::NegationRole, slots::WrittenFormWords},
    module::{Function, SlotId},
    recognize::reply,
    text::{Span, Utterance, in_words, is_unspaced, names::singular},
};

/// The number of digits of a hash: at least those of a shortened one, at most those of the longest.
const HASH: std::ops::RangeInclusive<usize> = 7..=64;
/// The fewest characters of an id.
const ID: usize = 3;
/// The most letters behind the digits of a number with its unit: "6pm", "10kg".
const UNIT: usize = 3;
/// The most letters and digits of a file name's extension.
const ENDING: usize = 8;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WrittenForm {
    Glob,
    Mail,
    Channel,
    Handle,
    Repository,
    Path,
    Hash,
    Id,
}

/// The part of a function that asks for a value of a form; better parts come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    Name,
    Description,
    Function,
}

/// A value that is written in a form, and the forms that it may be, the likeliest first.
struct WrittenValue {
    span: Span,
    forms: Vec<WrittenForm>,
}

/// Fills the slots that ask for values in these forms.
pub(super) fn settle(situation: &Situation<'_>, function: &Function, asked: &[SlotId], fillings: &mut Vec<Filling>) {
    let tokens = tokens(situation.utterance());
    let mut put: Vec<(SlotId, Span)> = Vec::new();
    for token in &tokens {
        if fillings.iter().any(|one| one.anchor.is_some() && one.span.contains(token.span)) {
            continue;
        }
        let free = |form: &WrittenForm| {
            let (claim, slots) = claimants(situation, function, *form)?;
            let of_form = tokens.iter().filter(|one| one.forms.contains(form)).count();
            let is_free = |id: &&SlotId| put.iter().all(|(slot, _)| slot != *id);
            let slot = slots.iter().filter(is_free).min_by_key(|id| !asked.contains(id))?;
            (of_form <= slots.len()).then_some((claim, *slot))
        };
        if let Some((_, slot)) = token.forms.iter().filter_map(free).min_by_key(|(claim, _)| *claim) {
            put.push((slot, token.span));
        }
    }
    for (slot, span) in put {
        if ablation::holds("forms.settle", true) {
            fill(situation, slot, span, fillings);
        }
    }
    fillings.sort_by_key(|one| one.span);
}

/// The slots that ask for a value of the form, with the part that asks for it: only the slots with the best such part.
fn claimants(situation: &Situation<'_>, function: &Function, form: WrittenForm) -> Option<(Claim, Vec<SlotId>)> {
    let claims = function.slot_ids().filter_map(|id| Some((claim(situation, function, id, form)?, id)));
    let claims: Vec<(Claim, SlotId)> = claims.collect();
    let best = claims.iter().map(|(claim, _)| *claim).min()?;
    Some((best, claims.into_iter().filter(|(claim, _)| *claim == best).map(|(_, id)| id).collect()))
}

/// The part of the function that asks for this free-text slot to be filled with a value of the form.
fn claim(situation: &Situation<'_>, function: &Function, id: SlotId, form: WrittenForm) -> Option<Claim> {
    let slot = function.slot(id);
    if !slot.takes_any_words() || slot.path.is_repeated() {
        return None;
    }
    let languages = Language::and_english(situation.knowledge.module.language());
    let says = |text: &str| {
        let words: Vec<String> = words_of(text).iter().map(|word| singular(word).into_owned()).collect();
        let mut known = languages.iter().flat_map(|language| form.words(&language.words.slots.written));
        known.any(|word| words.contains(word) || word.chars().any(is_unspaced) && text.contains(word.as_str()))
    };
    if says(&in_words(slot.label())) {
        return Some(Claim::Name);
    }
    // "To" in a description may lead to anything.
    if !matches!(form, WrittenForm::Mail | WrittenForm::Handle | WrittenForm::Id) && says(&slot.description) {
        return Some(Claim::Description);
    }
    let is_about = || says(&in_words(&function.name)) || says(&function.description);
    (form == WrittenForm::Path && is_end(languages, slot.label()) && is_about()).then_some(Claim::Function)
}

/// True of a slot for the start or the end of something that goes from here to there.
fn is_end(languages: [&'static Language; 2], label: &str) -> bool {
    let words = words_of(label);
    languages.iter().any(|language| {
        let written = &language.words.slots.written;
        written.ends.iter().any(|end| words.contains(end))
    })
}

/// Puts the value into the slot in place of its former value; texts of other slots that begin or end with it lose it.
fn fill(situation: &Situation<'_>, slot: SlotId, span: Span, fillings: &mut Vec<Filling>) {
    let utterance = situation.utterance();
    let is_within = |one: &Filling| {
        let mut words = utterance.words().iter().filter(|word| one.span.contains(**word));
        let first = words.next();
        let last = words.next_back().or(first);
        let begins = first.is_some_and(|word| word.start < span.start);
        begins && last.is_some_and(|word| word.start >= span.end)
    };
    // In the middle of another text, it is a part of that text.
    if fillings.iter().any(|one| one.slot != slot && one.anchor.is_none() && is_within(one)) {
        return;
    }
    fillings.retain(|one| one.slot != slot && !span.contains(one.span));
    for one in fillings.iter_mut().filter(|one| one.span.overlaps(span)) {
        one.span = without(situation, one.span, span);
    }
    fillings.retain(|one| !one.span.is_empty() && !one.span.overlaps(span));
    fillings.push(Filling::by(FillingRule::Quoted, slot, span));
}

/// What is left of a text without the value at one end of it, and without the words that lead to that value.
fn without(situation: &Situation<'_>, text: Span, value: Span) -> Span {
    let (utterance, code) = situation.said();
    let language = Language::or_english(code);
    let is_lead = |word: &Span| {
        let said = utterance.folded_in(*word);
        language.negation.is(&said, NegationRole::Lead)
            || language.words.joints.conjunctions.contains(&said)
            || reply::says_nothing(code, &said)
    };
    let words = || utterance.words().iter().filter(move |word| text.contains(**word) && !word.overlaps(value));
    let before: Vec<&Span> = words().filter(|word| word.end <= value.start).collect();
    let behind: Vec<&Span> = words().filter(|word| word.start >= value.end).collect();
    let kept = if before.is_empty() { behind } else { before };
    let last = kept.iter().rposition(|word| !is_lead(word));
    match (kept.first(), last.map(|last| kept[last])) {
        (Some(first), Some(last)) => Span::new(first.start, last.end),
        _ => Span::new(text.start, text.start),
    }
}

/// Everything that is written in one of the forms, in order. Within a longer quotation it is a part of the quotation.
fn tokens(utterance: &Utterance) -> Vec<WrittenValue> {
    let quoted = quotations(utterance.text());
    let is_quoted = |span: Span| quoted.iter().any(|one| one.contains(span) && *one != span);
    let all = chunks(utterance).into_iter().filter(|span| !is_quoted(*span));
    let token = |span: Span| {
        let forms = forms_of(utterance, span);
        (!forms.is_empty()).then_some(WrittenValue { span, forms })
    };
    all.filter_map(token).collect()
}

/// The pieces of text between spaces, without the marks around them.
fn chunks(utterance: &Utterance) -> Vec<Span> {
    let ends =
        |c: char| c.is_whitespace() || is_unspaced(c) || "\"'`“”„«»「」『』‘’()[]{}<>,;!?、。，！？：".contains(c);
    let text: Vec<char> = utterance.text().chars().collect();
    let mut chunks: Vec<Span> = Vec::new();
    let mut start = None;
    for at in 0..=text.len() {
        let is_inside = text.get(at).is_some_and(|c| !ends(*c));
        match start {
            None if is_inside => start = Some(at),
            Some(from) if !is_inside => {
                let trailing = text[from..at].iter().rev().take_while(|c| matches!(**c, '.' | ':')).count();
                chunks.push(Span::new(from, at - trailing));
                start = None;
            }
            _ => {}
        }
    }
    chunks.retain(|span| !span.is_empty());
    chunks
}

/// The forms in which these characters are written.
fn forms_of(utterance: &Utterance, span: Span) -> Vec<WrittenForm> {
    let text = utterance.slice(span);
    let has_letter = text.contains(char::is_alphabetic);
    let marked = |mark: char| text.strip_prefix(mark).filter(|rest| is_word(rest));
    if text.contains("://") {
        return Vec::new();
    }
    let is_glob = text.contains('*') && text.contains(['.', '/']);
    let at = text.split_once('@');
    let is_mail = at.is_some_and(|(name, host)| is_word(name) && is_word(host) && host.contains('.'));
    let is_channel = marked('#').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let is_rank = marked('#').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()));
    let parts: Vec<&str> = text.split('/').collect();
    let is_repository = matches!(parts[..], [owner, name] if is_word(owner) && is_word(name) && has_letter)
        && parts.iter().all(|part| part.contains(char::is_alphabetic));
    [
        (WrittenForm::Glob, is_glob),
        (WrittenForm::Mail, is_mail),
        (WrittenForm::Channel, is_channel),
        (WrittenForm::Handle, marked('@').is_some_and(|rest| rest.contains(char::is_alphabetic))),
        (WrittenForm::Repository, is_repository),
        (WrittenForm::Path, !is_glob && !is_mail && is_path(text)),
        (WrittenForm::Hash, is_hash(text)),
        (WrittenForm::Id, is_rank || is_id(text)),
    ]
    .into_iter()
    .filter_map(|(form, is_form)| is_form.then_some(form))
    .collect()
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// `/etc/hosts`, `./out`, `~/notes`, `C:\temp`, `src/lib/parser.rs`, `draft.md`.
fn is_path(text: &str) -> bool {
    let is_led =
        ["/", "./", "../", "~/", ".\\", "..\\"].iter().any(|lead| text.starts_with(*lead) && text.len() > lead.len());
    let is_drive = text.get(1..3) == Some(":\\") && text.starts_with(|c: char| c.is_ascii_alphabetic());
    let has_letter = text.contains(char::is_alphabetic);
    let is_deep = text.matches('/').count() > 1 && has_letter;
    let name = text.rsplit('/').next().unwrap_or(text);
    let is_file = name.rsplit_once('.').is_some_and(|(name, ending)| {
        let is_ending = (1..=ENDING).contains(&ending.len()) && ending.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_plain = ending.chars().all(|c| c.is_ascii_alphanumeric());
        let is_name = name.chars().count() > 1 || ending.len() > 1;
        is_ending && is_plain && is_name && name.chars().any(char::is_alphabetic) && !name.contains(['@', ':'])
    });
    (is_led || is_drive || is_deep || is_file) && has_letter
}

/// `9f3c2ab`: hexadecimal digits, letters among them.
fn is_hash(text: &str) -> bool {
    HASH.contains(&text.len())
        && text.chars().all(|c| c.is_ascii_hexdigit())
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// `PROJ-123`, `a81f-22`: letters and digits that are not a number with its unit.
fn is_id(text: &str) -> bool {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let has_both = text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic());
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_unit = unit.len() < text.len() && unit.chars().all(char::is_alphabetic) && unit.len() <= UNIT;
    text.len() >= ID && is_plain && has_both && !has_unit
}

impl WrittenForm {
    /// Words in names and descriptions of slots that take this form.
    fn words(self, written: &'static WrittenFormWords) -> Box<dyn Iterator<Item = &'static String>> {
        match self {
            Self::Glob => Box::new(written.patterns.iter()),
            Self::Mail => Box::new(written.addressees.iter()),
            Self::Channel => Box::new(written.channels.iter()),
            Self::Handle => Box::new(written.handles.iter().chain(&written.addressees)),
            Self::Repository => Box::new(written.repositories.iter()),
            Self::Path => Box::new(written.paths.iter()),
            Self::Hash => Box::new(written.hashes.iter()),
            Self::Id => Box::new(written.ids.iter()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<(String, WrittenForm)> {
        let utterance = Utterance::new(text);
        let first = |token: &WrittenValue| (utterance.slice(token.span).to_owned(), token.forms[0]);
        tokens(&utterance).iter().map(first).collect()
    }

    fn first(text: &str) -> Vec<WrittenForm> {
        forms(text).into_iter().map(|(_, form)| form).collect()
    }

    #[test]
    fn what_is_written_in_a_form_is_found_without_what_stands_around_it() {
        let found = forms("move ./out/report.pdf to \"~/archive\", (see #ops) and ask @ann.");
        let found: Vec<(&str, WrittenForm)> = found.iter().map(|(text, form)| (text.as_str(), *form)).collect();
        let wanted = [
            ("./out/report.pdf", WrittenForm::Path),
            ("~/archive", WrittenForm::Path),
            ("#ops", WrittenForm::Channel),
            ("@ann", WrittenForm::Handle),
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn each_form_has_its_marks() {
        for (text, form) in [
            ("*.rs", WrittenForm::Glob),
            ("**/*_test.go", WrittenForm::Glob),
            ("lea@example.org", WrittenForm::Mail),
            ("#general", WrittenForm::Channel),
            ("@maria", WrittenForm::Handle),
            ("rust-lang/cargo", WrittenForm::Repository),
            ("/etc/hosts", WrittenForm::Path),
            ("C:\\temp\\a.txt", WrittenForm::Path),
            ("src/lib/parser.rs", WrittenForm::Path),
            ("draft.md", WrittenForm::Path),
            ("9f3c2ab", WrittenForm::Hash),
            ("PROJ-123", WrittenForm::Id),
            ("a81f-22", WrittenForm::Id),
            ("#12", WrittenForm::Id),
        ] {
            assert_eq!(first(text).first(), Some(&form), "{text}");
        }
    }

    #[test]
    fn plain_words_numbers_and_addresses_have_none() {
        for text in
            ["hello", "6pm", "3kg", "2026-03-01", "12/03/2026", "3.5", "e.g.", "1/2", "https://a.io/b", "*", "room 12"]
        {
            assert_eq!(first(text), [], "{text}");
        }
    }

    #[test]
    fn what_a_quotation_has_in_it_is_its_own() {
        assert_eq!(first("say \"see /etc/hosts\" in #ops"), [WrittenForm::Channel]);
    }
}
