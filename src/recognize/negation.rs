//! Words that rule out the things that they name: "no onions", "anything but Tuesday", "remove the fries", "don't
//! cancel it".
//!
//! A cue and its scope: the noun phrase that follows (in some languages and phrases, the one before), up to a mark of
//! punctuation, a preposition, or the beginning of another request: "no onions and pickles" rules out both, "no onions
//! and a large coke" one of them. What recognizers found takes precedence: a cue within a longer mention ("No Country
//! for Old Men") is not a cue, and no scope ends within a mention. Pure, and linear in the length of the utterance.

use super::Mention;
use crate::{
    ablation,
    language::{Language, negation::NegationRole},
    text::{
        Span, Utterance,
        tokens::{Token, TokenKind},
    },
};

/// A part of an utterance that rules something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Negation {
    pub kind: NegationKind,
    /// The words of the negation: "anything but".
    pub cue: Span,
    /// The words that are ruled out, without articles: "Tuesday". Never empty, and never overlaps `cue`.
    pub scope: Span,
}

/// What the negation says about the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NegationKind {
    /// It is not wanted: "no onions".
    Absence,
    /// It is to be removed: "remove the fries". For a function that removes things, nothing is ruled out.
    Removal,
    /// It is not to be done, or not wanted: "don't cancel my order", "don't want onions".
    Refusal,
    /// It is not to be removed: "don't remove the fries". The action is ruled out, the thing is not.
    Retention,
}

/// The most tokens of a scope.
const LONGEST: usize = 12;
/// The most tokens of an item of a list without a verb: "red onions" of "no pickles, red onions or mustard".
const LONGEST_ITEM: usize = 3;
/// The most tokens between the two parts of a verb: "take the french fries off".
const APART: usize = 7;
/// The most words between "any" and "but".
const BEFORE_BUT: usize = 5;

/// Every negation, in order; cues and scopes do not overlap. Empty in a language without a pack.
pub(super) fn find(utterance: &Utterance, language: &str, mentions: &[Mention]) -> Vec<Negation> {
    let language = Language::of(language);
    language.map(|language| NegationReader::new(utterance, language, mentions).read()).unwrap_or_default()
}

struct NegationReader<'a> {
    utterance: &'a Utterance,
    language: &'a Language,
    tokens: Vec<Token>,
    spans: Vec<Span>,
    /// For each token, the phrases that begin there: the token after them, and their role.
    roles: Vec<Vec<(usize, NegationRole)>>,
    /// The tokens of each sure mention, and whether its value is only a yes or no.
    mentions: Vec<(usize, usize, bool)>,
}

/// A cue, as token indices.
#[derive(Debug, Clone, Copy)]
struct Cue {
    end: usize,
    role: NegationRole,
}

impl<'a> NegationReader<'a> {
    fn new(utterance: &'a Utterance, language: &'a Language, mentions: &[Mention]) -> Self {
        let folded = utterance.folded();
        let tokens = utterance.tokens();
        let spans: Vec<Span> = tokens.iter().map(|token| utterance.span_of_folded(token.bytes.clone())).collect();
        let text = |token: usize| &folded[tokens[token].bytes.clone()];
        let roles = (0..tokens.len())
            .map(|start| {
                let fits = |rest: &[Box<str>]| {
                    start + rest.len() < tokens.len()
                        && rest.iter().enumerate().all(|(offset, word)| text(start + 1 + offset) == &**word)
                };
                let phrases = language.negation.beginning_with(text(start)).iter().filter(|phrase| fits(&phrase.rest));
                let phrases = phrases.filter(|phrase| ablation::admits("negation", &phrase.meaning));
                phrases.map(|phrase| (start + 1 + phrase.rest.len(), phrase.meaning)).collect()
            })
            .collect();
        let mentions = mentions
            .iter()
            // A mention that is only a guess does not hide a cue.
            .filter(|mention| mention.is_likely() && !mention.span.is_empty())
            .map(|mention| {
                let start = spans.partition_point(|span| span.end <= mention.span.start);
                let end = spans.partition_point(|span| span.start < mention.span.end);
                (start, end, mention.value.is_boolean())
            })
            .collect();
        Self { utterance, language, tokens, spans, roles, mentions }
    }

    fn read(&self) -> Vec<Negation> {
        let mut found: Vec<Negation> = Vec::new();
        let mut token = 0;
        while token < self.tokens.len() {
            // The text before has been read; a cue that looks back must not reach into it.
            let floor = found.last().map_or(0, |last| {
                let end = last.cue.end.max(last.scope.end);
                self.spans.partition_point(|span| span.start < end)
            });
            let Some(cue) = self.cue(token) else {
                token += 1;
                continue;
            };
            let (negation, next) = self.negation(token, cue, floor);
            token = next.max(token + 1);
            found.extend(negation);
        }
        found
    }

    fn has(&self, token: usize, role: NegationRole) -> Option<usize> {
        let phrases = self.roles.get(token)?;
        phrases.iter().filter(|(_, other)| *other == role).map(|(end, _)| *end).max()
    }

    fn is(&self, token: usize, role: NegationRole) -> bool {
        self.has(token, role).is_some()
    }

    /// The longest phrase at `token` that negates, or only seems to; `None` if it is part of a mention.
    fn cue(&self, token: usize) -> Option<Cue> {
        let phrases = self.roles.get(token)?;
        let candidates = phrases.iter().filter(|(end, role)| match role {
            NegationRole::Absence
            | NegationRole::Removal
            | NegationRole::Refusal
            | NegationRole::AbsenceBehind
            | NegationRole::Idiom => true,
            NegationRole::OpeningRefusal => self.opens_clause(token),
            NegationRole::RefusalBehind => self.is_end(*end),
            NegationRole::Separable => self.particle(token, *end).is_some(),
            NegationRole::But => self.is_universal(token),
            _ => false,
        });
        let (end, role) =
            *candidates.max_by_key(|(end, role)| (*end, *role == NegationRole::Idiom, role.looks_back()))?;
        let within = |&(from, to, is_flag): &(usize, usize, bool)| {
            from <= token && end <= to && (to - from > end - token || !is_flag)
        };
        (!ablation::holds("negation.within_mention", self.mentions.iter().any(within))).then_some(Cue { end, role })
    }

    /// True before `token` if a new request may begin there.
    fn opens_clause(&self, token: usize) -> bool {
        let Some(before) = token.checked_sub(1) else { return true };
        self.is_break(before)
            || (0..token).rev().take(3).any(|start| self.has(start, NegationRole::Opening) == Some(token))
    }

    fn is_end(&self, token: usize) -> bool {
        token >= self.tokens.len() || self.is_break(token)
    }

    /// True for punctuation that ends a clause; a mark that joins words or stands for one does not.
    fn is_break(&self, token: usize) -> bool {
        let Some(kind) = self.tokens.get(token).map(|token| token.kind) else { return true };
        let glued = |token: usize| self.tokens.get(token).is_some_and(|token| token.glued);
        // "Dr. Weiß"
        let is_short = || {
            let word = token.checked_sub(1).and_then(|before| self.span(before, token));
            glued(token) && word.is_some_and(|word| self.language.is_abbreviation(self.utterance.slice(word)))
        };
        kind == TokenKind::Symbol
            && match self.text(token) {
                "'" | "&" | "#" | "$" | "€" | "£" | "%" | "+" | "@" | "_" | "*" | "\"" | "“" | "”" => false,
                "." if token + 1 < self.tokens.len() && is_short() => false,
                "-" | "/" | "." => !(glued(token) && glued(token + 1)),
                "," => {
                    // "1,000" is one number.
                    let digits = |token: usize| self.tokens.get(token).map(|of| of.kind) == Some(TokenKind::Digits);
                    !(glued(token) && glued(token + 1) && token > 0 && digits(token - 1) && digits(token + 1))
                }
                _ => true,
            }
    }

    fn text(&self, token: usize) -> &str {
        self.tokens.get(token).map_or("", |token| &self.utterance.folded()[token.bytes.clone()])
    }

    /// The place of the second part of a verb: "take" the fries "off". Between them must stand a thing with an article,
    /// or a recognized one.
    fn particle(&self, start: usize, after: usize) -> Option<usize> {
        if !self.is(after, NegationRole::Article) && !self.mentions.iter().any(|(from, ..)| *from == after) {
            return None;
        }
        let last = (start + APART).min(self.tokens.len());
        (after + 1..last).take_while(|token| !self.is_break(*token)).find(|token| {
            // "take the train out of town" takes nothing out.
            self.is(*token, NegationRole::Particle)
                && self
                    .has(*token, NegationRole::Particle)
                    .is_some_and(|end| self.text(end) != "of" || self.is(end + 1, NegationRole::Article))
        })
    }

    /// True if "any", "every" or the like stands shortly before `token`, in the same clause.
    fn is_universal(&self, token: usize) -> bool {
        (token.saturating_sub(BEFORE_BUT)..token)
            .rev()
            .take_while(|before| !self.is_break(*before))
            .any(|before| self.is(before, NegationRole::Universal))
    }

    /// The negation of a cue, if there is one, and where to read on.
    fn negation(&self, token: usize, cue: Cue, floor: usize) -> (Option<Negation>, usize) {
        let made = |kind, from: (usize, usize), scope: (usize, usize), next| {
            let spans = (self.span(from.0, from.1), self.span(scope.0, scope.1));
            let (Some(cue), Some(scope)) = spans else { return (None, next) };
            ((!cue.overlaps(scope)).then_some(Negation { kind, cue, scope }), next)
        };
        let end = cue.end;
        match cue.role {
            NegationRole::AbsenceBehind | NegationRole::RefusalBehind => {
                let kind =
                    if cue.role == NegationRole::AbsenceBehind { NegationKind::Absence } else { NegationKind::Refusal };
                match self.scope_before(token, floor, kind) {
                    Some(scope) => made(kind, (token, end), scope, end),
                    None => (None, end),
                }
            }
            NegationRole::Separable => {
                let Some(particle) = self.particle(token, end) else { return (None, end) };
                let Some((from, to)) = self.scope_after(end, NegationKind::Removal) else { return (None, end) };
                made(NegationKind::Removal, (token, end), (from, to.min(particle)), particle)
            }
            NegationRole::Absence | NegationRole::But => {
                // "no 5" and "no. 5" are numbers.
                let number = if self.text(end) == "." { end + 1 } else { end };
                let is_number = self.tokens.get(number).is_some_and(|token| token.kind == TokenKind::Digits);
                if ablation::holds("negation.number", self.is(token, NegationRole::Number) && is_number) {
                    return (None, number);
                }
                match self.scope_after(end, NegationKind::Absence) {
                    Some(scope) => made(NegationKind::Absence, (token, end), scope, scope.1),
                    None => (None, end),
                }
            }
            NegationRole::Removal => match self.scope_after(end, NegationKind::Removal) {
                Some(scope) => made(NegationKind::Removal, (token, end), scope, scope.1),
                None => (None, end),
            },
            NegationRole::Refusal | NegationRole::OpeningRefusal => {
                let verb = if self.is(end, NegationRole::Lead) { end + 1 } else { end };
                if let Some(kept) = ablation::found("negation.keeping", self.has(verb, NegationRole::Keeping)) {
                    return (None, kept);
                }
                if let Some(other) = self.cue(verb) {
                    match other.role {
                        NegationRole::Removal | NegationRole::Separable => {
                            let past =
                                self.scope_after(other.end, NegationKind::Removal).map_or(other.end, |(_, to)| to);
                            return made(NegationKind::Retention, (token, end), (verb, past), past);
                        }
                        NegationRole::Absence => return (None, other.end),
                        _ => {}
                    }
                }
                match self.scope_after(end, NegationKind::Refusal) {
                    Some(scope) => made(NegationKind::Refusal, (token, end), scope, scope.1),
                    None => (None, end),
                }
            }
            _ => (None, end),
        }
    }

    /// The end of the longest mention of several tokens that begins at `token`.
    fn mention_at(&self, token: usize) -> Option<usize> {
        self.mentions.iter().filter(|(from, to, _)| *from == token && to - from > 1).map(|(_, to, _)| *to).max()
    }

    /// True if another request begins at `token`.
    fn is_fresh(&self, token: usize) -> bool {
        self.is_end(token)
            || self.is(token, NegationRole::Fresh)
            || self.is(token, NegationRole::Bar)
            || self.is(token, NegationRole::Stop)
            || self.tokens[token].kind == TokenKind::Digits
            || self.cue(token).is_some()
    }

    /// The tokens that are ruled out, from `start` on.
    fn scope_after(&self, start: usize, kind: NegationKind) -> Option<(usize, usize)> {
        let is_doing = kind == NegationKind::Refusal;
        let mut from = start;
        if self.mention_at(start).is_none() {
            if !is_doing && self.is(start, NegationRole::Bar)
                || kind == NegationKind::Removal && self.is(start, NegationRole::Lead)
            {
                return None;
            }
            // "not on the Tuesday"
            if let Some(end) = self.has(from, NegationRole::Lead) {
                from = end;
            }
            while let Some(end) = self.has(from, NegationRole::Article).filter(|_| self.mention_at(from).is_none()) {
                from = end;
            }
        }
        let (mut token, mut last) = (from, from);
        while token < self.tokens.len() && token - from < LONGEST {
            let inside = token > from;
            if self.is_break(token) {
                let goes_on = self.text(token) == "," && inside && !is_doing && self.list_goes_on(token);
                if ablation::holds("negation.list", goes_on) {
                    token += 1;
                    continue;
                }
                break;
            }
            let ends = inside
                && (self.is(token, NegationRole::Stop)
                    || self.is(token, NegationRole::Lead)
                    || (self.is(token, NegationRole::Bar) && token > from + 1)
                    // "instead of the large a small one"
                    || (!is_doing && self.is(token, NegationRole::Article) && self.is(token, NegationRole::Fresh))
                    || self.cue(token).is_some_and(|cue| {
                        // "n'annule pas": the second half of the refusal itself.
                        cue.role != NegationRole::Idiom
                            && !(is_doing && cue.role == NegationRole::Absence && token == from + 1)
                    }));
            if ends {
                break;
            }
            if let Some(next) = self.has(token, NegationRole::Either).filter(|_| inside) {
                token = self.has(next, NegationRole::Article).unwrap_or(next);
                continue;
            }
            if let Some(next) = self.has(token, NegationRole::Join).filter(|_| inside) {
                if self.is_fresh(next) {
                    break;
                }
                token = next;
                continue;
            }
            token = self.mention_at(token).unwrap_or(token + 1);
            last = token;
        }
        // A quotation mark at the end does not belong to it.
        while last > from && self.tokens[last - 1].kind == TokenKind::Symbol && self.mention_at(last - 1).is_none() {
            last -= 1;
        }
        (last > from).then_some((from, last))
    }

    /// True if the text behind a comma belongs to a list with "or" or "and": "no onions, pickles or mustard".
    fn list_goes_on(&self, comma: usize) -> bool {
        let (mut token, mut words) = (comma + 1, 0);
        while token < self.tokens.len() {
            if let Some(next) = self.has(token, NegationRole::Either) {
                return !self.is_end(next);
            }
            if let Some(next) = self.has(token, NegationRole::Join) {
                return !self.is_fresh(next);
            }
            if self.text(token) == "," && words > 0 {
                (token, words) = (token + 1, 0);
                continue;
            }
            if words == LONGEST_ITEM || self.is_fresh(token) || self.is(token, NegationRole::Lead) {
                return false;
            }
            let next = self.mention_at(token).unwrap_or(token + 1);
            (token, words) = (next, words + 1);
        }
        false
    }

    /// The tokens that are ruled out, up to `end`.
    fn scope_before(&self, end: usize, floor: usize, kind: NegationKind) -> Option<(usize, usize)> {
        let mut last = end;
        // "die Zwiebeln bitte weglassen"
        while last > floor
            && self.is(last - 1, NegationRole::Stop)
            && self.has(last - 1, NegationRole::Stop) == Some(last)
        {
            last -= 1;
        }
        let mut from = last;
        while from > floor && last - from < LONGEST {
            let before = from - 1;
            let mention = self.mentions.iter().filter(|(start, to, _)| *to == from && *start >= floor);
            if let Some(start) = mention.map(|(start, ..)| *start).min() {
                from = start;
                continue;
            }
            let ends = kind == NegationKind::Absence
                && (self.is(before, NegationRole::Stop)
                    || self.is(before, NegationRole::Lead)
                    || self.is(before, NegationRole::Bar));
            // A syllable inside a word is not a particle.
            let is_particle = ends && (before > 0 || self.text(before).is_ascii());
            if self.is_break(before) || is_particle {
                break;
            }
            from = before;
        }
        while from < last && (self.is(from, NegationRole::Article) || self.is(from, NegationRole::Join)) {
            from += 1;
        }
        if kind == NegationKind::Refusal && (from..last).any(|token| self.is(token, NegationRole::Keeping)) {
            return None;
        }
        (last > from).then_some((from, last))
    }

    fn span(&self, from: usize, to: usize) -> Option<Span> {
        let span = Span::new(self.spans.get(from)?.start, self.spans.get(to.checked_sub(1)?)?.end);
        (!span.is_empty()).then_some(span)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::module::RecognizerId;

    fn all(language: &str, text: &str, mentioned: &[&str]) -> Vec<Negation> {
        let mentions: Vec<Mention> = mentioned
            .iter()
            .map(|name| {
                let utterance = Utterance::new(text);
                let at = text.find(name).expect("the mention is in the text");
                let span = utterance.span_of_bytes(at..at + name.len());
                let value = json!(name);
                Mention {
                    recognizer: RecognizerId::from_index(0),
                    span,
                    text: (*name).to_owned(),
                    value,
                    others: Vec::new(),
                    unread: Vec::new(),
                    score: 1.0,
                }
            })
            .collect();
        find(&Utterance::new(text), language, &mentions)
    }

    fn kept(kind: NegationKind) -> bool {
        kind == NegationKind::Retention
    }

    fn ruled_out(language: &str, text: &str, mentioned: &[&str]) -> Vec<String> {
        let utterance = Utterance::new(text);
        let found = all(language, text, mentioned);
        found.iter().filter(|one| !kept(one.kind)).map(|one| utterance.slice(one.scope).to_owned()).collect()
    }

    fn check(language: &str, cases: &[(&str, &[&str])]) {
        let wrong: Vec<String> = cases
            .iter()
            .map(|(text, expected)| (text, expected, ruled_out(language, text, &[])))
            .filter(|(_, expected, found)| found != *expected)
            .map(|(text, expected, found)| format!("{text:?}: {found:?}, not {expected:?}"))
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn english() {
        check(
            "en",
            &[
                ("a pizza with no onions", &["onions"]),
                ("no spice please", &["spice"]),
                ("a burger without cheese in a bag", &["cheese"]),
                ("no onions and pickles", &["onions and pickles"]),
                ("no onions and a large coke", &["onions"]),
                ("no onions and two cokes", &["onions"]),
                ("no onions and 2 cokes", &["onions"]),
                ("no onions and make it large", &["onions"]),
                ("no onions and large fries", &["onions"]),
                ("no onions or pickles, large please", &["onions or pickles"]),
                ("no onions, pickles or mustard", &["onions, pickles or mustard"]),
                ("no onions, large fries please", &["onions"]),
                ("no onions no pickles", &["onions", "pickles"]),
                ("no onions but cheese", &["onions"]),
                ("remove the fries", &["fries"]),
                ("please remove the fries from my order", &["fries"]),
                ("take the fries off my order", &["fries"]),
                ("leave the onions out please", &["onions"]),
                ("hold the mayo", &["mayo"]),
                ("leave out the cheese and add bacon", &["cheese"]),
                ("skip the sauce", &["sauce"]),
                ("lose the bacon", &["bacon"]),
                ("I don't want any mushrooms on it", &["mushrooms"]),
                ("don't put onions on it", &["put onions"]),
                ("anything but Tuesday", &["Tuesday"]),
                ("any day but Tuesday works", &["Tuesday works"]),
                ("everything except the fish", &["fish"]),
                ("any day except for Monday or Tuesday", &["Monday or Tuesday"]),
                ("salad instead of fries", &["fries"]),
                ("the red one rather than the blue one", &["blue one"]),
                ("something other than pasta please", &["pasta"]),
                ("instead of the large one a small one", &["large one"]),
                ("never on Sunday", &["Sunday"]),
                ("not on Tuesday, on Friday", &["Tuesday"]),
                ("not Monday but Friday", &["Monday"]),
                ("a table for four, not five", &["five"]),
                ("not the large one", &["large one"]),
                ("don't cancel my order", &["cancel my order"]),
                ("please do not turn off the lights", &["turn off the lights"]),
                ("never mind the taxi", &["taxi"]),
                ("I don't want to cancel order 5", &["cancel order 5"]),
                ("we don't need #20031 after all", &["#20031"]),
                ("I'm allergic to nuts", &["nuts"]),
                ("neither cheese nor ham", &["cheese", "ham"]),
            ],
        );
    }

    #[test]
    fn english_that_rules_nothing_out() {
        for text in [
            "no problem",
            "why not",
            "not only cheese",
            "no later than Friday",
            "not later than Friday",
            "no more than 5",
            "no fewer than three",
            "if not, call me",
            "I'm not sure",
            "order no. 5",
            "order no 5",
            "can't wait for Friday",
            "nothing else",
            "nothing but cheese",
            "no, the large one",
            "no I want the large one",
            "never mind, large please",
            "don't forget the cheese",
            "don't skimp on the cheese",
            "not without cheese",
            "I can't find my card",
            "my delivery hasn't arrived",
            "I never received a PIN letter",
            "the magnetic strip doesn't read any more",
            "I don't recognise a charge from Zenmart",
            "take me to the airport",
            "take off at five",
            "but I want two",
            "all but",
            "",
            "no",
        ] {
            assert_eq!(ruled_out("en", text, &[]), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_title_ends_no_clause() {
        check("en", &[("without Dr. Amara Nwosu, please", &["Dr. Amara Nwosu"]), ("no onions. Thanks", &["onions"])]);
        check("de", &[("ohne Dr. Groß bitte", &["Dr. Groß"])]);
        check("es", &[("sin la Sra. Ruiz", &["Sra. Ruiz"])]);
        check("fr", &[("sans Mme. Roy", &["Mme. Roy"])]);
    }

    #[test]
    fn two_negations_keep_the_thing() {
        for text in [
            "don't leave out the cheese",
            "no need to skip the cheese",
            "please don't remove the cheese",
            "don't take the cheese off",
        ] {
            let found = all("en", text, &[]);
            assert_eq!(found.iter().map(|one| one.kind).collect::<Vec<_>>(), [NegationKind::Retention], "{text}");
        }
    }

    #[test]
    fn mentions_win() {
        for (text, mentioned, expected) in [
            ("play No Country for Old Men", &["No Country for Old Men"][..], &[][..]),
            ("what do people cook who eat no meat", &["no meat"], &[]),
            ("not The Man with No Name please", &["The Man with No Name"], &["The Man with No Name"]),
            ("no ham and two cheese sandwich", &["ham and two cheese sandwich"], &["ham and two cheese sandwich"]),
            ("anything but the fish and chips and a coke", &["fish and chips"], &["fish and chips"]),
        ] {
            assert_eq!(ruled_out("en", text, mentioned), expected, "{text}");
        }
    }

    #[test]
    fn german() {
        check(
            "de",
            &[
                ("eine Pizza ohne Zwiebeln", &["Zwiebeln"]),
                ("keine Zwiebeln und eine große Cola", &["Zwiebeln"]),
                ("ohne Zwiebeln und Gurken bitte", &["Zwiebeln und Gurken"]),
                ("nicht am Dienstag", &["Dienstag"]),
                ("alles außer Dienstag", &["Dienstag"]),
                ("Salat statt Pommes", &["Pommes"]),
                ("lass die Zwiebeln weg", &["Zwiebeln"]),
                ("die Zwiebeln bitte weglassen", &["Zwiebeln"]),
                ("storniere meine Bestellung nicht", &["storniere meine Bestellung"]),
                ("mach das Licht nicht aus", &["mach das Licht"]),
                ("kein Problem", &[]),
                ("nicht nur Käse", &[]),
                ("vergiss den Käse nicht", &[]),
                ("nicht später als Freitag", &[]),
                ("eine Pizza mit Käse", &[]),
            ],
        );
    }

    #[test]
    fn spanish() {
        check(
            "es",
            &[
                ("una pizza sin cebolla", &["cebolla"]),
                ("sin cebolla y con queso", &["cebolla"]),
                ("sin cebolla ni tomate", &["cebolla", "tomate"]),
                ("cualquier día menos el martes", &["martes"]),
                ("todo excepto pescado", &["pescado"]),
                ("ensalada en vez de patatas", &["patatas"]),
                ("quita las patatas", &["patatas"]),
                ("no quiero cebolla", &["cebolla"]),
                ("no canceles mi pedido", &["canceles mi pedido"]),
                ("no hay problema", &[]),
                ("no más de cinco", &[]),
                ("no, la grande", &[]),
                ("no olvides el queso", &[]),
                ("una pizza con queso", &[]),
            ],
        );
    }

    #[test]
    fn french() {
        check(
            "fr",
            &[
                ("une pizza sans oignons", &["oignons"]),
                ("sans oignons et avec du fromage", &["oignons"]),
                ("sans oignons ni tomates", &["oignons", "tomates"]),
                ("tout sauf mardi", &["mardi"]),
                ("pas de sauce s'il vous plaît", &["sauce"]),
                ("une salade au lieu de frites", &["frites"]),
                ("enlève les frites", &["frites"]),
                ("je ne veux pas d'oignons", &["oignons"]),
                ("n'annule pas ma commande", &["annule pas ma commande"]),
                ("pas de problème", &[]),
                ("pourquoi pas", &[]),
                ("n'oublie pas le fromage", &[]),
                ("une pizza avec du fromage", &[]),
            ],
        );
    }

    #[test]
    fn japanese() {
        check(
            "ja",
            &[
                ("ネギ抜きでお願いします", &["ネギ"]),
                ("ラーメンを玉ねぎなしで", &["玉ねぎ"]),
                ("火曜日以外", &["火曜日"]),
                ("砂糖はいらない", &["砂糖"]),
                ("注文をキャンセルしないで", &["注文をキャンセル"]),
                ("問題なし", &[]),
                ("ラーメンを二つください", &[]),
            ],
        );
    }

    #[test]
    fn a_language_without_a_table_has_none() {
        assert_eq!(ruled_out("fi", "ei sipulia, no onions", &[]), Vec::<String>::new());
    }

    fn cue_words() -> impl Strategy<Value = String> {
        let words = prop::sample::select(vec![
            "no",
            "not",
            "without",
            "don't",
            "remove",
            "take",
            "off",
            "but",
            "any",
            "and",
            "or",
            ",",
            ".",
            "the",
            "a",
            "onions",
            "two",
            "2",
            "never",
            "leave out",
            "skip",
            "on",
            "ohne",
            "nicht",
            "なし",
            "以外",
            "pas de",
            "-",
            "'",
        ]);
        prop::collection::vec(words, 0..14).prop_map(|words| words.join(" "))
    }

    proptest! {
        #[test]
        fn spans_lie_in_the_text_and_apart(
            text in prop_oneof![cue_words(), "\\PC{0,60}"],
            language in prop::sample::select(vec!["en", "de", "es", "fr", "ja"]),
        ) {
            let utterance = Utterance::new(&text);
            let mut before = 0;
            for found in find(&utterance, language, &[]) {
                prop_assert!(!found.cue.is_empty() && !found.scope.is_empty(), "{text} {found:?}");
                prop_assert!(!found.cue.overlaps(found.scope), "{text} {found:?}");
                prop_assert!(found.cue.end.max(found.scope.end) <= utterance.len(), "{text} {found:?}");
                prop_assert!(found.cue.start.min(found.scope.start) >= before, "{text} {found:?}");
                before = found.cue.end.max(found.scope.end);
            }
        }

        #[test]
        fn a_sentence_without_cues_has_none(text in "(pizza|cheese|two|and|the|with|large|seattle|,| ){0,20}") {
            prop_assert!(ruled_out("en", &text, &[]).is_empty());
        }
    }
}
