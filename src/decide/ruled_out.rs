//! What the negations of an utterance mean for one particular function.
//!
//! "Remove the fries" rules fries out of an order, and says to a function that removes things what to remove. Which it
//! is, the function's own exemplars show: what they name behind the same kind of cue is meant, not ruled out. And
//! "don't cancel my order" rules the function itself out, unless its exemplars speak so.

use crate::{
    call::{RuledOut, SlotValue, Source, kin},
    decide::situation::Situation,
    language::{Language, facts::is_unspaced_language, negation::Role, words::Names},
    module::{Function, FunctionId, OwnerMode, Piece, RecognizerKind, Slot, SlotId, SlotKind},
    recognize::{Negation, NegationKind},
    text::{Span, Utterance, fold, in_words},
};

/// What stands for the value of a slot in an exemplar.
const PLACEHOLDER: &str = "thing";
/// Shorter words say too little of what is asked for.
const WORD: usize = 4;

/// Words from its no on within which the verb of a refusal stands; half as many before it.
const VERB_WITHIN: usize = 4;

/// How the exemplars of a function speak.
#[derive(Debug, Default)]
struct Manner {
    /// How often each slot is named where it is ruled out, and how often at all.
    slots: Vec<(usize, usize)>,
    /// Of which kind their negations are.
    kinds: Vec<NegationKind>,
    /// A negation of this kind stands before a slot.
    before_slot: Vec<NegationKind>,
    /// The words that they begin with, and all words between their slots; folded.
    openings: Vec<String>,
    words: Vec<String>,
}

impl Situation<'_> {
    /// The parts of the utterance that rule out what they name, if this function is meant.
    pub(crate) fn ruled_out(&self, function: FunctionId) -> Vec<RuledOut> {
        if self.negations().is_empty() {
            return Vec::new();
        }
        let definition = self.knowledge.module.function(function);
        let manner = self.manner(definition);
        let language = self.knowledge.module.language();
        let goes = makes_go(definition, language);
        let said_for: Vec<SlotId> = definition
            .slot_ids()
            .filter(|id| {
                let (ruled_out, all) = manner.slots[id.index()];
                (ruled_out > 0 && 2 * ruled_out >= all) || is_for_what_is_left_out(definition.slot(*id), language)
            })
            .collect();
        self.negations()
            .iter()
            .filter(|negation| match negation.kind {
                NegationKind::Retention => false,
                NegationKind::Absence => true,
                // What a function is for, it does not rule out.
                NegationKind::Removal => !goes && !manner.before_slot.contains(&NegationKind::Removal),
                NegationKind::Refusal => !goes && !manner.before_slot.contains(&NegationKind::Refusal),
            })
            .map(|negation| {
                let mut said_for = said_for.clone();
                if self.refuses_another(function, negation) {
                    said_for.extend(definition.slot_ids().filter(|id| self.is_identifier(definition.slot(*id))));
                }
                RuledOut { cue: negation.cue, scope: negation.scope, said_for }
            })
            .collect()
    }

    /// "Don't cancel 4077, just move it": what is refused is what another function does, and the number says to what
    /// this one is to be done.
    fn refuses_another(&self, function: FunctionId, negation: &Negation) -> bool {
        let module = &self.knowledge.module;
        // The verb may stand before its no: "n'annulez surtout pas".
        let words = self.utterance().words();
        let cue = words.partition_point(|word| word.end <= negation.cue.start.min(negation.scope.start));
        let near = &words[cue.saturating_sub(VERB_WITHIN / 2)..words.len().min(cue + VERB_WITHIN)];
        let said: Vec<String> = near.iter().flat_map(|word| words_of(&self.utterance().meant(*word))).collect();
        let does = |id: FunctionId| {
            let definition = module.function(id);
            let shown = definition.exemplars.iter().filter(|exemplar| exemplar.mode != OwnerMode::Negative);
            let openings = shown.filter_map(|exemplar| match exemplar.pieces.first() {
                Some(Piece::Text(text)) => words_of(text).into_iter().next(),
                _ => None,
            });
            let known: Vec<String> =
                words_of(&in_words(&definition.name)).into_iter().take(1).chain(openings).collect();
            said.iter().any(|word| known.iter().any(|own| begin_alike(word, own)))
        };
        !does(function) && module.function_ids().any(does)
    }

    /// The author gave a pattern for it.
    fn is_identifier(&self, slot: &Slot) -> bool {
        let module = &self.knowledge.module;
        slot.recognizers.iter().any(|id| matches!(module.recognizer(*id).kind, RecognizerKind::Pattern(_)))
    }

    /// Why the utterance refuses the very thing that this function does; `None` if it does not.
    pub(crate) fn refusal(&self, function: FunctionId) -> Option<String> {
        // "Nicht stornieren": the no that stands behind a verb elsewhere.
        let is_adverb = |cue: Span| {
            let cue = self.utterance().folded_in(cue);
            let phrases = Language::or_english(self.knowledge.module.language()).negation.beginning_with(&cue);
            phrases.iter().any(|phrase| phrase.rest.is_empty() && phrase.meaning == Role::RefusalBehind)
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
        let manner = self.manner(definition);
        let speaks_so = manner.kinds.iter().any(|kind| matches!(kind, NegationKind::Refusal | NegationKind::Retention));
        let language = self.knowledge.module.language();
        let goes = makes_go(definition, language);
        let said_of_anything = Language::of(language).map_or(&[][..], |language| &language.words.said_of_anything);
        let name = words_of(&in_words(&definition.name));
        let elsewhere: Vec<String> = self
            .utterance()
            .words()
            .iter()
            .filter(|word| !self.negations().iter().any(|one| one.cue.overlaps(**word) || one.scope.overlaps(**word)))
            .map(|word| self.utterance().folded_in(*word))
            .collect();
        let says = |word: &&String| word.chars().count() >= WORD && !said_of_anything.contains(word);
        let rest = elsewhere.iter().filter(says).count();
        let is_known = |word: &String| says(&word) && manner.words.iter().chain(&name).any(|known| kin(word, known));
        let refused = refusals.into_iter().find(|negation| {
            let scope = words_of(&self.utterance().meant(negation.scope));
            let own = || name.iter().chain(&manner.openings);
            let does = |verb: &&String| match is_unspaced_language(language) {
                true => manner.words.iter().any(|words| tail(verb).is_some_and(|tail| words.contains(tail))),
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
            if does && !speaks_so {
                return !elsewhere.iter().any(|word| kin(word, verb));
            }
            if does && goes {
                // "I don't want to cancel": its exemplars may well speak of what is not wanted, but not so.
                return name.iter().any(|known| kin(verb, known)) && !elsewhere.iter().any(|word| kin(word, verb));
            }
            // The function's own words stand in the refusal alone, and little is said beside it.
            let is_all = rest <= scope.len() && !elsewhere.iter().any(is_known);
            !speaks_so && !goes && is_all && scope.iter().any(is_known)
        })?;
        let said = self
            .utterance()
            .slice(Span::new(refused.cue.start.min(refused.scope.start), refused.cue.end.max(refused.scope.end)));
        Some(format!("`{}` is not called: it is what {said:?} refuses", definition.name))
    }

    /// Adds to `excluded` what recognizers found in what is ruled out, where it can belong to one slot only. `slots`
    /// are those that have a value.
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

    fn manner(&self, function: &Function) -> Manner {
        let mut manner = Manner { slots: vec![(0, 0); function.slots.len()], ..Manner::default() };
        for exemplar in function.exemplars.iter().filter(|exemplar| exemplar.mode != OwnerMode::Negative) {
            let (mut text, mut places) = (String::new(), Vec::new());
            let mut length = 0;
            for piece in &exemplar.pieces {
                match piece {
                    Piece::Text(literal) => {
                        text.push_str(literal);
                        length += literal.chars().count();
                        manner.words.extend(words_of(literal));
                    }
                    Piece::Slot { slot, .. } => {
                        text.push_str(PLACEHOLDER);
                        places.push((Span::new(length, length + PLACEHOLDER.len()), *slot));
                        length += PLACEHOLDER.len();
                    }
                }
            }
            manner.openings.extend(words_of(&text).into_iter().next());
            let negations = self.knowledge.recognizers.negations(&Utterance::new(&text), &[]);
            for (place, slot) in &places {
                let Some((ruled_out, all)) = slot.and_then(|slot| manner.slots.get_mut(slot.index())) else { continue };
                *all += 1;
                *ruled_out += usize::from(negations.iter().any(|negation| negation.scope.overlaps(*place)));
            }
            for negation in &negations {
                manner.kinds.push(negation.kind);
                if places.iter().any(|(place, _)| negation.cue.end <= place.start) {
                    manner.before_slot.push(negation.kind);
                }
            }
        }
        manner
    }
}

/// The last word of a text without spaces, if it is one of two characters or more: キャンセル of 予約はキャンセル.
fn tail(text: &str) -> Option<&str> {
    let is_hiragana = |c: char| ('ぁ'..='ゖ').contains(&c);
    let start = text.char_indices().rfind(|(_, c)| is_hiragana(*c)).map_or(0, |(at, c)| at + c.len_utf8());
    Some(&text[start..]).filter(|tail| tail.chars().nth(1).is_some())
}

/// Two forms of one verb: "annulez" and "annuler".
fn begin_alike(one: &str, other: &str) -> bool {
    let common = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let longest = one.chars().count().max(other.chars().count());
    common >= WORD && 3 * common >= 2 * longest
}

/// True for a function that makes something go away.
fn makes_go(function: &Function, language: &str) -> bool {
    let is_said = |names: &Names, word: &str| names.going_beginnings.iter().any(|start| word.starts_with(start));
    let words = words_of(&in_words(&function.name));
    names(language).any(|names| words.iter().any(|word| is_said(names, word)))
}

fn is_for_what_is_left_out(slot: &Slot, language: &str) -> bool {
    let words = words_of(&in_words(slot.label()));
    let description = fold(&slot.description);
    names(language).any(|names| {
        let is_said = |word: &String| {
            names.left_out.contains(word) || names.left_out_beginnings.iter().any(|start| word.starts_with(start))
        };
        words.iter().any(is_said) || names.left_out_in_descriptions.iter().any(|said| description.contains(said))
    })
}

/// Names are written in English, whatever the language of a module, or in that language.
fn names(language: &str) -> impl Iterator<Item = &'static Names> {
    let own = Language::of(language).filter(|own| own.code != Language::english().code);
    [Some(Language::english()), own].into_iter().flatten().map(|language| &language.words.names)
}

fn words_of(text: &str) -> Vec<String> {
    let folded = fold(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
