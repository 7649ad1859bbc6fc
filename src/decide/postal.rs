//! Postal addresses that are written in one line, for functions with a slot for each part: "Rosenweg 8, 44135
//! Dortmund", "Flat 3, 220 Old Kent Road, London SE1 5UB".
//!
//! A postal code has a form of its own, and the town stands next to it, behind or before. The street with its number
//! stands before both. The grammar leaves open how many words the town has and where the street begins: that is weighed
//! like any free text. If there are several addresses, each goes to the group of slots that fits its words best, all of
//! them together.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use crate::{
    decide::{
        bars::bars,
        candidates::{FoundSpan, Weighing},
        filling::{Filling, FillingRule},
        situation::Situation,
    },
    language::{Language, slots::OfSlots},
    module::{Function, PathStep, SlotId, SlotKind},
    recognize::reply,
    text::{Span, fold, name_words},
};

/// The most words of a town: "Stratford upon Avon".
const TOWN: usize = 4;
/// The most words of a street with its number and of what stands before that: "Flat 3, 220 Old Kent Road".
const STREET: usize = 8;
/// The most addresses that are told apart in one utterance.
const ADDRESSES: usize = 4;

/// Postal codes that people write without naming the country: five digits, with or without four more, and the codes of
/// Great Britain.
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    let code = r"(?i)(?:^|[^\w/.-])(\d{5}(?:-\d{4})?|[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2})(?:$|[^\w/-])";
    Regex::new(code).expect("a test reads it")
});

/// True of a text with something that is written like a postal code.
pub(super) fn has_code(text: &str) -> bool {
    CODE.is_match(text)
}

/// The slots of one address.
#[derive(Debug, Clone, PartialEq)]
struct Slots {
    /// The object that has them, and the beginning of their names: "old" of `old_street`.
    of: (Vec<PathStep>, Vec<String>),
    street: Option<SlotId>,
    town: Option<SlotId>,
    code: Option<SlotId>,
}

/// One address as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AddressSpans {
    street: Option<Span>,
    town: Option<Span>,
    code: Span,
}

impl Slots {
    fn all(&self) -> impl Iterator<Item = SlotId> {
        [self.street, self.town, self.code].into_iter().flatten()
    }

    fn parts(&self, line: AddressSpans) -> impl Iterator<Item = (SlotId, Span)> {
        let parts = [(self.street, line.street), (self.town, line.town), (self.code, Some(line.code))];
        parts.into_iter().filter_map(|(slot, span)| Some((slot?, span?)))
    }
}

impl AddressSpans {
    fn span(self) -> Span {
        let spans = || [self.street, self.town, Some(self.code)].into_iter().flatten();
        let start = spans().map(|span| span.start).min().unwrap_or(self.code.start);
        Span::new(start, spans().map(|span| span.end).max().unwrap_or(self.code.end))
    }
}

/// Puts the parts of addresses into their slots, in place of what their words filled before. In a template that matches
/// word for word (`is_settled`), only a value with a code beside another part is divided: "28013 Madrid".
pub(super) fn settle(
    situation: &Situation<'_>,
    weighing: &Weighing<'_>,
    found: &[FoundSpan<'_>],
    is_settled: bool,
    fillings: &mut Vec<Filling>,
) {
    // Without a recognized code and without digits there is no code.
    if found.is_empty() && !situation.utterance().text().contains(|c: char| c.is_ascii_digit()) {
        return;
    }
    let groups = slots_of(situation, weighing.definition());
    if groups.is_empty() {
        return;
    }
    let postal = Postal { situation, weighing, found, groups: &groups };
    let lines = postal.lines(fillings);
    for (line, group) in postal.assigned(&lines) {
        let group = &groups[group];
        let is_whole = |one: &Filling| one.anchor.is_none() && one.span != line.code && one.span.contains(line.code);
        if is_settled && !(group.code.is_some() && fillings.iter().any(is_whole)) {
            continue;
        }
        // Words that fill the slots elsewhere are not part of this address.
        let whole = line.span();
        let parts: Vec<(SlotId, Span)> = group.parts(line).collect();
        let is_filled = |slot: SlotId| parts.iter().any(|(own, _)| *own == slot);
        fillings.retain(|one| !one.span.overlaps(whole) && !is_filled(one.slot));
        fillings.extend(parts.into_iter().map(|(slot, span)| Filling {
            anchor: found.iter().position(|(anchor, _)| anchor.slot == slot && anchor.span == span),
            ..Filling::by(FillingRule::Address, slot, span)
        }));
    }
    fillings.sort_by_key(|filling| filling.span);
}

/// The groups of address slots of which the function has more than one.
fn slots_of(situation: &Situation<'_>, function: &Function) -> Vec<Slots> {
    let languages = Language::and_english(situation.knowledge.module.language());
    let prefix = |words: &[String], list: fn(&OfSlots) -> &Vec<String>| {
        let mut known = languages.iter().flat_map(|language| list(&language.words.slots)).map(|name| name_words(name));
        known.find_map(|name| words.strip_suffix(&name[..])).map(<[String]>::to_vec)
    };
    let mut groups: Vec<Slots> = Vec::new();
    for id in function.slot_ids() {
        let slot = function.slot(id);
        let Some((PathStep::Key(name), object)) = slot.path.0.split_last() else { continue };
        if slot.path.is_repeated() || !matches!(slot.kind, SlotKind::String | SlotKind::Any) {
            continue;
        }
        let words: Vec<String> = name_words(name).iter().map(|word| fold(word)).collect();
        type AddressPart = (fn(&OfSlots) -> &Vec<String>, fn(&mut Slots) -> &mut Option<SlotId>);
        let parts: [AddressPart; 3] = [
            (|names| &names.streets, |slots| &mut slots.street),
            (|names| &names.towns, |slots| &mut slots.town),
            (|names| &names.postal_codes, |slots| &mut slots.code),
        ];
        let Some((before, part)) = parts.iter().find_map(|(list, part)| Some((prefix(&words, *list)?, part))) else {
            continue;
        };
        let of = (object.to_vec(), before);
        let at = groups.iter().position(|group| group.of == of).unwrap_or_else(|| {
            groups.push(Slots { of, street: None, town: None, code: None });
            groups.len() - 1
        });
        part(&mut groups[at]).get_or_insert(id);
    }
    groups.retain(|group| group.all().count() > 1);
    groups
}

struct Postal<'a> {
    situation: &'a Situation<'a>,
    weighing: &'a Weighing<'a>,
    found: &'a [FoundSpan<'a>],
    groups: &'a [Slots],
}

impl Postal<'_> {
    /// The addresses that are written with a code, in the order of the utterance.
    fn lines(&self, fillings: &[Filling]) -> Vec<AddressSpans> {
        let mut lines: Vec<AddressSpans> = Vec::new();
        for code in self.codes().into_iter().take(ADDRESSES) {
            let from = lines.last().map_or(0, |line| line.span().end);
            lines.extend(self.line(code, from, fillings));
        }
        lines
    }

    /// The codes that a recognizer of their slots found. If no slot has one, whatever looks like a code.
    fn codes(&self) -> Vec<Span> {
        let utterance = self.situation.utterance();
        let takes = |slot: SlotId| self.groups.iter().any(|group| group.code == Some(slot));
        let mut codes: Vec<Span> =
            self.found.iter().filter(|(anchor, _)| takes(anchor.slot)).map(|(anchor, _)| anchor.span).collect();
        let is_read = self.groups.iter().filter_map(|group| group.code).any(|slot| {
            !self.weighing.definition().slot(slot).recognizers.is_empty() //
        });
        if !is_read {
            let written = CODE.captures_iter(utterance.text()).filter_map(|code| code.get(1));
            codes.extend(written.map(|code| utterance.span_of_bytes(code.range())));
        }
        codes.sort_unstable();
        codes.dedup();
        codes.dedup_by(|next, one| next.overlaps(*one));
        codes
    }

    /// The address with this code: "ZIP town" behind the street if a town follows the code, else "town ZIP".
    fn line(&self, code: Span, from: usize, fillings: &[Filling]) -> Option<AddressSpans> {
        let words = self.situation.utterance().words();
        let before = words.partition_point(|word| word.end <= code.start);
        let first = words.partition_point(|word| word.end <= from);
        let behind = words.partition_point(|word| word.start < code.end);
        let is_free = |at: usize| self.is_free(words[at], code, fillings);
        let town = self.town_behind(code, behind, &is_free);
        if town.is_some() || self.groups.iter().all(|group| group.town.is_none()) {
            let street = self.best_street(first..before, &is_free);
            return self.is_address(street, code).then_some(AddressSpans { street, town, code });
        }
        // "8b Quay Street Bristol BS1 4DJ": the town begins where the street ends.
        let least = before.saturating_sub(TOWN).max(first);
        let towns = (least..before).rev().take_while(|at| is_free(*at) && self.is_of_town(*at, before));
        let towns = towns.filter(|at| self.begins_town(*at)).map(|at| {
            let town = Span::new(words[at].start, words[before - 1].end);
            let street = self.best_street(first..at, &is_free);
            let weight = self.best(|group| group.town, town)
                + street.map_or(bars().part_of_address, |street| self.weight_of_street(street));
            (weight, AddressSpans { street, town: Some(town), code })
        });
        let best = towns.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, line)| line);
        best.filter(|line| self.is_address(line.street, code))
    }

    /// Text that looks like a code is one only behind a street; a recognized code is one in any case.
    fn is_address(&self, street: Option<Span>, code: Span) -> bool {
        street.is_some() || self.found.iter().any(|(anchor, _)| anchor.span == code)
    }

    /// True unless the word fills a slot outside the address by a recognizer.
    fn is_free(&self, word: Span, code: Span, fillings: &[Filling]) -> bool {
        let is_part = |slot: SlotId| self.groups.iter().flat_map(Slots::all).any(|part| part == slot);
        !word.overlaps(code)
            && fillings.iter().all(|one| one.anchor.is_none() || is_part(one.slot) || !one.span.overlaps(word))
    }

    fn text(&self, at: usize) -> &str {
        self.situation.utterance().slice(self.situation.utterance().words()[at])
    }

    /// The text between this word and the next one.
    fn gap(&self, at: usize) -> &str {
        let words = self.situation.utterance().words();
        words.get(at + 1).map_or("", |next| {
            self.situation.utterance().slice(Span::new(words[at].end, next.start)) //
        })
    }

    /// The name of a town goes on after the word: "St. Ives", "Stoke-on-Trent".
    fn goes_on(&self, at: usize) -> bool {
        let language = Language::or_english(self.situation.knowledge.module.language());
        match self.gap(at) {
            "-" => true,
            ". " => language.is_abbreviation(&fold(self.text(at))),
            gap => gap.trim().is_empty(),
        }
    }

    fn is_capital(&self, at: usize) -> bool {
        self.text(at).starts_with(char::is_uppercase)
    }

    /// A person who writes no capitals at all does not capitalize names either.
    fn is_all_lower(&self) -> bool {
        !self.situation.utterance().text().contains(char::is_uppercase)
    }

    fn is_word(&self, at: usize) -> bool {
        self.text(at).chars().all(char::is_alphabetic)
    }

    fn says_nothing(&self, at: usize) -> bool {
        reply::says_nothing(self.situation.knowledge.module.language(), self.text(at))
    }

    /// A word that a town may begin with: a name.
    fn begins_town(&self, at: usize) -> bool {
        self.is_word(at) && (self.is_capital(at) || self.is_all_lower() && !self.says_nothing(at))
    }

    /// True if only a space or a hyphen stands between the word and the next one of the town that ends before `end`; a
    /// comma may follow the last. In a text without capitals, an empty word belongs to no town.
    fn is_of_town(&self, at: usize, end: usize) -> bool {
        let gap = self.gap(at);
        self.is_word(at)
            && (self.goes_on(at) || at + 1 == end && gap.trim() == ",")
            && !(self.is_all_lower() && self.says_nothing(at))
    }

    /// The town that begins right behind the code.
    fn town_behind(&self, code: Span, at: usize, is_free: &impl Fn(usize) -> bool) -> Option<Span> {
        let words = self.situation.utterance().words();
        let first = *words.get(at)?;
        let between = self.situation.utterance().slice(Span::new(code.end, first.start));
        // If nothing else follows the code, the words are the town's name, with a capital or without.
        let is_all = || matches!(self.gap(at).trim(), "," | ".") || at + 1 == words.len();
        let is_name = self.begins_town(at) || self.is_word(at) && is_all() && !self.says_nothing(at);
        if !between.trim().is_empty() || !is_free(at) || !is_name {
            return None;
        }
        let mut ends = vec![at];
        for next in at + 1..words.len().min(at + TOWN) {
            if !self.goes_on(next - 1) || !is_free(next) || !self.is_word(next) {
                break;
            }
            // "Saint-Nazaire" does not end at its hyphen.
            let is_joined = self.gap(next - 1) == "-";
            if is_joined {
                ends.pop_if(|end| *end + 1 == next);
            }
            if is_joined || self.is_capital(next) {
                ends.push(next);
            }
        }
        let spans = ends.into_iter().map(|end| Span::new(first.start, words[end].end));
        let best = spans.map(|span| (self.best(|group| group.town, span), span)).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, span)| span)
    }

    /// The street, with its number, that ends where these words end.
    fn best_street(&self, words: Range<usize>, is_free: &impl Fn(usize) -> bool) -> Option<Span> {
        let all = self.situation.utterance().words();
        let mut end = words.end;
        // "Rosenweg 8 in 44135 Dortmund"
        if end > words.start + 1 && !self.is_capital(end - 1) && self.says_nothing(end - 1) {
            end -= 1;
        }
        let last = end.checked_sub(1).filter(|last| *last >= words.start)?;
        let least = end.saturating_sub(STREET).max(words.start);
        let mut starts = Vec::new();
        for at in (least..end).rev() {
            let is_joined = at == last || matches!(self.gap(at).trim(), "" | "," | "-" | "." | "'" | "’" | "/");
            if !is_joined || !is_free(at) {
                break;
            }
            if self.is_kind_of_street(at) {
                // Only its number stands before "rue".
                let is_numbered = at > least && self.has_digit(at - 1) && self.gap(at - 1).trim().is_empty();
                starts = vec![if is_numbered { at - 1 } else { at }];
                break;
            }
            if self.is_dwelling(at) && at < last && self.has_digit(at + 1) {
                starts = vec![at];
                break;
            }
            if self.is_capital(at) || self.has_digit(at) || self.is_all_lower() {
                starts.push(at);
            }
        }
        let spans = starts.into_iter().map(|at| Span::new(all[at].start, all[last].end));
        let spans = spans.filter(|span| {
            let text = self.situation.utterance().slice(*span);
            text.contains(|c: char| c.is_ascii_digit()) && text.contains(char::is_alphabetic)
        });
        let best = spans.map(|span| (self.weight_of_street(span), span)).max_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|(weight, _)| *weight > bars().part_of_address).map(|(_, span)| span)
    }

    /// A word that begins the name of a street.
    fn is_kind_of_street(&self, at: usize) -> bool {
        let language = Language::or_english(self.situation.knowledge.module.language());
        language.words.slots.kinds_of_street.contains(&fold(self.text(at)))
    }

    /// "Flat", before its number.
    fn is_dwelling(&self, at: usize) -> bool {
        let mut languages = Language::and_english(self.situation.knowledge.module.language()).into_iter();
        languages.any(|language| language.words.slots.dwellings.contains(&fold(self.text(at))))
    }

    fn has_digit(&self, at: usize) -> bool {
        self.text(at).contains(|c: char| c.is_ascii_digit())
    }

    fn weight_of_street(&self, span: Span) -> f32 {
        self.best(|group| group.street, span)
    }

    /// The log-odds that the span fills this part of one of the addresses.
    fn best(&self, part: fn(&Slots) -> Option<SlotId>, span: Span) -> f32 {
        let slots = self.groups.iter().filter_map(part);
        slots.map(|slot| self.weighing.log_odds(slot, span)).fold(f32::NEG_INFINITY, f32::max)
    }

    /// Which line fills which group of slots: each at most once, so that the whole is as likely as possible.
    fn assigned(&self, lines: &[AddressSpans]) -> Vec<(AddressSpans, usize)> {
        let weight = |line: AddressSpans, group: &Slots| -> f32 {
            group.parts(line).map(|(slot, span)| self.weighing.log_odds(slot, span)).sum()
        };
        let groups = &self.groups[..self.groups.len().min(ADDRESSES)];
        let weights: Vec<Vec<f32>> =
            lines.iter().map(|line| groups.iter().map(|group| weight(*line, group)).collect()).collect();
        let mut ways: Vec<Vec<Option<usize>>> = vec![Vec::new()];
        for _ in lines {
            let longer = ways.iter().flat_map(|way| {
                let free = (0..groups.len()).filter(|group| !way.contains(&Some(*group))).map(Some);
                free.chain([None]).map(|next| way.iter().copied().chain([next]).collect())
            });
            ways = longer.collect();
        }
        let most = lines.len().min(groups.len());
        let chosen = |way: &[Option<usize>]| -> Vec<(usize, usize)> {
            way.iter().enumerate().filter_map(|(line, group)| Some((line, (*group)?))).collect()
        };
        let ways = ways.iter().map(|way| chosen(way)).filter(|way| way.len() == most);
        let sum = |way: &[(usize, usize)]| -> f32 { way.iter().map(|(line, group)| weights[*line][*group]).sum() };
        let best = ways.max_by(|one, other| sum(one).total_cmp(&sum(other))).unwrap_or_default();
        best.into_iter().map(|(line, group)| (lines[line], group)).collect()
    }
}
