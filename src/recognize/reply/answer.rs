//! The answer at the beginning of a reply.

use crate::{
    ablation,
    language::replies::{Replies, ReplyRole},
    recognize::{
        certainty::Certainty,
        reply::{YesNo, question::Question},
    },
    text::words::Word,
};

/// "Yes", "no", "either".
const SAID: Certainty = Certainty::Evident;
/// "Fine", "I do".
const WEAK: Certainty = Certainty::Clear;
/// A "yes" or "no" with "I guess" beside it.
const HEDGED: Certainty = Certainty::Sure;
/// The question's subject is wanted or refused.
const NAMED: Certainty = Certainty::Sure;
/// The other answer was said before, but taken back.
const CORRECTED: Certainty = Certainty::Sure;
/// "Yes, whatever": less than a yes needs.
const RELUCTANT: Certainty = Certainty::Likely;
/// The other answer was said before.
const CONTRADICTED: Certainty = Certainty::Guessed;

/// An answer, as it was said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerReading {
    pub(crate) answer: YesNo,
    pub(crate) certainty: Certainty,
    /// Only words like "fine" say it.
    pub(crate) is_weak: bool,
    /// "Yes" or "no" itself, or a similar word, says it.
    pub(crate) is_literal: bool,
    /// "I do" (true) or "I don't" was said.
    pub(crate) does: Option<bool>,
}

#[derive(Debug)]
pub(crate) struct LeadingAnswer {
    /// `None` if the reply does not begin with an answer.
    pub(crate) said: Option<AnswerReading>,
    /// The index of the first word behind the answer.
    pub(crate) end: usize,
    /// The question was left open: "I don't know".
    pub(crate) is_open: bool,
}

struct Parser<'a> {
    replies: &'a Replies,
    question: &'a Question,
    words: &'a [Word],
    answer: LeadingAnswer,
    /// "Not" was said; the word that it negates follows.
    negated: bool,
    hedged: bool,
    corrected: bool,
}

impl LeadingAnswer {
    pub(crate) fn read(replies: &Replies, question: &Question, words: &[Word]) -> Self {
        let answer = Self { said: None, end: 0, is_open: false };
        let mut parser = Parser { replies, question, words, answer, negated: false, hedged: false, corrected: false };
        let mut at = 0;
        while let Some(next) = parser.step(at) {
            at = next;
        }
        let is_hedged = parser.answer.said.is_none() && parser.hedged && at >= words.len() && !parser.answer.is_open;
        if ablation::holds("reply.hedged_yes", is_hedged) {
            parser.say(YesNo::Affirmative, Certainty::Likely, true, at);
        }
        let is_plea = |word: &Word| replies.pleas.contains(&word.text);
        if parser.answer.said.is_none() && at >= words.len() && !parser.answer.is_open && words.iter().any(is_plea) {
            parser.say(YesNo::Affirmative, WEAK, true, at);
        }
        parser.answer
    }
}

impl Parser<'_> {
    /// Reads the phrase at `at`. Returns where the next one begins, or `None` if the answer is over.
    fn step(&mut self, at: usize) -> Option<usize> {
        let (role, length) = self.replies.phrase(self.words, at)?;
        let next = at + length;
        match role {
            ReplyRole::Yes => self.yes(at, next, false),
            ReplyRole::HedgedYes if self.goes_on(next) => {
                self.hedged = true;
                self.yes(at, next, true);
            }
            ReplyRole::WeakYes if self.goes_on(next) => self.yes(at, next, true),
            ReplyRole::No => self.no(at, next),
            ReplyRole::WeakNo if self.goes_on(next) => self.no(at, next),
            ReplyRole::WeakNo => return self.refused(next),
            // "I'm good"
            ReplyRole::Enough if self.question.offers => self.say(YesNo::Negative, WEAK, false, next),
            ReplyRole::Enough => self.say(YesNo::Affirmative, Certainty::Even, true, next),
            ReplyRole::Either => self.either(next),
            ReplyRole::Unsure => {
                self.answer.is_open = true;
                self.pass(next);
            }
            ReplyRole::Not if self.closes(next) => self.say(YesNo::Negative, WEAK, true, next),
            ReplyRole::Not if self.is_yes(next) => self.negated = true,
            ReplyRole::Not => return self.refused(next),
            ReplyRole::Hedge => {
                self.hedged = true;
                self.pass(next);
            }
            ReplyRole::Correction => {
                self.corrected = self.answer.said.is_some();
                self.pass(next);
            }
            ReplyRole::Filler => self.pass(next),
            ReplyRole::Subject => {
                let (does, length) = self.replies.phrase(self.words, next)?;
                return match does {
                    ReplyRole::Does => self.does(next + length, true),
                    ReplyRole::DoesNot => self.does(next + length, false),
                    _ => None,
                };
            }
            ReplyRole::DoesNot => return self.does(next, false),
            ReplyRole::Wants | ReplyRole::Refuses => return self.named(next, role == ReplyRole::Wants),
            // Behind an answer, a conjunction begins something else.
            ReplyRole::Joint if self.answer.said.is_some() => return None,
            ReplyRole::Joint => {}
            ReplyRole::WeakYes
            | ReplyRole::HedgedYes
            | ReplyRole::Does
            | ReplyRole::Opening
            | ReplyRole::Asks
            | ReplyRole::Other
            | ReplyRole::Common => {
                return None;
            }
        }
        Some(next)
    }

    fn role(&self, at: usize) -> Option<ReplyRole> {
        self.replies.phrase(self.words, at).map(|(role, _)| role)
    }

    /// True if nothing more belongs to the text before `at`.
    fn closes(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|token| token.is_apart)
            || matches!(
                self.role(at),
                Some(ReplyRole::Joint | ReplyRole::Filler | ReplyRole::Correction | ReplyRole::Either)
            )
    }

    /// An answer may end before `at`, or go on there.
    fn goes_on(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|token| token.is_apart)
            || self.role(at).is_some_and(|role| !matches!(role, ReplyRole::Common | ReplyRole::Other))
    }

    fn is_yes(&self, at: usize) -> bool {
        matches!(self.role(at), Some(ReplyRole::Yes | ReplyRole::WeakYes | ReplyRole::HedgedYes))
    }

    /// An empty word belongs to the answer before it.
    const fn pass(&mut self, next: usize) {
        if self.answer.said.is_some() {
            self.answer.end = next;
        }
    }

    fn yes(&mut self, at: usize, next: usize, is_weak: bool) {
        if std::mem::take(&mut self.negated) {
            return self.say(YesNo::Negative, WEAK, true, next);
        }
        // "No, that's fine" is still a refusal.
        let declined = self.answer.said.is_some_and(|said| said.answer == YesNo::Negative);
        if ablation::holds("reply.declined_politely", declined && is_weak && !self.corrected) {
            return self.pass(next);
        }
        // "Absolutely not"
        let is_denied = self.role(next) == Some(ReplyRole::Not) && !self.words[next].is_apart && self.closes(next + 1);
        if ablation::holds("reply.absolutely_not", is_denied) {
            return;
        }
        let certainty = if is_weak { WEAK } else { SAID };
        self.say(YesNo::Affirmative, certainty, is_weak, next);
        if let Some(said) = &mut self.answer.said {
            said.is_literal |= !is_weak && next == at + 1;
        }
    }

    fn no(&mut self, at: usize, next: usize) {
        // "Cancel it", if that was the question.
        if ablation::holds("reply.no_of_question", self.question.has(&self.words[at].text)) {
            // "No, don't cancel"
            if self.answer.said.is_some_and(|said| said.answer == YesNo::Negative) && !self.corrected {
                return self.pass(next);
            }
            return self.say(YesNo::Affirmative, NAMED, true, next);
        }
        self.say(YesNo::Negative, SAID, false, next);
        if let Some(said) = &mut self.answer.said {
            said.is_literal |= next == at + 1;
        }
    }

    fn either(&mut self, next: usize) {
        match &mut self.answer.said {
            Some(said) if said.answer == YesNo::Affirmative => {
                said.certainty = said.certainty.min(RELUCTANT);
                self.answer.end = next;
            }
            _ => {
                self.answer.said = None;
                self.say(YesNo::Indifferent, SAID, false, next);
            }
        }
    }

    /// "I do", "it isn't", and sentences that begin with these: "that is not right".
    fn does(&mut self, mut at: usize, does: bool) -> Option<usize> {
        while self.role(at) == Some(ReplyRole::Filler) && !self.closes_sentence(at) {
            at += 1;
        }
        let is_not = self.role(at) == Some(ReplyRole::Not);
        let at = if is_not { at + 1 } else { at };
        let does = does != is_not;
        if self.closes(at) {
            let answer = if does { YesNo::Affirmative } else { YesNo::Negative };
            self.say(answer, WEAK, false, at);
            if let Some(said) = &mut self.answer.said {
                said.does = Some(does);
            }
            return Some(at);
        }
        match self.role(at) {
            Some(ReplyRole::Yes | ReplyRole::WeakYes | ReplyRole::HedgedYes) => {
                self.negated = !does;
                Some(at)
            }
            Some(ReplyRole::No | ReplyRole::WeakNo | ReplyRole::Not) if does => Some(at),
            _ => {
                let end = self.named(at, does)?;
                if let Some(said) = &mut self.answer.said {
                    said.does = Some(does);
                }
                Some(end)
            }
        }
    }

    fn closes_sentence(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|token| token.is_apart)
    }

    /// A refused thing: an answer if the question is about exactly that.
    fn refused(&mut self, at: usize) -> Option<usize> {
        self.named(at, false)
    }

    /// A wanted or refused thing, up to where something else begins.
    fn named(&mut self, at: usize, wants: bool) -> Option<usize> {
        let mut end = at;
        let mut names = false;
        while let Some(token) = self.words.get(end) {
            let is_over = end > at && token.is_apart || matches!(self.role(end), Some(ReplyRole::Joint));
            if is_over {
                break;
            }
            if !self.replies.is_common(&token.text) {
                if !self.question.has(&token.text) {
                    return None;
                }
                names = true;
            }
            end += 1;
        }
        // Naming one of two choices is not a yes.
        if ablation::holds("reply.choice", names && self.question.is_choice) {
            return None;
        }
        // Naming the thing that a negative statement denies contradicts the statement.
        let agrees = wants != (names && self.question.is_negative_statement);
        let answer = if agrees { YesNo::Affirmative } else { YesNo::Negative };
        self.say(answer, NAMED, false, end);
        Some(end)
    }

    fn say(&mut self, answer: YesNo, certainty: Certainty, is_weak: bool, end: usize) {
        let mut certainty = if self.hedged { certainty.min(HEDGED) } else { certainty };
        let mut said = AnswerReading { answer, certainty, is_weak, is_literal: false, does: None };
        if let Some(before) = self.answer.said {
            if before.answer == answer {
                certainty = certainty.max(before.certainty);
                said.is_weak &= before.is_weak;
                said.is_literal = before.is_literal;
                said.does = before.does;
            } else {
                certainty = certainty.min(if self.corrected { CORRECTED } else { CONTRADICTED });
            }
            said.certainty = certainty;
        }
        self.negated = false;
        self.answer.said = Some(said);
        self.answer.end = end;
    }
}
