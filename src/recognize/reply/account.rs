//! What explains each word of an answer to "is that right?".
//!
//! Consent is an answer that says nothing else. So a word is explained only if it agrees, is a function word or
//! politeness, or was read out in the question. Words that stop, wait, doubt, set a condition, deny, ask or name
//! anything else are not explained by any of these, and need not be listed.

use crate::{
    language::{
        Language,
        courtesy::Courtesies,
        replies::{Replies, ReplyRole},
    },
    text::{
        Span,
        script::{is_han, is_katakana, is_unspaced},
        words::{Word, words},
    },
};

/// The most words of an answer that may be only a yes.
const MOST_WORDS: usize = 40;
/// Characters between words that say nothing.
const MARKS: &str = ".,!;:…'\"’‘“”„«»()[]¡¿~〜～、。！，・：；\u{200d}\u{fe0e}\u{fe0f}";
const DASHES: &str = "-–—";

/// What was read out, and the words of the request.
#[derive(Debug, Default)]
pub(crate) struct ReadOut {
    /// The question and the values, as texts and as words.
    texts: Vec<(String, Vec<String>)>,
    /// Words for the call that will be made: "transfer", "cancel".
    named: Vec<String>,
    /// Further words of the person's request: "send".
    asked_with: Vec<String>,
}

impl ReadOut {
    /// `texts` are the question and the values that it reads out.
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let text = |text: &str| (text.to_lowercase(), texts_of(text));
        Self { texts: texts.into_iter().map(text).collect(), ..Self::default() }
    }

    /// `named` are words for the call that will be made, `asked_with` are further words of the person's request.
    pub(crate) fn with_words(self, named: Vec<String>, asked_with: Vec<String>) -> Self {
        Self { named, asked_with, ..self }
    }

    /// How many words of `said`, from the first on, stand side by side in what was read out.
    fn run(&self, said: &[Word]) -> usize {
        let alike = |text: &[String]| {
            let all = text.iter().zip(said).enumerate();
            let same =
                |(at, (one, word)): &(usize, (&String, &Word))| **one == word.text && (*at == 0 || !word.is_apart);
            all.take_while(same).count()
        };
        let starts = self.texts.iter().flat_map(|(_, text)| (0..text.len()).map(move |start| &text[start..]));
        let longest = starts.map(alike).max().unwrap_or_default();
        // A single character of a script without spaces is only part of a word.
        let is_part = |word: &Word| {
            word.text.chars().count() == 1
                && word.text.chars().any(|sign| is_unspaced(sign) && !is_katakana(sign) || is_han(sign))
        };
        if longest == 1 && said.first().is_some_and(is_part) { 0 } else { longest }
    }

    /// True of a form of a word for the call that will be made.
    fn is_named(&self, word: &str) -> bool {
        self.named.iter().any(|known| is_form_of(known, word))
    }

    fn is_verb(&self, word: &str) -> bool {
        self.is_named(word) || self.asked_with.iter().any(|known| is_form_of(known, word))
    }

    /// True if the sign stands beside the same words in what was read out.
    fn has_sign(&self, sign: char, before: &str, behind: &str) -> bool {
        let (with_before, with_behind) = (format!("{before}{sign}"), format!("{sign}{behind}"));
        let has = |text: &str| {
            !before.is_empty() && text.contains(&with_before) || !behind.is_empty() && text.contains(&with_behind)
        };
        self.texts.iter().any(|(text, _)| has(text))
    }
}

fn texts_of(text: &str) -> Vec<String> {
    words(text, false).into_iter().map(|word| word.text).collect()
}

/// With this many letters, the beginning of a word is enough: "cancelling" for "cancel".
const STEM: usize = 4;

fn is_form_of(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let is_word = || short.chars().count() >= STEM && short.chars().all(char::is_alphabetic);
    short == long || is_word() && long.starts_with(short)
}

/// The roles of an answer's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// A word agrees.
    pub agrees: bool,
    /// A word says no.
    pub refuses: bool,
    /// A word negates the words beside it: "not".
    pub negates: bool,
    /// A word waits, doubts, corrects, sets a condition or asks, or there is a question mark.
    pub unsettles: bool,
    /// A word was read out.
    pub names: bool,
    /// Words and signs that are not explained.
    pub left: Vec<Span>,
}

impl Account {
    /// True of an answer that agrees and says nothing against that, apart from the words that are left.
    pub(crate) fn may_agree(&self) -> bool {
        self.agrees && !self.refuses && !self.negates && !self.unsettles
    }

    /// "Yes, no": it is not clear which is meant.
    pub(crate) fn is_contradictory(&self) -> bool {
        self.agrees && self.refuses && !self.negates
    }
}

/// Explains the words of `reply` in the language of a BCP 47 tag (English if there is no table for it). A reply that
/// neither agrees nor refuses in that language is read in the others, and a reading that explains all words counts:
/// "ja, stimmt alles" to an English question. Linear in the length of the reply: a reply of more than [`MOST_WORDS`]
/// words does not agree.
#[must_use]
pub(crate) fn account(language: &str, read_out: &ReadOut, reply: &str) -> Account {
    let own = Language::or_english(language);
    let found = account_in(own, read_out, reply, true);
    if found.agrees || found.refuses || found.negates || found.unsettles || found.names {
        return found;
    }
    let is_yes = |one: &Account| one.may_agree() && one.left.is_empty();
    own.others().map(|other| account_in(other, read_out, reply, false)).find(is_yes).unwrap_or(found)
}

/// `respells` replaces a misspelt word by the nearest word of the language.
fn account_in(language: &'static Language, read_out: &ReadOut, reply: &str, respells: bool) -> Account {
    let replies = &language.replies;
    let mut words = words(reply, false);
    let mut found = Account::default();
    if words.len() > MOST_WORDS {
        found.left.push(Span::new(0, reply.chars().count()));
        return found;
    }
    for at in 0..words.len() {
        // "Bof" is not a misspelt "bon".
        let is_known = Courtesies::all().begins_with(&words[at].text);
        let respells = respells && !is_known && read_out.run(&words[at..]) == 0;
        let meant = replies.meant_by(&words[at].text).filter(|_| respells);
        if let Some(meant) = meant.map(str::to_owned) {
            words[at].text = meant;
        }
    }
    let reader = AccountReader { replies, read_out, words: &words };
    let mut at = 0;
    while at < words.len() {
        at += reader.step(at, &mut found);
    }
    found.unsettles |= words.iter().any(|word| word.asked.is_some());
    reader.signs(reply, &mut found);
    found
}

struct AccountReader<'a> {
    replies: &'a Replies,
    read_out: &'a ReadOut,
    words: &'a [Word],
}

impl AccountReader<'_> {
    /// Explains what begins at `at`, and returns how many words that is.
    fn step(&self, at: usize, found: &mut Account) -> usize {
        let (role, length) = self.replies.phrase(self.words, at).unzip();
        let (length, glue) = (length.unwrap_or_default(), self.replies.glue(self.words, at));
        let known = self.read_out.run(&self.words[at..]);
        if known > length.max(glue).max(1) {
            return self.name(at, known, found);
        }
        match role {
            Some(ReplyRole::Yes | ReplyRole::WeakYes) if length >= glue => {
                found.agrees = true;
                return length;
            }
            Some(ReplyRole::No | ReplyRole::WeakNo) if self.is_named(at, length) => {
                found.names = true;
                return length;
            }
            Some(ReplyRole::No | ReplyRole::WeakNo) => {
                found.refuses = true;
                return length;
            }
            Some(ReplyRole::Not | ReplyRole::DoesNot | ReplyRole::Refuses) => {
                found.negates = true;
                return length;
            }
            Some(
                ReplyRole::Either
                | ReplyRole::Unsure
                | ReplyRole::HedgedYes
                | ReplyRole::Hedge
                | ReplyRole::Correction
                | ReplyRole::Asks
                | ReplyRole::Other,
            ) => {
                found.unsettles = true;
                return length;
            }
            Some(ReplyRole::Joint) if length > glue => {
                found.unsettles = true;
                return length;
            }
            Some(ReplyRole::Enough) if length > glue => return length,
            _ => {}
        }
        if glue > 0 {
            return glue;
        }
        if known > 0 || self.read_out.is_verb(&self.words[at].text) {
            return self.name(at, known.max(1), found);
        }
        found.left.push(self.words[at].span);
        1
    }

    /// Marks words that were read out. Two words that did not stand side by side there are not a value that was read
    /// out: "4 euros" of "50 euros on 4 May".
    fn name(&self, at: usize, length: usize, found: &mut Account) -> usize {
        let end = at + length;
        let goes_on = self.words.get(end).is_some_and(|next| {
            !next.is_apart && self.replies.glue(self.words, end) == 0 && self.replies.phrase(self.words, end).is_none()
        });
        if goes_on {
            found.left.extend(self.words[at..end].iter().map(|word| word.span));
        }
        found.names = true;
        length
    }

    /// "Cancel it", if exactly that was asked.
    fn is_named(&self, at: usize, length: usize) -> bool {
        let phrase = &self.words[at..at + length];
        let is_glue = |word: &Word| self.replies.is_glue(&word.text);
        let is_verb = |word: &Word| self.read_out.is_named(&word.text) && !self.replies.denies(&word.text);
        phrase.iter().any(is_verb) && phrase.iter().all(|word| is_verb(word) || is_glue(word))
    }

    /// Signs between words may matter: the minus of "yes, -50".
    fn signs(&self, reply: &str, found: &mut Account) {
        let characters: Vec<char> = reply.chars().collect();
        let text = |word: Option<&Word>| {
            let span = word.map_or(Span::new(0, 0), |word| word.span);
            characters.get(span.start..span.end).map(|all| all.iter().collect::<String>().to_lowercase())
        };
        let mut next = 0;
        for (at, sign) in characters.iter().copied().enumerate() {
            while self.words.get(next).is_some_and(|word| word.span.end <= at) {
                next += 1;
            }
            let is_word = self.words.get(next).is_some_and(|word| word.span.start <= at);
            let is_mark =
                || MARKS.contains(sign) || matches!(sign, '?' | '？') || matches!(sign, '\u{1f3fb}'..='\u{1f3ff}');
            let stands_before = |what: fn(char) -> bool| characters.get(at + 1).copied().is_some_and(what);
            let is_dash = || DASHES.contains(sign) && !stands_before(char::is_numeric);
            if is_word || sign.is_whitespace() || is_mark() || is_dash() {
                continue;
            }
            let before = self.words[..next].last().filter(|word| word.span.end == at);
            let behind = self.words.get(next).filter(|word| word.span.start == at + 1);
            let (before, behind) = (text(before).unwrap_or_default(), text(behind).unwrap_or_default());
            if !self.read_out.has_sign(sign, &before, &behind) {
                found.left.push(Span::new(at, at + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers to these questions: real ones that agree, and answers that say more or less than a yes.
    const YES: &str = include_str!("../../../tests/fixtures/consent/yes.tsv");
    const OPEN: &str = include_str!("../../../tests/fixtures/consent/open.tsv");

    fn read_out(language: &str) -> ReadOut {
        let question = match language {
            "de" => "Geld überweisen: Betrag 50 Euro, Empfänger Anna. Stimmt das so?",
            "es" => "Enviar dinero: importe 50 euros, destinatario Anna. ¿Es correcto?",
            "fr" => "Envoyer de l'argent : montant 50 euros, destinataire Anna. C'est bien ça ?",
            "ja" => "送金、金額 50ユーロ、受取人 Anna。よろしいですか？",
            _ => "Transfer money: amount 50, currency euros, recipient Anna. Is that right?",
        };
        let values = ["50 euros", "50 Euro", "50ユーロ", "Anna"];
        let named = vec!["transfer".to_owned(), "money".to_owned()];
        ReadOut::new(values.into_iter().chain([question])).with_words(named, vec!["send".to_owned()])
    }

    fn answers(file: &str) -> Vec<(&str, String)> {
        file.lines()
            .filter_map(|line| line.split_once('\t'))
            .map(|(language, text)| (language, text.replace("\\n", "\n")))
            .collect()
    }

    fn is_yes(language: &str, text: &str) -> bool {
        let account = account(language, &read_out(language), text);
        account.may_agree() && account.left.is_empty()
    }

    #[test]
    fn people_are_heard_who_agree() {
        let wrong: Vec<_> = answers(YES).into_iter().filter(|(language, text)| !is_yes(language, text)).collect();
        assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), answers(YES).len());
    }

    #[test]
    fn whatever_is_said_beside_a_yes_opens_the_question_again() {
        let wrong: Vec<_> = answers(OPEN).into_iter().filter(|(language, text)| is_yes(language, text)).collect();
        assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), answers(OPEN).len());
    }

    #[test]
    fn a_yes_to_cancelling_is_a_yes() {
        let cancel = ReadOut::new(["Cancel order: order number AB12. Is that right?"])
            .with_words(vec!["cancel".to_owned(), "order".to_owned()], Vec::new());
        for (text, yes) in [
            ("yes, cancel it", true),
            ("yes cancel that please", true),
            ("yes, cancel AB12", true),
            ("yes, cancel AB13", false),
            ("no, don't cancel it", false),
            ("yes, don't cancel it", false),
        ] {
            let found = account("en", &cancel, text);
            assert_eq!(found.may_agree() && found.left.is_empty(), yes, "{text}: {found:?}");
        }
    }

    #[test]
    fn a_long_answer_costs_no_more_than_a_short_one() {
        let long = "yes ".repeat(MOST_WORDS + 1);
        assert!(!account("en", &read_out("en"), &long).may_agree());
    }
}
