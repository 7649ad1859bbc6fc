//! What the words of an answer mean in view of what is known: an entry of the list that was asked for, a part of a
//! value that is replaced, or a slot other than the one that was asked for.

use serde_json::Value;

use crate::{
    call::SlotValue,
    decide::{situation::Situation, vocabulary::words_of},
    dialogue::open_form::{KNOWN, OpenForm, PLAIN},
    language::Language,
    module::{RecognizerKind, SlotId, SlotPath},
    recognize::{self, Mention, reply::says_nothing},
    text::{Span, Utterance, fold},
};

/// How much likelier, in log-odds, another slot must be than the one that was asked for.
const LIKELIER: f32 = 2.0;
/// The most words of a name.
const NAME: usize = 2;
/// The lowest log-odds that the other slot may have.
const POSSIBLE: f32 = -1.5;
/// The most words of an answer that names an entry of a list by a part of it; and the most letters of a part that is
/// too short to count.
const MOST_WORDS: usize = 12;
const SHORT_WORD: usize = 2;

impl OpenForm<'_> {
    /// "4 instead of 3" where "3 in the afternoon" is known: the replaced words are part of one value, which is read
    /// again with the new words in their place.
    pub(crate) fn replaced_within(&self, own: &Situation<'_>, old: Span, new: Span) -> Option<SlotValue> {
        let utterance = own.utterance();
        let (old, new) = (words_of(utterance.slice(old)), words_of(utterance.slice(new)));
        let has_old = |filled: &&SlotValue| {
            let words = filled.text.as_deref().map(words_of).unwrap_or_default();
            !old.is_empty() && words.len() > old.len() && words.windows(old.len()).any(|run| *run == old[..])
        };
        let mut known = self.form.slots.iter().filter(has_old);
        let filled = known.next().filter(|_| known.next().is_none())?;
        let slot = self.function.slot(self.function.slot_at(&SlotPath::of_pointer(&filled.pointer))?);
        let text = filled.text.as_deref()?;
        let said = Utterance::new(text);
        let words = said.words();
        let at = (0..words.len()).find(|at| {
            let run = words[*at..].iter().take(old.len()).map(|word| fold(said.slice(*word)));
            run.eq(old.iter().cloned())
        })?;
        let span = Span::new(words[at].start, words[at + old.len() - 1].end);
        let rest =
            |range: std::ops::Range<usize>| words[range].iter().all(|word| new.contains(&fold(said.slice(*word))));
        // "Birch Way 14 instead of 4" contains the whole new value.
        let is_whole = rest(0..at) && rest(at + old.len()..words.len());
        let new_text = if is_whole {
            new.join(" ")
        } else {
            [said.slice(Span::new(0, span.start)), &new.join(" "), said.slice(Span::new(span.end, said.len()))].concat()
        };
        let read = Utterance::new(&new_text);
        if slot.takes_any_words() {
            return None;
        }
        let context = recognize::Context { now: own.analysis.now.clone() };
        let mentions = own.knowledge.recognizers.recognize(&read, &context);
        let mention = mentions
            .iter()
            .filter(|mention| slot.recognizers.contains(&mention.recognizer) && mention.others.is_empty())
            .max_by_key(|mention| mention.span.len())?;
        let spanned = (utterance, Span::new(0, utterance.len()));
        let value = self.value_of(slot, spanned, Some(mention), mention.score * KNOWN.score());
        Some(SlotValue { pointer: filled.pointer.clone(), text: Some(new_text), ..value })
    }

    /// "The night one" to "which tariff?": the only entry of the list that contains one of the words, if no recognizer
    /// found an entry and the answer is not a question.
    pub(crate) fn chosen_by_word(&self, own: &Situation<'_>, found: &[SlotValue]) -> Option<SlotValue> {
        let asked = self.asked_slot()?;
        let (slot, pointer) = (self.function.slot(asked), self.asked.first()?);
        let utterance = own.utterance();
        let asks = own.analysis.reply.leaves_open();
        let is_known = own.mentions().iter().any(|mention| slot.recognizers.contains(&mention.recognizer));
        if asks || is_known || self.has_acts() || !own.negations().is_empty() || utterance.words().len() > MOST_WORDS {
            return None;
        }
        let lists = slot.recognizers.iter().filter_map(|id| match &self.module.recognizer(*id).kind {
            RecognizerKind::List(list) => Some(list),
            _ => None,
        });
        let instances = lists.flat_map(|list| &list.instances);
        let entry = |value: &Value, said: &[String]| {
            let label = value.as_str().map(words_of).unwrap_or_default();
            (value.clone(), said.iter().flat_map(|text| words_of(text)).chain(label).collect::<Vec<String>>())
        };
        let mut entries: Vec<(Value, Vec<String>)> =
            instances.map(|instance| entry(&instance.label, &instance.expressions)).collect();
        if entries.is_empty() {
            entries = slot.choices.iter().map(|choice| entry(choice, &[])).collect();
        }
        let common = Language::of(self.module.language()).map(|language| &language.words);
        let is_common = |word: &str| common.is_some_and(|words| words.is_number(word) || words.is_indefinite(word));
        // Free text in place of an entry is not a value yet.
        let is_other = |value: &&SlotValue| value.recognizer.is_some() || value.pointer != *pointer;
        let is_free = |word: &&Span| {
            found.iter().filter(is_other).all(|value| value.span.is_none_or(|span| !span.overlaps(**word)))
        };
        let free: Vec<&Span> = utterance.words().iter().filter(is_free).collect();
        let hits = |words: &[String]| {
            free.iter().copied().find(|word| {
                let said = fold(utterance.slice(**word));
                said.chars().count() > SHORT_WORD
                    && !is_common(&said)
                    && !says_nothing(self.module.language(), &said)
                    && words.contains(&said)
            })
        };
        let mut hit = entries.iter().filter_map(|(value, words)| Some((value, *hits(words)?)));
        // Several lists may know one entry.
        let (value, word) = hit.next().filter(|(value, _)| hit.all(|(other, _)| other == *value))?;
        let filled = self.value_of(slot, (utterance, word), None, PLAIN.score());
        let recognizer = slot.recognizers.first().map(|id| self.module.recognizer(*id).name.clone());
        Some(SlotValue { pointer: pointer.clone(), value: value.clone(), recognizer, ..filled })
    }

    /// "So, the toilet won't flush" to "what is the address?": words that fill the slot that was asked for only because
    /// it takes any words. They fill another empty free-text slot, if the reader finds that much likelier when nothing
    /// is asked.
    pub(crate) fn move_to_likelier(&self, own: &Situation<'_>, values: &mut [SlotValue]) {
        let [value] = values else { return };
        let (Some(asked), Some(span), None) = (self.asked_slot(), value.span, &value.recognizer) else { return };
        let words = own.utterance().words().iter().filter(|word| span.overlaps(**word)).count();
        // One or two words may be a name, which the reader cannot judge well.
        if self.asked.first() != Some(&value.pointer) || !self.function.slot(asked).takes_any_words() || words <= NAME {
            return;
        }
        let Some(scores) = own.span_scores(self.id, &[]) else { return };
        let of_asked = scores.around(asked, span).map_or(f32::NEG_INFINITY, |(best, _)| best);
        let others = self.function.slot_ids().filter(|slot| {
            let known = self.function.slot(*slot);
            *slot != asked && known.takes_any_words() && !known.path.is_repeated() && !self.form.has(&known.path)
        });
        let scored = others.filter_map(|slot| Some((slot, scores.around(slot, span)?.0)));
        let best = scored.max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((slot, _)) = best.filter(|(_, score)| *score > POSSIBLE && *score - of_asked >= LIKELIER) {
            value.pointer = self.function.slot(slot).path.pointer();
        }
    }

    /// Of the filled texts, the one that the reader finds much likelier for these words than all others.
    pub(crate) fn likeliest_text(&self, own: &Situation<'_>, span: Span) -> Option<SlotId> {
        let scores = own.span_scores(self.id, &[])?;
        let scored = self.texts().filter_map(|slot| Some((scores.score(slot, span)?, slot)));
        let mut scored: Vec<(f32, SlotId)> = scored.collect();
        scored.sort_by(|one, other| other.0.total_cmp(&one.0));
        let (best, slot) = *scored.first()?;
        let is_clear = scored.get(1).is_none_or(|(next, _)| best - next >= LIKELIER);
        (best > POSSIBLE && is_clear).then_some(slot)
    }

    /// A part, extended by the rest of a recognized value if that rest is an empty word: "the" of "the 20th".
    pub(crate) fn widened(&self, own: &Situation<'_>, part: Span) -> Span {
        let utterance = own.utterance();
        let sticks_out = |mention: &&Mention| {
            let mut outside =
                utterance.words().iter().filter(|word| mention.span.contains(**word) && !part.overlaps(**word));
            mention.span.overlaps(part)
                && outside.all(|word| says_nothing(self.module.language(), &utterance.meant(*word)))
        };
        let all = own.mentions().iter().filter(sticks_out).map(|mention| mention.span);
        all.fold(part, |part, span| Span::new(part.start.min(span.start), part.end.max(span.end)))
    }
}
