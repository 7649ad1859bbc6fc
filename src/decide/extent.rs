//! How far free-text values reach. An address ends with its last part, and a list is divided into its items. The second
//! of two values may be joined by words of a template ("from ... to ...").

use std::cell::OnceCell;

use crate::{
    ablation,
    decide::{
        asked,
        candidates::Weighing,
        carrier,
        filling::{Filling, FillingRule},
        postal,
        situation::Situation,
        vocabulary::words_of,
    },
    language::{Language, negation::NegationRole, slots::OfSlots, values::Sense},
    module::{Function, PathStep, Slot, SlotId, TemplatePiece, squeeze},
    recognize::reply,
    text::{Span, fold},
};

/// The most words of a part behind a comma: "IL 60614".
const PART: usize = 4;
/// The most words that lead from one value to the next: "and then to".
const LEADING: usize = 3;
/// The most words of an item that only its neighbours mark as an item of a list.
const ITEM: usize = 3;

/// Gives each free-text value its full length, and divides lists into items. A template that matches word for word
/// already fixes where its values end.
pub(super) fn settle(situation: &Situation<'_>, weighing: &Weighing<'_>, fillings: &mut Vec<Filling>) {
    let extent = Extent { situation, weighing, function: weighing.definition(), pairs: OnceCell::new() };
    fillings.sort_by_key(|filling| filling.span);
    for at in 0..fillings.len() {
        let own = fillings[at];
        if !extent.takes_words(&own) || matches!(own.rule, Some(FillingRule::Template | FillingRule::Beside)) {
            continue;
        }
        let mut step = |rule, read: &dyn Fn(&[Filling]) -> Span| {
            fillings[at].span = ablation::made(rule, fillings[at].span, read(fillings));
        };
        step("extent.with_article", &|all| extent.with_article(all, at));
        step("extent.with_parts", &|all| extent.with_parts(all[at].span, all, at));
    }
    if let Some(led) = ablation::found("extent.led", extent.led(fillings)) {
        fillings.push(led);
        fillings.sort_by_key(|filling| filling.span);
        if let Some(at) = fillings.iter().position(|filling| *filling == led) {
            fillings[at].span = extent.with_parts(led.span, fillings, at);
        }
    }
    if let Some(beside) = extent.beside(fillings) {
        fillings.push(beside);
        fillings.sort_by_key(|filling| filling.span);
    }
    ablation::pass("extent.enumerate", fillings, |fillings| extent.enumerate(fillings));
}

struct Extent<'a> {
    situation: &'a Situation<'a>,
    weighing: &'a Weighing<'a>,
    function: &'a Function,
    /// See [`Extent::pairs`].
    pairs: OnceCell<Vec<Pair>>,
}

/// A slot, the words (perhaps none) that join the next slot to it, and that next slot.
type Pair = (SlotId, Vec<String>, SlotId);

impl Extent<'_> {
    fn language(&self) -> &'static Language {
        Language::or_english(self.situation.knowledge.module.language())
    }

    fn is_conjunction(&self, word: Span) -> bool {
        self.language().words.joints.conjunctions.contains(&self.said(word))
    }

    fn is_article(&self, word: Span) -> bool {
        let phrases = self.language().negation.beginning_with(&self.said(word));
        phrases.iter().any(|phrase| phrase.rest.is_empty() && phrase.meaning == NegationRole::Article)
    }

    /// "The" or "a".
    fn is_any_article(&self, word: Span) -> bool {
        let senses = self.language().values.beginning_with(&self.said(word));
        let is_indefinite = || senses.iter().any(|phrase| phrase.rest.is_empty() && phrase.meaning == Sense::A);
        self.is_article(word) || is_indefinite()
    }

    fn said(&self, word: Span) -> String {
        self.situation.utterance().folded_in(word)
    }

    fn words(&self) -> &[Span] {
        self.situation.utterance().words()
    }

    fn words_in(&self, span: Span) -> Vec<Span> {
        self.words().iter().filter(|word| span.contains(**word)).copied().collect()
    }

    /// A comma stands between two places.
    fn is_parted(&self, from: usize, to: usize) -> bool {
        to > from && self.situation.utterance().slice(Span::new(from, to)).contains([',', ';', '、', '，'])
    }

    fn takes_words(&self, filling: &Filling) -> bool {
        filling.anchor.is_none() && is_text(self.function.slot(filling.slot))
    }

    /// The span with the article before it, if the templates have the slot before that article: the value begins behind
    /// the words that lead to it.
    fn with_article(&self, fillings: &[Filling], at: usize) -> Span {
        let (slot, span) = (fillings[at].slot, fillings[at].span);
        let article = self.words().iter().rfind(|word| word.end <= span.start);
        let is_free = |word: &&Span| fillings.iter().all(|one| !one.span.overlaps(**word));
        let is_article = |word: &&Span| self.is_any_article(**word) && !self.is_parted(word.end, span.start);
        let Some(article) = article.filter(is_article).filter(is_free) else { return span };
        let whole = Span::new(article.start, span.end);
        let led = self.weighing.lead(slot, whole);
        if led >= 1.0 && led > self.weighing.lead(slot, span) { whole } else { span }
    }

    /// A span with a number, with the parts behind it that belong to it: "12 Abbey Road, London NW8 9AY". The parts are
    /// written as names or codes, and no other filling covers them.
    fn with_parts(&self, mut span: Span, fillings: &[Filling], own: usize) -> Span {
        let utterance = self.situation.utterance();
        let has_digit = |span: Span| utterance.slice(span).contains(|c: char| c.is_ascii_digit());
        let is_claimed = |word: Span| {
            fillings.iter().enumerate().any(|(at, one)| at != own && one.span.overlaps(word)) //
        };
        // People who do not capitalize names may still write "QW/28" or "I".
        let is_name = |word: &Span| {
            let mut letters = utterance.slice(*word).chars();
            letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase)
        };
        let is_lower = !self.words().iter().any(is_name);
        let belongs = |word: Span| {
            let text = utterance.slice(word);
            let is_plain = || is_lower && !reply::says_nothing(self.situation.knowledge.module.language(), text);
            !is_claimed(word)
                && !self.is_conjunction(word)
                && (text.starts_with(char::is_uppercase) || has_digit(word) || is_plain() && !self.is_lead(word))
        };
        let slot = fillings[own].slot;
        if !has_digit(span) || self.has_parts_beside(slot) {
            return span;
        }
        // If another value may follow behind a comma, only the parts up to a postal code belong to this one.
        let (is_followed, mut with_code) = (self.is_followed(slot), span);
        loop {
            let from = self.words().partition_point(|word| word.start < span.end);
            let mut end = from;
            while self.words().get(end).is_some_and(|word| belongs(*word))
                && end - from < PART
                && (end == from || !self.is_parted(self.words()[end - 1].end, self.words()[end].start))
            {
                end += 1;
            }
            let last = end.checked_sub(1).filter(|last| *last >= from).map(|last| self.words()[last]);
            let is_part = |_: &Span| utterance.slice(Span::new(span.end, self.words()[from].start)).trim() == ",";
            let Some(last) = last.filter(is_part) else { return if is_followed { with_code } else { span } };
            if postal::has_code(utterance.slice(Span::new(span.end, last.end))) {
                with_code = Span::new(span.start, last.end);
            }
            span = Span::new(span.start, last.end);
        }
    }

    /// True of a slot for one part of a text with commas: the street of an address whose town has its own slot.
    fn has_parts_beside(&self, slot: SlotId) -> bool {
        let path = &self.function.slot(slot).path.0;
        let beside = |other: SlotId| {
            let other = &self.function.slot(other).path.0;
            path.len() > 1 && other.len() == path.len() && other[..other.len() - 1] == path[..path.len() - 1]
        };
        self.function.slot_ids().any(|other| other != slot && beside(other))
    }

    /// True of a slot that is followed by a comma and another slot in a template.
    fn is_followed(&self, slot: SlotId) -> bool {
        let mut windows = self.function.exemplars.iter().flat_map(|exemplar| exemplar.pieces.windows(3));
        windows.any(|pieces| match pieces {
            [
                TemplatePiece::Slot { slot: Some(one), .. },
                TemplatePiece::Text(text),
                TemplatePiece::Slot { slot: Some(_), .. },
            ] => *one == slot && text.trim() == ",",
            _ => false,
        })
    }

    /// True of a word that leads to a slot in a template.
    fn is_lead(&self, word: Span) -> bool {
        let said = self.said(word);
        self.pairs().iter().any(|(_, lead, _)| lead.last() == Some(&said))
    }

    /// Two free-text slots that a template joins by a few words, or has side by side.
    fn pairs(&self) -> &[Pair] {
        let pair = |pieces: &[TemplatePiece]| match pieces {
            [
                TemplatePiece::Slot { slot: Some(one), .. },
                TemplatePiece::Text(text),
                TemplatePiece::Slot { slot: Some(other), .. },
            ] => {
                let lead = words_of(text);
                let are_texts = is_text(self.function.slot(*one)) && is_text(self.function.slot(*other));
                let is_joined = if lead.is_empty() { text.trim().is_empty() } else { lead.len() <= LEADING };
                (are_texts && one != other && is_joined).then_some((*one, lead, *other))
            }
            _ => None,
        };
        let windows = || self.function.exemplars.iter().flat_map(|exemplar| exemplar.pieces.windows(3));
        self.pairs.get_or_init(|| windows().filter_map(pair).collect())
    }

    /// The second of two values that a template joins, if the first is known and the joining words follow it. It
    /// reaches to the next value, without the words that lead there.
    fn led(&self, fillings: &[Filling]) -> Option<Filling> {
        self.pairs().iter().filter(|(_, lead, _)| !lead.is_empty()).find_map(|(one, lead, other)| {
            let (one, other) = (*one, *other);
            let known = fillings.iter().find(|filling| filling.slot == one && filling.anchor.is_none())?;
            if fillings.iter().any(|filling| filling.slot == other) {
                return None;
            }
            let from = self.words().partition_point(|word| word.start < known.span.end);
            let says = |(at, word): (usize, &String)| {
                self.words().get(from + at).is_some_and(|said| self.said(*said) == *word) //
            };
            let first = *self.words().get(from + lead.len()).filter(|_| lead.iter().enumerate().all(says))?;
            let next = fillings.iter().map(|one| one.span.start).filter(|start| *start >= first.start).min();
            let end = next.unwrap_or(self.situation.utterance().len());
            let mut words = self.words_in(Span::new(first.start, end));
            let is_literal = |word: Span| {
                let said = self.said(word);
                let mut pieces = self.function.exemplars.iter().flat_map(|exemplar| &exemplar.pieces);
                pieces.any(|piece| matches!(piece, TemplatePiece::Text(text) if words_of(text).last() == Some(&said)))
            };
            while next.is_some() && words.last().is_some_and(|word| is_literal(*word)) {
                words.pop();
            }
            let span = Span::new(first.start, words.last()?.end);
            let core =
                carrier::core(self.situation.knowledge.module.language(), &self.situation.utterance().only(span));
            let span = Span::new(span.start, core.end.clamp(first.end, span.end));
            Some(Filling::by(FillingRule::Joined, other, span))
        })
    }

    /// The family name behind the given name, if templates have both side by side and the first filling contains both:
    /// "Mary Ward". It begins at the first word with a small letter ("van der Berg"), else it is the last word.
    fn beside(&self, fillings: &mut [Filling]) -> Option<Filling> {
        let utterance = self.situation.utterance();
        let is_filled = |slot: SlotId| fillings.iter().any(|one| one.slot == slot);
        let is_pair = |(one, lead, other): &&Pair| {
            lead.is_empty()
                && !is_filled(*other)
                && self.is_name(*one, |slots| &slots.given_names)
                && self.is_name(*other, |slots| &slots.family_names)
        };
        let mut pairs = self.pairs().iter().filter(is_pair);
        let takes_both = |one: &Filling| {
            let text = utterance.slice(one.span);
            let is_whole = matches!(one.rule, None | Some(FillingRule::Template));
            is_whole && one.anchor.is_none() && !text.contains(|c: char| c.is_ascii_digit() || c == ',')
        };
        let (at, other) = pairs.find_map(|(one, _, other)| {
            let at = fillings.iter().position(|filling| filling.slot == *one && takes_both(filling))?;
            Some((at, *other))
        })?;
        if !ablation::holds("extent.beside", true) {
            return None;
        }
        let words = self.words_in(fillings[at].span);
        let is_small = |word: &Span| utterance.slice(*word).starts_with(char::is_lowercase);
        let is_cased = words.first().is_some_and(|first| !is_small(first));
        let small = words.iter().skip(1).position(|word| is_cased && is_small(word)).map(|small| small + 1);
        // A family name may have two parts: "Smith-Jones".
        let is_joined = |at: &usize| {
            let gap = Span::new(words[at - 1].end, words[*at].start);
            matches!(utterance.slice(gap), "-" | "'" | "’")
        };
        let last = (1..words.len()).rev().find(|at| !is_joined(at)).unwrap_or_default();
        let cut = small.unwrap_or(last);
        let (first, second) = words.split_at_checked(cut).filter(|(first, _)| !first.is_empty())?;
        let own = Span::new(fillings[at].span.start, first.last()?.end);
        let beside = Filling::by(FillingRule::Beside, other, Span::new(second.first()?.start, fillings[at].span.end));
        fillings[at] = Filling::by(FillingRule::Beside, fillings[at].slot, own);
        Some(beside)
    }

    /// The slot's own name ends like one of these.
    fn is_name(&self, slot: SlotId, list: fn(&OfSlots) -> &Vec<String>) -> bool {
        let label = squeeze(&fold(self.function.slot(slot).label()));
        let languages = Language::and_english(self.situation.knowledge.module.language());
        languages.iter().flat_map(|language| list(&language.words.slots)).any(|end| label.ends_with(end))
    }

    /// Divides lists of texts at their commas and conjunctions, including the items that stand between two of them:
    /// "Chile, Peru and Bolivia". All items belong to the slot of the first one.
    fn enumerate(&self, fillings: &mut Vec<Filling>) {
        let is_list = |one: &Filling| one.anchor.is_none() && is_list_of_texts(self.function.slot(one.slot));
        let (lists, others): (Vec<Filling>, Vec<Filling>) = fillings.iter().partition(|one| is_list(one));
        let mut groups: Vec<Vec<Filling>> = Vec::new();
        for one in lists {
            match groups.last_mut() {
                Some(group) if group.last().is_some_and(|last| self.joins(last.span, one.span, &others)) => {
                    group.push(one);
                }
                _ => groups.push(vec![one]),
            }
        }
        *fillings = others;
        for group in groups {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let whole = Span::new(first.span.start, last.span.end);
            // Each item that was found raises the confidence of the list.
            let confidence = 1.0 - group.iter().map(|one| 1.0 - one.confidence).product::<f32>();
            fillings.extend(asked::parts_of_list(self.situation, whole).into_iter().map(|span| Filling {
                slot: first.slot,
                span,
                anchor: None,
                rule: first.rule,
                confidence,
            }));
        }
        fillings.sort_by_key(|filling| filling.span);
    }

    /// True if a comma or a conjunction stands between two items, or further items that no other filling covers.
    fn joins(&self, one: Span, other: Span, others: &[Filling]) -> bool {
        let gap = Span::new(one.end, other.start.max(one.end));
        if other.start < one.end || others.iter().any(|filling| filling.span.overlaps(gap)) {
            return false;
        }
        let mut words = self.words_in(gap);
        // "Ben and the twins": the article belongs to the item.
        while words.last().is_some_and(|word| self.is_article(*word)) {
            words.pop();
        }
        let is_adjacent = words.is_empty() && !self.is_parted(gap.start, gap.end);
        let is_joint = |word: Option<&Span>, from: usize, to: usize| {
            self.is_parted(from, to) || word.is_some_and(|word| self.is_conjunction(*word))
        };
        let (first, last) = (words.first(), words.last());
        let parts = asked::parts_of_list(self.situation, gap);
        is_adjacent
            || parts.iter().all(|part| self.words_in(*part).len() <= ITEM)
                && is_joint(first, one.end, first.map_or(other.start, |word| word.start))
                && is_joint(last, last.map_or(one.end, |word| word.end), other.start)
    }
}

fn is_text(slot: &Slot) -> bool {
    slot.takes_any_words() && !slot.path.is_repeated()
}

fn is_list_of_texts(slot: &Slot) -> bool {
    slot.takes_any_words() && slot.path.0.last() == Some(&PathStep::Each)
}
