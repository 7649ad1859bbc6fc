//! The meaning of an utterance's negations for one particular function.
//!
//! "Remove the fries" rules fries out of an order, but tells a function that removes things what to remove. The
//! function's own exemplars show which is meant: values behind the same kind of cue in an exemplar are not ruled out.
//! "Don't cancel my order" rules the function itself out, unless its exemplars are worded like that.

use std::cell::OnceCell;

use crate::{
    ablation,
    call::{RuledOut, SlotValue, Source, kin},
    decide::{
        phrasings::{Phrasing, WORD, words_of},
        situation::Situation,
    },
    language::{Language, facts::is_unspaced_language, negation::NegationRole},
    module::{FunctionId, RecognizerKind, Slot, SlotId, SlotKind},
    recognize::{Negation, NegationKind},
    text::{Span, fuel},
};

/// How many words behind its negation the verb of a refusal may stand; half as many before it.
const VERB_WITHIN: usize = 4;

impl Situation<'_> {
    /// The parts of the utterance that rule out what they name, if this function is meant.
    pub(crate) fn ruled_out(&self, function: FunctionId) -> Vec<RuledOut> {
        if self.negations().is_empty() {
            return Vec::new();
        }
        let definition = self.knowledge.module.function(function);
        let Phrasing { before_slot, said_for, makes_go, .. } = self.phrasing(function);
        let is_own = |kind: NegationKind| *makes_go || before_slot.contains(&kind);
        let identifiers: Vec<SlotId> =
            definition.slot_ids().filter(|id| self.is_identifier(definition.slot(*id))).collect();
        self.negations()
            .iter()
            .take_while(|_| !fuel::is_out())
            .filter(|negation| match negation.kind {
                NegationKind::Retention => false,
                NegationKind::Absence => true,
                // A function does not rule out what its own purpose is.
                NegationKind::Removal | NegationKind::Refusal => {
                    !ablation::holds("ruled_out.own_kind", is_own(negation.kind))
                }
            })
            .map(|negation| {
                let mut said_for = said_for.clone();
                if ablation::holds("ruled_out.refuses_another", self.refuses_another(function, negation)) {
                    said_for.extend(&identifiers);
                }
                RuledOut { cue: negation.cue, scope: negation.scope, said_for }
            })
            .collect()
    }

    /// "Don't cancel 4077, just move it": another function's verb is refused, and the number tells this function what
    /// to act on.
    fn refuses_another(&self, function: FunctionId, negation: &Negation) -> bool {
        let module = &self.knowledge.module;
        // The verb may stand before the negation: "n'annulez surtout pas".
        let words = self.utterance().words();
        let cue = words.partition_point(|word| word.end <= negation.cue.start.min(negation.scope.start));
        let near = &words[cue.saturating_sub(VERB_WITHIN / 2)..words.len().min(cue + VERB_WITHIN)];
        let said: Vec<String> = near.iter().flat_map(|word| words_of(&self.utterance().meant(*word))).collect();
        self.knowledge.phrasings.name_another(module, function, &said)
    }

    fn phrasing(&self, function: FunctionId) -> &Phrasing {
        self.knowledge.phrasings.of(&self.knowledge.module, &self.knowledge.recognizers, function)
    }

    /// True if the author gave a pattern for the slot.
    fn is_identifier(&self, slot: &Slot) -> bool {
        let module = &self.knowledge.module;
        slot.recognizers.iter().any(|id| matches!(module.recognizer(*id).kind, RecognizerKind::Pattern(_)))
    }

    /// Why the utterance refuses the very thing that this function does; `None` if it does not.
    pub(crate) fn refusal(&self, function: FunctionId) -> Option<String> {
        // "Nicht stornieren": the word "nicht" otherwise stands behind a verb.
        let is_adverb = |cue: Span| {
            let cue = self.utterance().folded_in(cue);
            let phrases = Language::or_english(self.knowledge.module.language()).negation.beginning_with(&cue);
            phrases.iter().any(|phrase| phrase.rest.is_empty() && phrase.meaning == NegationRole::RefusalBehind)
        };
        let refused = |negation: &&Negation| match negation.kind {
            NegationKind::Refusal | NegationKind::Retention => true,
            NegationKind::Absence => is_adverb(negation.cue),
            NegationKind::Removal => false,
        };
        let refusals: Vec<&Negation> = self.negations().iter().filter(refused).collect();
        if refusals.is_empty() {
            return None;
        }
        let definition = self.knowledge.module.function(function);
        let Phrasing { name, openings, words, kinds, makes_go: goes, .. } = self.phrasing(function);
        let speaks_so = kinds.iter().any(|kind| matches!(kind, NegationKind::Refusal | NegationKind::Retention));
        let language = self.knowledge.module.language();
        let said_of_anything = Language::of(language).map_or(&[][..], |language| &language.words.said_of_anything);
        let elsewhere: Vec<String> = self
            .utterance()
            .words()
            .iter()
            .filter(|word| !self.negations().iter().any(|one| one.cue.overlaps(**word) || one.scope.overlaps(**word)))
            .map(|word| self.utterance().folded_in(*word))
            .collect();
        let says = |word: &&String| word.chars().count() >= WORD && !said_of_anything.contains(word);
        let rest = elsewhere.iter().filter(says).count();
        let is_known = |word: &String| says(&word) && words.iter().chain(name).any(|known| kin(word, known));
        let knows_rest = OnceCell::new();
        let refused = refusals.into_iter().take_while(|_| !fuel::is_out()).find(|negation| {
            fuel::spend(elsewhere.len());
            let scope = words_of(&self.utterance().meant(negation.scope));
            let own = || name.iter().chain(openings);
            let does = |verb: &&String| match is_unspaced_language(language) {
                true => words.iter().any(|words| tail(verb).is_some_and(|tail| words.contains(tail))),
                false => own().any(|known| kin(verb, known)),
            };
            // "Auf keinen Fall 4077 stornieren" has its verb at the end.
            let Some(verb) = scope.first().filter(&does).or(scope.last().filter(&does)).or(scope.first()) else {
                return false;
            };
            let does = does(&verb);
            if negation.kind == NegationKind::Absence && !(does && scope.len() == 1) {
                return false;
            }
            if ablation::holds("ruled_out.refuses_own_verb", does && !speaks_so) {
                return !elsewhere.iter().any(|word| kin(word, verb));
            }
            if ablation::holds("ruled_out.refuses_going", does && *goes) {
                // "I don't want to cancel": its exemplars may say what is not wanted, but not in this way.
                return name.iter().any(|known| kin(verb, known)) && !elsewhere.iter().any(|word| kin(word, verb));
            }
            // Only the refusal contains the function's own words, and little is said beside it.
            let is_all = rest <= scope.len() && !*knows_rest.get_or_init(|| elsewhere.iter().any(is_known));
            ablation::holds("ruled_out.own_words", !speaks_so && !*goes && is_all && scope.iter().any(is_known))
        })?;
        let said = self
            .utterance()
            .slice(Span::new(refused.cue.start.min(refused.scope.start), refused.cue.end.max(refused.scope.end)));
        Some(format!("`{}` is not called: it is what {said:?} refuses", definition.name))
    }

    /// "Keine Maschine für 2 Stunden": the function's subject is not wanted, in words that its exemplars have without a
    /// negation. It may also be a problem that is reported ("no hot water"), so this is not a refusal.
    pub(crate) fn wants_none(&self, function: FunctionId) -> bool {
        let absences = self.negations().iter().filter(|one| one.kind == NegationKind::Absence);
        let absences: Vec<&Negation> = absences.filter(|one| !self.is_value(one.scope)).collect();
        if absences.is_empty() {
            return false;
        }
        let Phrasing { name, words, kinds, .. } = self.phrasing(function);
        let is_own = |word: &String| name.iter().chain(words).any(|known| kin(word, known));
        !kinds.contains(&NegationKind::Absence)
            && absences.iter().any(|one| {
                let scope = words_of(&self.utterance().meant(one.scope));
                !scope.is_empty() && scope.iter().all(is_own)
            })
    }

    /// A recognizer found something there.
    fn is_value(&self, span: Span) -> bool {
        self.mentions().iter().any(|mention| mention.span.overlaps(span))
    }

    /// Adds to `excluded` the recognized values within what is ruled out that can belong to only one slot. `slots` are
    /// those that have a value.
    pub(crate) fn add_excluded(&self, function: FunctionId, slots: &[SlotValue], excluded: &mut Vec<SlotValue>) {
        let definition = self.knowledge.module.function(function);
        for ruled_out in self.ruled_out(function) {
            for mention in self.mentions().iter().filter(|mention| ruled_out.scope.contains(mention.span)) {
                let takes = |id: &SlotId| {
                    let slot = definition.slot(*id);
                    slot.kind != SlotKind::Boolean && slot.recognizers.contains(&mention.recognizer)
                };
                let takers: Vec<SlotId> = definition.slot_ids().filter(takes).collect();
                let [taker] = takers[..] else { continue };
                let path = &definition.slot(taker).path;
                let is_same =
                    |one: &SlotValue| definition.slot_of(&one.pointer) == Some(taker) && one.value == mention.value;
                if ruled_out.said_for.contains(&taker) || slots.iter().chain(excluded.iter()).any(is_same) {
                    continue;
                }
                let recognizer = Some(self.knowledge.module.recognizer(mention.recognizer).name.clone());
                let value = SlotValue::unsaid(path.pointer(), mention.value.clone(), Source::Said, mention.score);
                let (text, span) = (Some(mention.text.clone()), Some(mention.span));
                excluded.push(SlotValue { text, span, recognizer, ..value });
            }
        }
    }
}

/// The last word of a text without spaces, if it is one of two characters or more: キャンセル of 予約はキャンセル.
fn tail(text: &str) -> Option<&str> {
    let is_hiragana = |c: char| ('ぁ'..='ゖ').contains(&c);
    let start = text.char_indices().rfind(|(_, c)| is_hiragana(*c)).map_or(0, |(at, c)| at + c.len_utf8());
    Some(&text[start..]).filter(|tail| tail.chars().nth(1).is_some())
}
