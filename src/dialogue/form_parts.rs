//! Which slots the parts of an answer fill, if alignment alone does not show it.

use serde_json::Value;

use crate::{
    ablation,
    call::{SlotValue, Source},
    conversation::{Removal, UpdateMode, merge::count_slot},
    decide::{asked, situation::Situation},
    dialogue::{
        open_form::{ANSWERED, KNOWN, OpenForm, PLAIN},
        slot_reference::SlotReference,
    },
    module::{Builtin, Function, Module, PathStep, RecognizerKind, Slot, SlotId, SlotKind, SlotPath, TemplatePiece},
    recognize::{
        Mention,
        acts::{MoveKind, Pick},
    },
    text::{Span, Utterance, fold},
};

/// For how many turns "it" may mean a value.
const RECENT: u32 = 2;
/// How similar two texts are if one corrects the other ("Austen" for "Austin"), 0 to 1.
const ALIKE: f64 = 0.6;
/// The same if recognizers found something in the new text.
const HARDLY_OTHER: f64 = 0.8;

impl OpenForm<'_> {
    /// The slot that names the items of the function's list, if it has one list of objects.
    pub(crate) fn head(&self) -> Option<SlotId> {
        let in_list = |slot: &SlotId| {
            let path = &self.function.slot(*slot).path.0;
            path.iter().position(|step| *step == PathStep::Each).is_some_and(|at| at + 1 < path.len())
        };
        let mut lists: Vec<&[PathStep]> = Vec::new();
        for slot in self.function.slot_ids().filter(in_list) {
            let path = &self.function.slot(slot).path.0;
            let at = path.iter().position(|step| *step == PathStep::Each)?;
            if !lists.contains(&&path[..at]) {
                lists.push(&path[..at]);
            }
        }
        let [_] = lists[..] else { return None };
        let named: Vec<SlotId> = self.function.slot_ids().filter(in_list).collect();
        named.iter().find(|slot| self.function.slot(**slot).required).or(named.first()).copied()
    }

    /// The function's only list, if its items are free texts.
    pub(crate) fn only_texts(&self) -> Option<SlotId> {
        let mut lists = self.function.slot_ids().filter(|slot| self.function.slot(*slot).path.is_repeated());
        let list = lists.next().filter(|_| lists.next().is_none());
        list.filter(|list| asked::is_list_of_texts(self.function.slot(*list)))
    }

    /// "Jane Austin" where Jane is known: if exemplars show free-text slots side by side, words that begin with the
    /// known value fill the other slots.
    pub(crate) fn completes(&self, own: &Situation<'_>, part: Span) -> Option<Vec<SlotValue>> {
        let utterance = own.utterance();
        let words: Vec<Span> = utterance.words().iter().filter(|word| part.contains(**word)).copied().collect();
        let is_apart = |pair: &[Span]| utterance.slice(Span::new(pair[0].end, pair[1].start)).trim().is_empty();
        if !words.windows(2).all(is_apart) || own.mentions().iter().any(|mention| is_typed(self.module, mention)) {
            return None;
        }
        let is_known = |slot: SlotId, word: &Span| {
            let known = self.form.at(&self.function.slot(slot).path.pointer());
            known.map(|known| known.value.as_str().is_some_and(|text| fold(text) == fold(utterance.slice(*word))))
        };
        let fits = |slots: &Vec<SlotId>| {
            let known: Vec<Option<bool>> = slots.iter().zip(&words).map(|(slot, word)| is_known(*slot, word)).collect();
            slots.len() == words.len()
                && !known.contains(&Some(false))
                && known.contains(&Some(true))
                && known.contains(&None)
        };
        let shown = self.function.exemplars.iter().filter_map(|one| side_by_side(self.function, &one.pieces));
        let slots = shown.into_iter().find(fits)?;
        let filled = |(slot, word): (&SlotId, &Span)| {
            self.value_of(self.function.slot(*slot), (utterance, *word), None, PLAIN.score())
        };
        Some(slots.iter().zip(&words).map(filled).collect())
    }

    /// "3 Mill Lane, Bath, BA1 5LR" to "which street?": the parts between commas fill slots that an exemplar has
    /// between commas, from the one that was asked for. They may begin at any slot, if all of these slots are empty and
    /// a recognizer knows one part by its form. `None` if that gives no more than `found`.
    pub(crate) fn in_sequence(
        &self,
        situation: &Situation<'_>,
        part: Span,
        found: &[SlotValue],
    ) -> Option<Vec<SlotValue>> {
        let utterance = situation.utterance();
        let parts = parts(utterance, part);
        let asked = self.asked_slot();
        let sequences = self.function.exemplars.iter().flat_map(|exemplar| {
            let firsts = exemplar.pieces.iter().filter_map(|piece| match piece {
                TemplatePiece::Slot { slot, .. } => *slot,
                TemplatePiece::Text(_) => None,
            });
            firsts.filter_map(|first| sequence(&exemplar.pieces, first)).collect::<Vec<_>>()
        });
        let mention_of = |slot: &Slot, span: Span| {
            let is_its =
                |mention: &&Mention| span.contains(mention.span) && slot.recognizers.contains(&mention.recognizer);
            situation.mentions().iter().find(is_its)
        };
        let filled = |(id, span): (&SlotId, &Span)| {
            let slot = self.function.slot(*id);
            let mention = mention_of(slot, *span);
            let is_said = |span: Span| !asked::is_unsaid(situation, self.function, *id, span);
            let may_be = mention.is_some() || slot.takes_any_words() && is_said(*span);
            may_be.then(|| SlotValue {
                value: mention.map_or_else(|| utterance.slice(*span).into(), |mention| mention.value.clone()),
                ..self.value_of(slot, (utterance, *span), mention, PLAIN.score())
            })
        };
        // A recognizer found what was asked for, so no other sequence may take the parts.
        let answers = asked.is_some_and(|asked| {
            let slot = self.function.slot(asked);
            parts.iter().any(|span| mention_of(slot, *span).is_some())
        });
        let is_new = |slots: &[SlotId]| {
            let is_open = |slot: &SlotId| !self.form.has(&self.function.slot(*slot).path);
            let is_typed_part = |(slot, span): (&SlotId, &Span)| {
                mention_of(self.function.slot(*slot), *span).is_some_and(|mention| is_typed(self.module, mention))
            };
            !answers && slots.iter().all(is_open) && slots.iter().zip(&parts).any(is_typed_part)
        };
        let fitting = sequences
            .filter(|slots| slots.len() == parts.len() && parts.len() > 1)
            .filter(|slots| slots.first() == asked.as_ref() || is_new(slots));
        let mut all =
            fitting.filter_map(|slots| slots.iter().zip(&parts).map(filled).collect::<Option<Vec<SlotValue>>>());
        all.find(|all| all.len() > found.len())
    }

    /// Words between two values, if an exemplar has exactly one free-text slot between the two slots, with at most
    /// commas around it: the town of an address.
    pub(crate) fn between(&self, situation: &Situation<'_>, found: &[SlotValue]) -> Vec<SlotValue> {
        let slot_of = |value: &SlotValue| {
            let path = SlotPath::of_pointer(&value.pointer);
            self.function.slot_at(&path)
        };
        let mut known: Vec<(Span, SlotId)> =
            found.iter().filter_map(|value| Some((value.span?, slot_of(value)?))).collect();
        known.sort_unstable();
        let filled = |slot: SlotId, span: Span| {
            let own = self.function.slot(slot);
            let text = situation.utterance().slice(span);
            let pointer = own.path.pointer();
            let is_open = self.form.at(&pointer).is_none() && found.iter().all(|value| value.pointer != pointer);
            let is_plain = !text.is_empty() && !text.contains([',', '、', '。', ';', '.']);
            (is_open && is_plain).then(|| self.value_of(own, (situation.utterance(), span), None, PLAIN.score()))
        };
        let gap = |pair: &[(Span, SlotId)]| {
            let [(before, first), (after, last)] = pair else { return None };
            let slot = self.shown_between(*first, *last)?;
            filled(slot, trimmed(situation.utterance(), Span::new(before.end, after.start.max(before.end))))
        };
        known.windows(2).filter_map(gap).collect()
    }

    /// The free-text slot that an exemplar has between two others, with nothing else there.
    fn shown_between(&self, first: SlotId, last: SlotId) -> Option<SlotId> {
        self.function
            .exemplars
            .iter()
            .find_map(|exemplar| {
                let is_blank = |piece: &&TemplatePiece| matches!(piece, TemplatePiece::Text(text) if is_joint(text));
                let slots: Vec<Option<SlotId>> = exemplar
                    .pieces
                    .iter()
                    .filter(|piece| !is_blank(piece))
                    .map(|piece| if let TemplatePiece::Slot { slot, .. } = piece { *slot } else { None })
                    .collect();
                slots.windows(3).find_map(|slots| match slots {
                    [Some(a), Some(between), Some(b)] if *a == first && *b == last => Some(*between),
                    _ => None,
                })
            })
            .filter(|slot| self.function.slot(*slot).takes_any_words())
    }

    /// "Make it two" is about the number of things, if no other number was said recently.
    pub(crate) fn counted(&self, own: &Situation<'_>, part: Span) -> Option<SlotId> {
        let single: Vec<&Slot> = self.function.slots.iter().filter(|slot| !slot.path.is_repeated()).collect();
        let count = count_slot(&single)?;
        let is_all = |mention: &&Mention| {
            let words = own.utterance().words();
            words.iter().filter(|word| part.overlaps(**word)).all(|word| mention.span.contains(*word))
        };
        // A number in a date is not a count: "make it the 19th".
        let is_part = |mention: &&Mention| {
            let mut others = own.mentions().iter();
            others.any(|other| other.span.contains(mention.span) && other.span.len() > mention.span.len())
        };
        let mut whole = own.mentions().iter().filter(is_all).filter(|mention| !is_part(mention));
        let mention = whole.find(|mention| count.recognizers.contains(&mention.recognizer))?;
        let is_rival = |filled: &&SlotValue| {
            let path = SlotPath::of_pointer(&filled.pointer);
            let slot = self.function.slots.iter().find(|slot| slot.path == path);
            filled.turn + RECENT >= self.state.turn && slot.is_some_and(|slot| slot.kind != SlotKind::String)
        };
        let is_number = mention.value.is_number() && !self.form.slots.iter().any(|filled| is_rival(&filled));
        is_number.then(|| self.function.slot_labelled(&count.path.to_string())).flatten()
    }

    /// "Sorry, 150-0002": the value is of the kind that was asked for, and the slot is still empty.
    fn fits_asked(&self, own: &Situation<'_>, part: Span) -> bool {
        let Some(asked) = self.asked_slot().map(|slot| self.function.slot(slot)) else { return false };
        let is_filled = self.form.has(&asked.path);
        let mut mentions = own.mentions().iter().filter(|mention| part.contains(mention.span));
        !is_filled
            && mentions.any(|mention| asked.recognizers.contains(&mention.recognizer) && is_distinct(own, mention))
    }

    /// The slot whose value a correction replaces, if the correction does not name it. Of the slots that a recognizer
    /// allows for the new value, it is the one that was filled last; otherwise the one whose text is most similar to
    /// the new one.
    pub(crate) fn corrected(&self, own: &Situation<'_>, part: Span) -> Option<SlotId> {
        if self.manner() != UpdateMode::Correct {
            return None;
        }
        let turn_of = |slot: SlotId| {
            let path = &self.function.slot(slot).path;
            let filled = self.form.of_slot(path);
            filled.map(|filled| filled.turn).max()
        };
        let inside: Vec<&Mention> = own.mentions().iter().filter(|mention| part.contains(mention.span)).collect();
        // A day of a month inside a sort code does not count.
        let is_part = |mention: &Mention| {
            inside.iter().any(|other| other.span.contains(mention.span) && other.span.len() > mention.span.len())
        };
        let mentions: Vec<&Mention> = inside.iter().filter(|mention| !is_part(mention)).copied().collect();
        let finds = |slot: SlotId| {
            let recognizers = &self.function.slot(slot).recognizers;
            mentions.iter().any(|mention| recognizers.contains(&mention.recognizer))
        };
        if let Some(asked) = self.asked_slot().filter(|_| self.fits_asked(own, part)) {
            return Some(asked);
        }
        let known = self.function.slot_ids().filter_map(|slot| Some((turn_of(slot)?, slot)));
        let latest = known.filter(|(_, slot)| finds(*slot)).max();
        if let Some((_, slot)) = ablation::found("form.corrected_latest", latest) {
            return Some(slot);
        }
        let new = fold(own.utterance().slice(part));
        let alike = |filled: &SlotValue| {
            let old = fold(filled.text.as_deref().or(filled.value.as_str()).unwrap_or_default());
            strsim::normalized_levenshtein(&old, &new)
        };
        let nearest = self.form.slots.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)))?;
        if !mentions.is_empty() && alike(nearest) < HARDLY_OTHER {
            return None;
        }
        if ablation::holds("form.corrected_alike", alike(nearest) >= ALIKE) {
            return self.function.slot_at(&SlotPath::of_pointer(&nearest.pointer));
        }
        ablation::found("form.corrected_only_text", self.only_text().filter(|_| self.asked.is_empty()))
    }

    /// The only slot whose value any words could replace.
    fn only_text(&self) -> Option<SlotId> {
        let mut texts = self.texts();
        texts.next().filter(|_| texts.next().is_none())
    }

    /// Filled slots that hold a text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = SlotId> {
        self.function.slot_ids().filter(|slot| {
            let slot = self.function.slot(*slot);
            self.form.has(&slot.path) && slot.kind == SlotKind::String && slot.choices.is_empty()
        })
    }

    /// The slot that some words name, by its own name or by its value.
    pub(crate) fn place(&self, own: &Situation<'_>, span: Span) -> Option<SlotId> {
        let named = SlotReference { utterance: own.utterance(), mentions: own.mentions(), span };
        named.slot(self.function).or_else(|| {
            let pointer = named.values(self.form).into_iter().next()?;
            let path = SlotPath::of_pointer(&pointer);
            self.function.slot_at(&path)
        })
    }

    pub(crate) fn removed(&self, own: &Situation<'_>, what: Span) -> Vec<Removal> {
        let named = SlotReference { utterance: own.utterance(), mentions: own.mentions(), span: what };
        let nth = self.acts().find_map(|one| match one.kind {
            MoveKind::Pick(Pick::Nth(nth)) if what.contains(one.cue) => Some(nth),
            _ => None,
        });
        if let Some(item) = nth.and_then(|nth| named.item(self.form, nth)) {
            return vec![Removal::Place(item)];
        }
        let values = named.values(self.form);
        if !values.is_empty() {
            let filled = values.iter().filter_map(|pointer| self.form.at(pointer));
            return filled
                .map(|filled| Removal::Value {
                    path: SlotPath::of_pointer(&filled.pointer).to_string(),
                    value: filled.value.clone(),
                })
                .collect();
        }
        let Some(slot) = named.slot(self.function) else { return Vec::new() };
        let path = &self.function.slot(slot).path;
        let places = self.form.of_slot(path);
        places.map(|filled| Removal::Place(filled.pointer.clone())).collect()
    }

    /// The choice of the slot that was asked for that the words pick by its position.
    pub(crate) fn picked(&self, pick: Pick, cue: Span, utterance: &Utterance) -> Option<SlotValue> {
        let slot = self.function.slot(self.asked_slot()?);
        let value: &Value = match pick {
            Pick::Nth(nth) => slot.choices.get(nth.checked_sub(1)?)?,
            Pick::Last => slot.choices.last()?,
            _ => return None,
        };
        Some(SlotValue {
            pointer: self.asked.first()?.clone(),
            value: value.clone(),
            text: Some(utterance.slice(cue).to_owned()),
            span: Some(cue),
            recognizer: None,
            from: Source::Said,
            turn: self.state.turn,
            confidence: ANSWERED.score(),
            unread: None,
        })
    }
}

/// The span without the space around it, and without a full stop or a comma.
fn trimmed(utterance: &Utterance, span: Span) -> Span {
    utterance.trimmed(span, |c| c.is_whitespace() || matches!(c, '.' | ',' | '、'))
}

/// True of the text between two adjacent values: nothing, or a comma.
fn is_joint(text: &str) -> bool {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '、')).is_empty()
}

/// The parts between commas, without the space around them.
fn parts(utterance: &Utterance, within: Span) -> Vec<Span> {
    let characters: Vec<char> = utterance.text().chars().collect();
    let mut parts = Vec::new();
    let mut start = within.start;
    for at in within.start..=within.end.min(characters.len()) {
        if at == within.end || characters.get(at).is_none_or(|c| matches!(c, ',' | ';' | '、' | '，')) {
            parts.push(trimmed(utterance, Span::new(start, at)));
            start = at + 1;
        }
    }
    parts.retain(|span| !span.is_empty());
    parts
}

/// The slots that follow each other in an exemplar from this one on, with only a comma in between.
fn sequence(pieces: &[TemplatePiece], first: SlotId) -> Option<Vec<SlotId>> {
    let is_first =
        |piece: &TemplatePiece| matches!(piece, TemplatePiece::Slot { slot: Some(slot), .. } if *slot == first);
    let start = pieces.iter().position(is_first)?;
    let mut slots = Vec::new();
    for piece in &pieces[start..] {
        match piece {
            TemplatePiece::Slot { slot: Some(slot), .. } => slots.push(*slot),
            TemplatePiece::Text(text) if matches!(text.trim(), "," | "、") => {}
            _ => break,
        }
    }
    Some(slots)
}

/// The slots of an exemplar that consists only of free-text slots side by side.
fn side_by_side(function: &Function, pieces: &[TemplatePiece]) -> Option<Vec<SlotId>> {
    let mut slots = Vec::new();
    for piece in pieces {
        match piece {
            TemplatePiece::Slot { slot: Some(slot), .. } if function.slot(*slot).takes_any_words() => slots.push(*slot),
            TemplatePiece::Text(text) if text.trim().is_empty() => {}
            _ => return None,
        }
    }
    (slots.len() > 1).then_some(slots)
}

/// True of a value that cannot be free text: a mail address, a telephone number, a match of a pattern.
fn is_typed(module: &Module, mention: &Mention) -> bool {
    let is_of_form = match &module.recognizer(mention.recognizer).kind {
        RecognizerKind::Pattern(_) => true,
        RecognizerKind::Builtin(builtin) => {
            matches!(builtin, Builtin::Email | Builtin::Phone | Builtin::Url | Builtin::Money)
        }
        RecognizerKind::List(_) => false,
    };
    is_of_form && mention.score >= KNOWN.score()
}

/// True of a value that cannot be mistaken: a mail address, a telephone number, a word of a list; but not a bare
/// number.
fn is_distinct(situation: &Situation<'_>, mention: &Mention) -> bool {
    let kind = &situation.knowledge.module.recognizer(mention.recognizer).kind;
    let is_plain = matches!(
        kind,
        RecognizerKind::Builtin(Builtin::Number | Builtin::Integer | Builtin::Ordinal | Builtin::Boolean)
    );
    !is_plain && mention.value.is_string()
}
