//! What words have to do with answering a yes-or-no question, as data: one table per language, read by one grammar.
//!
//! To add a language: a file with one table, and a line in [`Lexicon::of`].

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use crate::recognize::reply::{Token, tokens};

mod de;
mod en;
mod es;
mod fr;
mod ja;

/// The part that a word or phrase has in an answer. A phrase has one; of several that begin alike, the longest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Says yes, whatever follows.
    Yes,
    /// Says yes where the answer ends there or goes on as answers do: "fine", but not "fine dining".
    WeakYes,
    No,
    WeakNo,
    /// Declines what is offered ("I'm good"); otherwise says that all is well.
    Enough,
    /// Says that either is fine.
    Either,
    /// Leaves the question open: "I don't know".
    Unsure,
    /// Turns the next yes around, and refuses what is named behind it: "not".
    Not,
    /// Makes what is said less certain: "I guess".
    Hedge,
    /// Takes back what was said before: "wait, no".
    Correction,
    /// Says nothing of its own: "well", "please", "that is".
    Filler,
    /// "I" of "I do".
    Subject,
    /// "do" of "I do".
    Does,
    /// "don't" of "I don't".
    DoesNot,
    /// Wants what is named behind it: "I'd like".
    Wants,
    /// Refuses what is named behind it: "I don't want".
    Refuses,
    /// Something else may begin here, and an answer before it stays an answer: "but", "and", "make".
    Joint,
    /// The same, and belongs to what begins.
    Opening,
    /// Asks something: "where".
    Asks,
    /// Wants something other than what was asked about: "instead".
    Other,
    /// Says nothing of what a question is about: "the".
    Common,
}

/// How questions are told apart in one language; all folded.
#[derive(Debug, Default)]
pub(crate) struct Manner {
    /// Between the two things that a question lets one choose from.
    pub(crate) or: &'static [&'static str],
    /// In a question that offers something.
    pub(crate) offers: &'static [&'static str],
    /// In a question whose yes refuses: "do you mind".
    pub(crate) minds: &'static [&'static str],
    /// At the beginning of a question that is negative in form only: "don't you".
    pub(crate) inverted: &'static [&'static str],
    /// Words that make a statement negative, beside those that turn a yes around.
    pub(crate) denials: &'static [&'static str],
    /// Alone, they say yes: "please".
    pub(crate) pleas: &'static [&'static str],
}

/// One line of a language's table: words and phrases, apart by `|`, and their role.
pub(crate) type Line = (&'static str, Role);

/// The table of one language.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    phrases: HashMap<String, Vec<(Vec<String>, Role)>>,
    /// The words of answers, to which misspelt ones are compared.
    answers: Vec<String>,
    words: HashSet<String>,
    /// Words that say nothing of what is talked about.
    common: HashSet<String>,
    pub(crate) manner: Manner,
}

/// Signs that answer in every language.
const SIGNS: &[Line] = &[
    ("👍|👌|✅|✔|✓|☑|🆗|🙆|💯|🙌|👏", Role::Yes),
    ("👎|❌|✖|✗|🙅|🚫|⛔", Role::No),
    ("🤷", Role::Either),
    ("🙂|😀|😃|😄|😁|😊|🙏|❤", Role::Filler),
];

impl Lexicon {
    /// Of a BCP 47 tag; English for a language without a table.
    pub(crate) fn of(tag: &str) -> &'static Self {
        static TABLES: LazyLock<HashMap<&'static str, Lexicon>> = LazyLock::new(|| {
            [
                ("en", Lexicon::new(en::WORDS, en::MANNER)),
                ("de", Lexicon::new(de::WORDS, de::MANNER)),
                ("es", Lexicon::new(es::WORDS, es::MANNER)),
                ("fr", Lexicon::new(fr::WORDS, fr::MANNER)),
                ("ja", Lexicon::new(ja::WORDS, ja::MANNER)),
            ]
            .into()
        });
        let language = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        TABLES.get(language.as_str()).unwrap_or_else(|| &TABLES["en"])
    }

    fn new(table: &[Line], manner: Manner) -> Self {
        let mut lexicon = Self { manner, ..Self::default() };
        for (words, role) in SIGNS.iter().chain(table) {
            for phrase in words.split('|') {
                let mut words = tokens(phrase).into_iter().map(|token| token.word);
                let Some(first) = words.next() else { continue };
                let rest: Vec<String> = words.collect();
                match role {
                    Role::Yes | Role::No | Role::WeakYes | Role::WeakNo | Role::Either => {
                        lexicon.answers.extend(std::iter::once(&first).chain(&rest).cloned());
                    }
                    Role::Opening | Role::Other | Role::Asks | Role::Unsure | Role::Correction | Role::Enough => {}
                    _ if rest.is_empty() => {
                        lexicon.common.insert(first.clone());
                    }
                    _ => {}
                }
                lexicon.words.insert(first.clone());
                lexicon.words.extend(rest.iter().cloned());
                lexicon.phrases.entry(first).or_default().push((rest, *role));
            }
        }
        // The longest first; of equals, as the table has them.
        lexicon.answers.sort_unstable();
        lexicon.answers.dedup();
        lexicon.phrases.values_mut().for_each(|all| all.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len())));
        lexicon
    }

    /// The longest phrase that begins at `at`, and its length in words.
    pub(crate) fn phrase(&self, tokens: &[Token], at: usize) -> Option<(Role, usize)> {
        let all = self.phrases.get(&tokens.get(at)?.word)?;
        let behind = &tokens[at + 1..];
        let fits = |rest: &[String]| {
            rest.len() <= behind.len()
                && rest.iter().zip(behind).all(|(word, token)| *word == token.word)
                // "No, wait" is not "no wait".
                && behind[..rest.len()].iter().all(|token| !token.is_apart)
        };
        all.iter().find(|(rest, _)| fits(rest)).map(|(rest, role)| (*role, rest.len() + 1))
    }

    /// True for a word that says nothing of what is talked about.
    pub(crate) fn is_common(&self, word: &str) -> bool {
        self.common.contains(word)
    }

    /// True for a word that makes a statement negative.
    pub(crate) fn denies(&self, word: &str) -> bool {
        let mut alone = self.phrases.get(word).into_iter().flatten().filter(|(rest, _)| rest.is_empty());
        self.manner.denials.contains(&word) || alone.any(|(_, role)| matches!(role, Role::Not | Role::DoesNot))
    }

    /// The word of an answer that this one may be a misspelling of: letters drawn out ("yesss"), or one edit from 6
    /// letters on, two from 9. Shorter words are too near to one another ("gold" and "good").
    pub(crate) fn meant_by(&self, word: &str) -> Option<&str> {
        if self.words.contains(word) {
            return None;
        }
        let (drawn, letters) = (squashed(word), word.chars().count());
        if drawn.len() < word.len()
            && let Some(answer) = self.answers.iter().find(|answer| squashed(answer) == drawn)
        {
            return Some(answer);
        }
        let near = |answer: &&String| {
            let length = answer.chars().count();
            let edits = usize::from(length >= 6) + usize::from(length >= 9);
            edits > 0
                && length.abs_diff(letters) <= edits
                && answer.chars().next() == word.chars().next()
                && strsim::damerau_levenshtein(answer, word) <= edits
        };
        self.answers.iter().find(near).map(String::as_str)
    }
}

/// Each run of one letter as one.
fn squashed(word: &str) -> String {
    let mut squashed = String::with_capacity(word.len());
    for character in word.chars() {
        if !squashed.ends_with(character) {
            squashed.push(character);
        }
    }
    squashed
}
