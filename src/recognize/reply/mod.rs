//! The answer of a reply to a yes-or-no question: yes, no, either is fine, or something else. Needs no model server.
//!
//! The answer refers to the question as it is worded. The consequences for the calling code:
//!
//! - **Another value is not an answer.** "The black one please" to "are you sure you want the white one?" is
//!   [`YesNo::Irrelevant`], not a no: the calling code looks at the rest and finds the new value there, while a no
//!   would only refuse. Repeating the subject of the question ("the white one") is a yes, "not the white one" is a no.
//! - **An answer with a change is an answer.** "Yes but make it two" is [`YesNo::Affirmative`], and [`Reply::rest`] is
//!   "make it two".
//! - **A choice is not an answer.** "Delivery" to "delivery or pickup?" is [`YesNo::Irrelevant`].
//! - **A reply that leaves the question open is not an answer.** "I don't know", "maybe": nothing is decided. Only
//!   [`YesNo::Indifferent`] lets the calling code choose.
//! - **A negative question** in form only ("don't you want cheese?") is about the cheese: "no I don't" is a no. A
//!   negative statement ("you don't want cheese?") is about the statement: "no I don't" agrees. A bare "no" to it is
//!   taken as a no, which has no effect, and with little confidence.
//! - **"Do you mind ...?"** is granted by a no: "go ahead" and "not at all" are [`YesNo::Negative`].

use crate::{
    ablation,
    language::{
        Language,
        replies::{Replies, ReplyRole},
    },
    recognize::certainty::Certainty,
    text::{
        Span,
        words::{Word, words},
    },
};

pub(crate) mod account;
mod answer;
mod question;
#[cfg(test)]
mod tests;

use answer::LeadingAnswer;
use question::Question;

/// The answer of a reply to a yes-or-no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum YesNo {
    Affirmative,
    Negative,
    /// Either is fine.
    Indifferent,
    /// Something else, which does not answer the question.
    Irrelevant,
}

impl YesNo {
    pub const ALL: [Self; 4] = [Self::Affirmative, Self::Negative, Self::Indifferent, Self::Irrelevant];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Affirmative => "Affirmative",
            Self::Negative => "Negative",
            Self::Indifferent => "Indifferent",
            Self::Irrelevant => "Irrelevant",
        }
    }
}

/// An answer, and what was said beside it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reply {
    pub answer: YesNo,
    /// Probability that the answer is right, 0 to 1.
    pub confidence: f32,
    /// What was said beside yes or no ("make it two" of "yes but make it two"); the whole reply where it is irrelevant.
    pub rest: Option<Span>,
}

impl Reply {
    /// True of a yes without anything else.
    #[must_use]
    pub fn is_bare_yes(self) -> bool {
        self.answer == YesNo::Affirmative && self.rest.is_none()
    }

    /// True of a no without anything else.
    #[must_use]
    pub fn is_bare_no(self) -> bool {
        self.answer == YesNo::Negative && self.rest.is_none()
    }

    /// True of a question in return, if it was read without the question that it answers.
    #[must_use]
    pub fn asks_back(self) -> bool {
        self.answer == YesNo::Irrelevant && self.confidence > LEFT_OPEN.score()
    }

    /// True of a reply that leaves the question open ("I don't know"), and of a question in return: they contain no
    /// value. Any other irrelevant reply is irrelevant only because it contains no answer.
    #[must_use]
    pub fn leaves_open(self) -> bool {
        self.answer == YesNo::Irrelevant && self.confidence >= LEFT_OPEN.score()
    }
}

/// "I don't know". A question in return is surer, and so is a choice if the question offers one.
const LEFT_OPEN: Certainty = Certainty::Usual;
/// The reply contains no answer. It may answer another question, so it is less sure than a reply that leaves the
/// question open.
const SOMETHING_ELSE: Certainty = Certainty::Likely;
/// The factor for the confidence if a letter or two are not as usual.
const MISSPELT: Certainty = Certainty::Evident;

/// Reads `reply` as an answer to `question`, in the language of a BCP 47 tag (English if there is no table for it); a
/// yes or no by itself may be in any. Linear in the length of the reply, never fails.
#[must_use]
pub fn read(language: &str, question: Option<&str>, reply: &str) -> Reply {
    let own = Language::or_english(language);
    let read = read_in(own, &Question::new(&own.replies, question.unwrap_or_default()), reply, true);
    if read.answer != YesNo::Irrelevant {
        return read;
    }
    let is_bare = |read: &Reply| read.is_bare_yes() || read.is_bare_no();
    // The question is in the module's language: a repeated word of it does not agree in another language.
    let in_other = |other: &'static Language| read_in(other, &Question::new(&other.replies, ""), reply, false);
    let other = own.others().map(in_other).find(is_bare);
    ablation::found("reply.other_language", other).unwrap_or(read)
}

/// True of a reply that declines an offer and says nothing else: a no, and "that's all", which says neither yes nor no to
/// another question.
#[must_use]
pub fn declines_offer(language: &str, reply: &str) -> bool {
    let own = Language::or_english(language);
    read_in(own, &Question::offer(&own.replies), reply, true).is_bare_no()
}

/// `respells` replaces a misspelt word by the nearest word of the language.
fn read_in(language: &'static Language, question: &Question, reply: &str, respells: bool) -> Reply {
    let replies = &language.replies;
    let mut words = words(reply, false);
    let mut misspelt = false;
    for word in &mut words {
        if respells
            && !question.has(&word.text)
            && let Some(meant) = ablation::found("reply.misspelt", replies.meant_by(&word.text))
        {
            meant.clone_into(&mut word.text);
            misspelt = true;
        }
    }
    let mut read = ReplyReader { replies, question, words: &words }.reply();
    if misspelt {
        read.confidence *= MISSPELT.score();
    }
    read
}

/// True for a word that is empty in answers: "the", "please", "it".
#[must_use]
pub fn says_nothing(language: &str, word: &str) -> bool {
    let replies = &Language::or_english(language).replies;
    words(word, false).iter().all(|word| replies.is_common(&word.text))
}

fn reply(answer: YesNo, certainty: Certainty, rest: Option<Span>) -> Reply {
    Reply { answer, confidence: certainty.score(), rest }
}

struct ReplyReader<'a> {
    replies: &'static Replies,
    question: &'a Question,
    words: &'a [Word],
}

impl ReplyReader<'_> {
    fn reply(&self) -> Reply {
        let answer = LeadingAnswer::read(self.replies, self.question, self.words);
        match answer.said {
            Some(said) => self.settled(said, &answer),
            None => self.unsettled(answer.is_open),
        }
    }

    /// The reply begins with an answer.
    fn settled(&self, said: answer::AnswerReading, answer: &LeadingAnswer) -> Reply {
        let rest = self.rest(answer.end..self.words.len());
        let (mut meant, mut certainty) = (said.answer, said.certainty);
        let starts_asking = matches!(self.replies.phrase(self.words, answer.end), Some((ReplyRole::Asks, _)));
        let asks_back =
            rest.is_some() && (starts_asking || self.words[answer.end..].iter().any(|token| token.asked.is_some()));
        if ablation::holds("reply.weak_asks_back", asks_back && said.is_weak) {
            // "Sure" and a question: the question was merely heard.
            return reply(YesNo::Irrelevant, Certainty::Guessed, self.rest(0..self.words.len()));
        }
        if ablation::holds("reply.minds", self.question.minds) {
            match meant {
                YesNo::Affirmative if said.does.is_some() => {}
                // "Yes" may mean "yes, do".
                YesNo::Affirmative if said.is_literal => certainty = Certainty::Even,
                YesNo::Affirmative | YesNo::Indifferent => {
                    (meant, certainty) = (YesNo::Negative, Certainty::Likely);
                }
                YesNo::Negative | YesNo::Irrelevant => {}
            }
        } else if ablation::holds("reply.negative_statement", self.question.is_negative_statement) {
            match (said.does, meant) {
                (Some(false), _) => (meant, certainty) = (YesNo::Affirmative, Certainty::Usual),
                (Some(true), _) => (meant, certainty) = (YesNo::Negative, Certainty::Usual),
                // "No" may agree with it.
                (None, YesNo::Affirmative | YesNo::Negative) if said.is_literal => certainty = Certainty::Even,
                (None, _) => {}
            }
        }
        reply(meant, certainty, rest)
    }

    /// The reply does not begin with an answer.
    fn unsettled(&self, is_open: bool) -> Reply {
        let all = self.rest(0..self.words.len());
        let irrelevant = |certainty| reply(YesNo::Irrelevant, certainty, all);
        if let Some(reply) = ablation::found("reply.at_the_end", self.at_the_end()) {
            return reply;
        }
        if is_open {
            return irrelevant(LEFT_OPEN);
        }
        let phrases = || (0..self.words.len()).filter_map(|at| self.replies.phrase(self.words, at));
        let first = (0..self.words.len()).find(|at| !self.is(*at, ReplyRole::Filler)).unwrap_or_default();
        if self.words.iter().any(|token| token.asked.is_some()) || self.is(first, ReplyRole::Asks) {
            return irrelevant(Certainty::Clear);
        }
        if phrases().any(|(role, _)| role == ReplyRole::Other) {
            return irrelevant(SOMETHING_ELSE);
        }
        // The words behind "but" are not about the question.
        let joint = (1..self.words.len()).find(|at| self.is(*at, ReplyRole::Joint)).unwrap_or(self.words.len());
        let named: Vec<&Word> =
            self.words[..joint].iter().filter(|token| !self.replies.is_common(&token.text)).collect();
        let repeats = !named.is_empty() && named.iter().all(|token| self.question.has(&token.text));
        if ablation::holds("reply.repeats", repeats) {
            if self.question.is_choice {
                return irrelevant(Certainty::Sure);
            }
            let refuses = |(role, _)| {
                matches!(
                    role,
                    ReplyRole::Not | ReplyRole::DoesNot | ReplyRole::Refuses | ReplyRole::No | ReplyRole::WeakNo
                )
            };
            let answer = if phrases().any(refuses) { YesNo::Negative } else { YesNo::Affirmative };
            return reply(answer, Certainty::Usual, self.rest(joint..self.words.len()));
        }
        irrelevant(SOMETHING_ELSE)
    }

    /// An answer behind the last punctuation mark, or as the last word: "the white one, yes".
    fn at_the_end(&self) -> Option<Reply> {
        let apart = (1..self.words.len()).rev().find(|at| self.words[*at].is_apart);
        if let Some(at) = apart {
            let answer = LeadingAnswer::read(self.replies, self.question, &self.words[at..]);
            let is_whole = self.rest(at + answer.end..self.words.len()).is_none();
            if let (Some(said), true) = (answer.said, is_whole) {
                return Some(reply(said.answer, said.certainty.min(Certainty::Sure), self.rest(0..at)));
            }
        }
        let last = (1..self.words.len()).rev().find(|at| !self.is(*at, ReplyRole::Filler))?;
        let answer = match self.replies.phrase(self.words, last)? {
            (ReplyRole::Yes, _) => YesNo::Affirmative,
            (ReplyRole::No, _) => YesNo::Negative,
            _ => return None,
        };
        Some(reply(answer, Certainty::Likely, self.rest(0..last)))
    }

    fn is(&self, at: usize, role: ReplyRole) -> bool {
        self.replies.phrase(self.words, at).is_some_and(|(found, _)| found == role)
    }

    /// What these tokens say, without the words that join them to an answer and without politeness; `None` if nothing
    /// is left.
    fn rest(&self, range: std::ops::Range<usize>) -> Option<Span> {
        let says_nothing = |at: &usize| self.is(*at, ReplyRole::Joint) || self.is(*at, ReplyRole::Filler);
        let first = range.clone().find(|at| !says_nothing(at))?;
        let last = range.rev().find(|at| !self.is(*at, ReplyRole::Filler))?;
        (first <= last).then(|| Span::new(self.words[first].span.start, self.words[last].span.end))
    }
}
