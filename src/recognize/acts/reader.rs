//! The grammar: finds the patterns of a table in a reply, and the words beside them.

use crate::{
    ablation,
    language::{
        acts::{ActRule, Acts, Makes, PatternPlace, PhraseRole},
        courtesy::{Courtesies, Courtesy, Meaning},
        pattern::{Element, Hole},
    },
    recognize::{
        acts::{ACTS, Move, MoveKind, Moves, Pick},
        certainty::Certainty,
    },
    text::{Span, words::Word},
};

/// The most words of a hole.
const LONGEST: usize = 12;
/// The most words of a person's name.
const LONGEST_NAME: usize = 4;

/// Marks around a quotation.
const QUOTES: [char; 11] = ['"', '“', '”', '„', '«', '»', '‹', '›', '「', '」', '『'];

/// The factor for the confidence if other content stands beside a phrase that is mostly said alone: "never mind, a
/// large one".
const BESIDE: Certainty = Certainty::Sure;

/// Lowers a confidence so that the move is not acted on by itself: any confidence times the bar lies below the bar.
const fn not_to_be_acted_on(confidence: f32) -> f32 {
    confidence * ACTS
}

/// Words of the reply: the index of the first, and the index behind the last.
type WordRange = (usize, usize);

/// A match of a pattern.
#[derive(Debug, Clone, Copy)]
struct PatternMatch<'a> {
    rule: &'a ActRule,
    all: WordRange,
    cue: WordRange,
    named: Option<WordRange>,
    given: Option<WordRange>,
    number: Option<usize>,
    /// The number of words in the pattern itself.
    said: usize,
}

/// How far a pattern has been matched.
#[derive(Debug, Clone, Copy, Default)]
struct Partial {
    /// The first two runs of words that belong to the pattern.
    runs: [Option<WordRange>; 2],
    run_is_over: bool,
    named: Option<WordRange>,
    given: Option<WordRange>,
    number: Option<usize>,
    said: usize,
    /// Where the move ends, if words behind it were only looked at.
    end: Option<usize>,
}

/// The courtesy of the words up to some place.
#[derive(Debug, Clone, Copy)]
struct Polite {
    courtesy: Courtesy,
    /// A person says who they are.
    is_named: bool,
}

impl Default for Polite {
    fn default() -> Self {
        Self { courtesy: Courtesy::Acknowledgement, is_named: false }
    }
}

impl Polite {
    fn of(meaning: Meaning) -> Self {
        match meaning {
            Meaning::Says(courtesy) => Self { courtesy, is_named: false },
            Meaning::Filler | Meaning::Answer => Self::default(),
        }
    }

    /// Both, one after the other.
    fn and(self, next: Self) -> Self {
        Self { courtesy: self.courtesy.max(next.courtesy), is_named: self.is_named || next.is_named }
    }

    /// Of two readings of the same words, the one without a name; else the courtesy that says more.
    fn or(self, other: Self) -> Self {
        let order = |one: &Self| (!one.is_named, one.courtesy);
        if order(&other) > order(&self) { other } else { self }
    }
}

pub(crate) struct ActReader<'a> {
    acts: &'static Acts,
    words: &'a [Word],
    /// For each word, and for the end: a clause may begin there.
    starts: Vec<bool>,
    /// For each word, and for the end: only politeness follows, up to the end of the clause.
    polite: Vec<bool>,
    /// For each word, and for the end: something other than politeness follows.
    content: Vec<bool>,
}

impl<'a> ActReader<'a> {
    pub(crate) fn new(acts: &'static Acts, words: &'a [Word]) -> Self {
        let none = vec![false; words.len() + 1];
        let mut reader = Self { acts, words, starts: none.clone(), polite: none.clone(), content: none };
        reader.find_starts();
        reader.find_politeness();
        reader
    }

    fn find_politeness(&mut self) {
        for at in (0..self.words.len()).rev() {
            if let Some(length) = self.phrase(at, &[PhraseRole::Filler]) {
                let end = at + length;
                self.polite[at] = self.words.get(end).is_none_or(|word| word.is_apart) || self.polite[end];
            }
            let passed = self.phrase(at, &[PhraseRole::Filler, PhraseRole::And, PhraseRole::But]);
            self.content[at] = passed.is_none_or(|length| self.content[at + length]);
        }
    }

    fn find_starts(&mut self) {
        for at in 0..self.words.len() {
            self.starts[at] |= at == 0 || self.words[at].is_apart || is_sign(&self.words[at - 1]);
            let passed = self.phrase(at, &[PhraseRole::And, PhraseRole::But]).or_else(|| {
                let transparent = &[PhraseRole::Filler, PhraseRole::Lead, PhraseRole::Answer];
                self.phrase(at, transparent).filter(|_| self.starts[at])
            });
            if let Some(length) = passed {
                self.starts[at + length] = true;
            }
        }
    }

    pub(crate) fn read(&self) -> Moves {
        let mut found = self.find();
        // A phrase that is mostly a value is a move only if nothing else is said.
        if self.rest(&found).is_some() {
            found.retain(|found| found.rule.place != PatternPlace::Alone);
        }
        let rest = self.rest(&found);
        let only_leads = |index: usize| {
            let leads = found.get(index + 1).is_some_and(|next| self.leads_to(&found[index], next));
            ablation::holds("acts.leads_to", leads)
        };
        let moves = (0..found.len()).filter(|index| !only_leads(*index));
        let moves = moves.filter_map(|index| self.made(&found[index], rest.is_some())).collect();
        Moves { moves, rest, courtesy: self.courtesy() }
    }

    /// The courtesy that the whole reply is. Of several, the last in the order of the enum counts: "hi, thanks, bye" is
    /// thanks.
    pub(crate) fn courtesy(&self) -> Option<Courtesy> {
        let all = (0, self.words.len());
        self.courtesy_within(all, &|at| {
            const BESIDE: [PhraseRole; 3] = [PhraseRole::Filler, PhraseRole::Answer, PhraseRole::And];
            let beside = self.phrase(at, &BESIDE).map(|length| (at + length, Polite::default()));
            let named = self.introduction(at).map(|end| (end, Polite { is_named: true, ..Polite::default() }));
            beside.into_iter().chain(named).collect()
        })
    }

    /// The courtesy that these words are, if they are only a courtesy. `others` gives further steps from a word.
    fn courtesy_within(
        &self,
        (from, to): WordRange,
        others: &dyn Fn(usize) -> Vec<(usize, Polite)>,
    ) -> Option<Courtesy> {
        let mut reached: Vec<Option<Polite>> = vec![None; to - from + 1];
        reached[0] = Some(Polite::default());
        for at in from..to {
            let Some(so_far) = reached[at - from] else { continue };
            let phrases = Courtesies::all().ends(self.words, at).into_iter();
            let phrases = phrases.filter(|(_, meaning)| !(at > from && self.is_denied(at, *meaning)));
            let phrases = phrases.map(|(end, meaning)| (end, Polite::of(meaning)));
            for (end, step) in phrases.chain(others(at)).filter(|(end, _)| *end <= to) {
                let next = so_far.and(step);
                let known = &mut reached[end - from];
                *known = Some(known.map_or(next, |known| known.or(next)));
            }
        }
        let whole = reached[to - from].filter(|_| from < to)?;
        match whole.courtesy {
            Courtesy::Greeting if whole.is_named => Some(Courtesy::Introduction),
            // A name by itself is an answer, or a request.
            _ if whole.is_named => None,
            courtesy => Some(courtesy),
        }
    }

    /// "Hace falta" asks what something is for; "no hace falta" declines.
    fn is_denied(&self, at: usize, meaning: Meaning) -> bool {
        let is_question = meaning == Meaning::Says(Courtesy::Purpose);
        is_question && !self.words[at].is_apart && self.ends_of_answers(at - 1).any(|end| end == at)
    }

    /// The ends of the answers that begin at `at`.
    fn ends_of_answers(&self, at: usize) -> impl Iterator<Item = usize> {
        let ends = Courtesies::all().ends(self.words, at).into_iter();
        ends.filter(|(_, meaning)| *meaning == Meaning::Answer).map(|(end, _)| end)
    }

    /// See [`super::courtesies_beside`].
    pub(crate) fn courtesies_beside(&self, text: &str) -> Vec<Span> {
        let starts: Vec<usize> = (0..self.words.len()).filter(|at| *at == 0 || self.words[*at].is_apart).collect();
        if starts.len() < 2 {
            return Vec::new();
        }
        let text: Vec<char> = text.chars().collect();
        let clause = |index: usize| (starts[index], starts.get(index + 1).copied().unwrap_or(self.words.len()));
        let is_before = |index: &usize| self.is_aside(clause(*index), Courtesy::is_said_before);
        let is_behind = |index: &usize| self.is_aside(clause(*index), Courtesy::is_said_behind);
        let place = |at: usize| self.words[at].span.start;
        let last = |at: usize| self.words[at].span.end;
        let mut before = (0..starts.len()).take_while(is_before).map(|index| clause(index).1).last();
        let mut behind = (0..starts.len()).rev().take_while(is_behind).map(|index| clause(index).0).last();
        // Text in quotation marks is a quotation.
        let has_quote = |from: usize, to: usize| {
            ablation::holds("acts.quoted", text[from..to].iter().any(|mark| QUOTES.contains(mark)))
        };
        before = before.filter(|end| *end < self.words.len() && !has_quote(0, last(*end - 1)));
        behind = behind.filter(|start| *start > 0 && !has_quote(last(*start), text.len()));
        let gap = |at: usize| (last(at - 1), place(at));
        // "Tell him: thanks"
        behind =
            behind.filter(|start| !ablation::holds("acts.told_on", text[gap(*start).0..gap(*start).1].contains(&':')));
        let before = before.map(|end| Span::new(place(0), passed_marks(&text, gap(end))));
        let behind = behind.map(|start| Span::new(passed_commas(&text, gap(start)), text.len()));
        before.into_iter().chain(behind).collect()
    }

    /// True of a clause that says nothing about the text beside it: a greeting, thanks, a goodbye, "hmm".
    fn is_aside(&self, clause: WordRange, is_aside: fn(Courtesy) -> bool) -> bool {
        self.courtesy_within(clause, &|_| Vec::new()).is_some_and(is_aside) && {
            let mut at = clause.0;
            let answers = |at: usize| self.ends_of_answers(at).next().is_some();
            // "No thanks" declines.
            while at < clause.1 && !answers(at) {
                at += 1;
            }
            at == clause.1
        }
    }

    /// The end of a clause that begins at `at` and in which a person gives their name.
    fn introduction(&self, at: usize) -> Option<usize> {
        let naming = self.phrase(at, &[PhraseRole::Naming]);
        let start = at + naming.or_else(|| self.phrase(at, &[PhraseRole::Presenting]))?;
        let behind = start + 1..self.words.len().min(start + LONGEST_NAME + 1);
        let end = behind.clone().find(|end| self.words[*end].is_apart).unwrap_or(behind.end.max(start + 1));
        let name = self.words.get(start..end)?;
        let is_over = self.words.get(end).is_none_or(|word| word.is_apart);
        let is_name = !name[0].is_apart && (naming.is_some() || name.iter().all(|word| word.is_capital));
        let is_introduction = is_over && name.len() <= LONGEST_NAME && is_name;
        ablation::holds("acts.introduction", is_introduction).then_some(end)
    }

    /// True for "actually" of "actually, remove the olives", which corrects by removing, and "also" of "also add a
    /// coke".
    fn leads_to(&self, found: &PatternMatch, next: &PatternMatch) -> bool {
        let is_lead = matches!(found.rule.makes, Makes::Correct | Makes::Add);
        let names_value = is_pick(next.rule.makes) || next.rule.makes == Makes::Portion;
        is_lead
            && !names_value
            && (found.all.1 == next.all.0 || self.passed(found.all.1, next.all.0) == Some(next.all.0))
    }

    /// The patterns of moves, in order and apart.
    fn find(&self) -> Vec<PatternMatch<'static>> {
        let mut all: Vec<PatternMatch> = Vec::new();
        let (mut at, mut floor) = (0, 0);
        while at < self.words.len() {
            let Some(found) = self.best(at, floor, all.last()) else {
                at += 1;
                continue;
            };
            at = found.all.1.max(at + 1);
            if found.rule.makes != Makes::Nothing {
                floor = at;
                all.push(found);
            }
        }
        all
    }

    /// Of the patterns that begin at `at`, the best match.
    fn best(&self, at: usize, floor: usize, last: Option<&PatternMatch>) -> Option<PatternMatch<'static>> {
        let rules = self.acts.rules_at(&self.words[at]);
        let found = rules.filter_map(|rule| self.matched(rule, at, floor));
        let fits = found.filter(|found| self.is_placed(found, floor, last));
        let fits = fits.filter(|found| ablation::admits("acts", &found.rule.makes));
        // Of equal ones, the first of the table.
        fits.reduce(|best, other| if weight(&other) > weight(&best) { other } else { best })
    }

    fn matched(&self, rule: &'static ActRule, at: usize, floor: usize) -> Option<PatternMatch<'static>> {
        let leads = matches!(rule.elements.first(), Some(Element::Hole { .. }));
        let mut partial = Partial::default();
        let mut start = at;
        if let (true, Some(Element::Hole { hole, .. })) = (leads, rule.elements.first()) {
            let before = self.hole_before(at, floor, *hole)?;
            // Words in a hole that is not needed are content.
            start = if *hole == Hole::Passed { at } else { before.0 };
            partial.fill(*hole, before);
        }
        let elements = &rule.elements[usize::from(leads)..];
        let hole_end = |hole, at| self.hole_end(hole, at, rule.makes);
        let (end, mut partial) = self.step(rule, elements, at, partial, &hole_end)?;
        partial.named = trimmed(partial.named, |words| self.trimmed(words, Hole::Named))?;
        partial.given = trimmed(partial.given, |words| self.trimmed(words, Hole::Given))?;
        let is_open = rule.elements.iter().any(|element| matches!(element, Element::Hole { .. } | Element::Ahead));
        let [first, second] = partial.runs;
        let stripped = || first.into_iter().chain(second).find_map(|run| self.cue(run, leads));
        let cue = if is_open { stripped().or(first)? } else { first? };
        Some(PatternMatch {
            rule,
            all: (start, partial.end.unwrap_or(end)),
            cue,
            named: partial.named,
            given: partial.given,
            number: partial.number,
            said: partial.said,
        })
    }

    /// A run of words without the article at its end and, behind a hole, without the particle before it; `None` if
    /// nothing is left.
    fn cue(&self, (mut start, mut end): WordRange, is_behind: bool) -> Option<WordRange> {
        if let Some(length) = self.phrase(start, &[PhraseRole::Article]).filter(|_| is_behind) {
            start += length;
        }
        while let Some(last) = (start..end).find(|at| self.phrase(*at, &[PhraseRole::Article]) == Some(end - at)) {
            end = last;
        }
        (start < end).then_some((start, end))
    }

    /// Matches `elements` from `at` on, and returns where they end. `hole_end` says where a hole ends that nothing
    /// follows.
    fn step(
        &self,
        rule: &ActRule,
        elements: &[Element],
        at: usize,
        partial: Partial,
        hole_end: &dyn Fn(Hole, usize) -> Option<usize>,
    ) -> Option<(usize, Partial)> {
        let Some((element, behind)) = elements.split_first() else { return Some((at, partial)) };
        let is_first = partial.said == 0;
        let next = |end: usize, partial: Partial| self.step(rule, behind, end, partial, hole_end);
        match element {
            Element::Ahead => next(at, Partial { end: Some(at), run_is_over: true, ..partial }),
            Element::Words { any, is_optional, may_be_apart } => {
                let joined = is_first || *may_be_apart || self.words.get(at).is_some_and(|word| !word.is_apart);
                let said = any.iter().filter(|phrase| joined && self.says(phrase, at));
                let found = said.map(|phrase| at + phrase.len()).find_map(|end| next(end, partial.say(at, end)));
                found.or_else(|| if *is_optional { next(at, partial) } else { None })
            }
            Element::Number | Element::Ordinal | Element::Dotted | Element::Letter => {
                let word = self.words.get(at).filter(|word| is_first || !word.is_apart)?;
                let number = self.counted(element, word)?;
                let mut partial = partial.say(at, at + 1);
                partial.number = Some(number);
                if rule.makes == Makes::Portion {
                    partial.named = Some((at, at + 1));
                }
                next(at + 1, partial)
            }
            Element::Hole { hole, may_be_apart } => {
                self.words.get(at).filter(|word| is_first || *may_be_apart || !word.is_apart)?;
                let partial = Partial { run_is_over: true, ..partial };
                if behind.is_empty() {
                    let end = hole_end(*hole, at)?;
                    return next(end, partial.filled(*hole, (at, end)));
                }
                let last = (at + LONGEST).min(self.words.len());
                (at + 1..=last)
                    .take_while(|end| !self.breaks_within(at, end - 1))
                    .find_map(|end| next(end, partial.filled(*hole, (at, end))))
            }
        }
    }

    /// True if a clause ends before `at`, which is behind `from`.
    fn breaks_within(&self, from: usize, at: usize) -> bool {
        at > from && self.words[at].is_apart || self.phrase(at, &[PhraseRole::But]).is_some()
    }

    fn says(&self, phrase: &[String], at: usize) -> bool {
        let Some(said) = self.words.get(at..at + phrase.len()) else { return false };
        phrase
            .iter()
            .zip(said)
            .enumerate()
            .all(|(index, (word, said))| *word == said.text && (index == 0 || !said.is_apart))
    }

    fn counted(&self, element: &Element, word: &Word) -> Option<usize> {
        match element {
            Element::Number => self.acts.number(word),
            Element::Ordinal => self.acts.ordinal(word),
            Element::Dotted => self.acts.number(word).filter(|_| word.is_dotted),
            Element::Letter => match word.text.as_bytes() {
                [letter @ b'a'..=b'f'] => Some(usize::from(letter - b'a') + 1),
                _ => None,
            },
            Element::Words { .. } | Element::Hole { .. } | Element::Ahead => None,
        }
    }

    /// The end of a thing or value that begins at `at`: before another clause, another move, or politeness. `None` if
    /// that is too far away for a thing.
    fn hole_end(&self, hole: Hole, at: usize, makes: Makes) -> Option<usize> {
        let last = (at + LONGEST).min(self.words.len());
        for end in at + 1..=last {
            let Some(word) = self.words.get(end) else { return Some(end) };
            let joint = self.phrase(end, &[PhraseRole::And]);
            let goes_on = hole == Hole::Named && word.is_apart && self.is_listed(end, makes);
            let goes_on = ablation::holds("acts.listed", goes_on);
            let is_over = word.is_apart && !goes_on
                || self.phrase(end, &[PhraseRole::But]).is_some()
                || self.polite[end]
                || joint.is_some_and(|length| self.opens(end + length, makes));
            if is_over {
                return Some(end);
            }
        }
        None
    }

    /// True behind a comma if another item of the same list follows: ", the onions and the cheese".
    fn is_listed(&self, at: usize, makes: Makes) -> bool {
        let after = at + self.phrase(at, &[PhraseRole::And]).unwrap_or(0);
        self.words[at - 1].asked.is_none()
            && self.phrase(after, &[PhraseRole::Article]).is_some()
            && !self.opens(after, makes)
    }

    /// True if a move seems to begin at `at`. Looks at no more than one pattern.
    fn opens(&self, at: usize, after: Makes) -> bool {
        let Some(word) = self.words.get(at) else { return false };
        self.acts.rules_at(word).any(|rule| {
            let is_placed = match rule.place {
                PatternPlace::End => false,
                PatternPlace::Further => after == Makes::Change,
                PatternPlace::Alone | PatternPlace::Clause | PatternPlace::Aside => self.closes_with(rule, at),
                PatternPlace::Start | PatternPlace::Before | PatternPlace::Anywhere => true,
            };
            let begins_so = !matches!(rule.elements.first(), Some(Element::Hole { .. }));
            is_placed && begins_so && self.ends(rule, at).is_some()
        })
    }

    fn ends(&self, rule: &ActRule, at: usize) -> Option<usize> {
        let one = |_, at| Some(at + 1);
        self.step(rule, &rule.elements, at, Partial::default(), &one).map(|(end, _)| end)
    }

    fn closes_with(&self, rule: &ActRule, at: usize) -> bool {
        self.ends(rule, at).is_some_and(|end| self.closes(end))
    }

    /// The thing or value before `end`, back to the beginning of the clause, or to `floor`.
    fn hole_before(&self, end: usize, floor: usize, hole: Hole) -> Option<WordRange> {
        let mut start = end;
        while start > floor {
            if start < end && self.words[start].is_apart {
                break;
            }
            let before = start - 1;
            let joins = |role| self.phrase(before, &[role]).is_some();
            if joins(PhraseRole::But) || (hole == Hole::Given && joins(PhraseRole::And)) {
                break;
            }
            if end - before > LONGEST {
                return None;
            }
            start = before;
        }
        if end < self.words.len() && self.words[end].is_apart {
            return None;
        }
        let before = &[PhraseRole::Filler, PhraseRole::Lead, PhraseRole::Answer, PhraseRole::And];
        while let Some(length) = self.phrase(start, before).filter(|_| start < end) {
            start += length;
        }
        (start < end).then_some((start, end))
    }

    /// The words without politeness at their ends and, if a thing is named, without articles before it.
    fn trimmed(&self, (mut start, mut end): WordRange, hole: Hole) -> Option<WordRange> {
        let before: &[PhraseRole] =
            if hole == Hole::Named { &[PhraseRole::Filler, PhraseRole::Article] } else { &[PhraseRole::Filler] };
        while let Some(length) = self.phrase(start, before).filter(|length| start + length < end) {
            start += length;
        }
        let ends_politely = |end: usize| {
            let lengths = 1..(end - start);
            lengths.rev().find(|length| self.phrase(end - length, &[PhraseRole::Filler]) == Some(*length))
        };
        while let Some(length) = ends_politely(end) {
            end -= length;
        }
        (start < end && self.phrase(start, &[PhraseRole::Filler]) != Some(end - start)).then_some((start, end))
    }

    fn phrase(&self, at: usize, roles: &[PhraseRole]) -> Option<usize> {
        if self.words.get(at).is_some_and(is_sign) {
            return roles.contains(&PhraseRole::Filler).then_some(1);
        }
        self.acts.phrase(self.words, at, roles).filter(|length| *length > 1 || !self.is_syllable(at))
    }

    /// True for one kana of a longer word; it is not a particle: the first of "かばん".
    fn is_syllable(&self, at: usize) -> bool {
        let is_kana = |at: usize| self.words.get(at).is_some_and(is_kana);
        let goes_on = |at: usize| is_kana(at) && !self.words[at].is_apart;
        let is_polite = || self.acts.phrase(self.words, at + 1, &[PhraseRole::Filler]).is_some_and(|length| length > 1);
        let is_syllable = is_kana(at) && (at > 0 && is_kana(at - 1) && goes_on(at) || goes_on(at + 1) && !is_polite());
        ablation::holds("acts.syllable", is_syllable)
    }

    /// A clause may end before `at`.
    fn closes(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|word| word.is_apart || is_sign(word))
            || self.phrase(at, &[PhraseRole::And, PhraseRole::But]).is_some()
            || self.polite[at]
    }

    fn is_placed(&self, found: &PatternMatch, floor: usize, last: Option<&PatternMatch>) -> bool {
        let (start, end) = found.all;
        let leads = matches!(found.rule.elements.first(), Some(Element::Hole { .. }));
        let begins = leads || self.starts[start] || start == floor;
        match found.rule.place {
            PatternPlace::Alone | PatternPlace::Clause => begins && self.closes(end),
            PatternPlace::Aside => begins && self.closes(end) && self.content[end],
            PatternPlace::Start => begins,
            PatternPlace::Before => begins && self.content[end],
            PatternPlace::End => self.closes(end) && self.is_behind_content(start),
            PatternPlace::Anywhere => true,
            PatternPlace::Further => last.is_some_and(|last| {
                let joint = self.phrase(last.all.1, &[PhraseRole::And]).unwrap_or(0);
                last.rule.makes == Makes::Change && last.given.is_some() && start == last.all.1 + joint
            }),
        }
    }

    fn is_behind_content(&self, at: usize) -> bool {
        let mut first = 0;
        while let Some(length) = self.phrase(first, &[PhraseRole::Filler]).filter(|_| first < LONGEST) {
            first += length;
        }
        first < at
    }

    /// The move that a pattern makes. `beside` is true if content stands beside the moves.
    fn made(&self, found: &PatternMatch, beside: bool) -> Option<Move> {
        let span = |(start, end): WordRange| Span::new(self.words[start].span.start, self.words[end - 1].span.end);
        let (named, given) = (found.named.map(span), found.given.map(span));
        let kind = match found.rule.makes {
            Makes::Cancel => MoveKind::Cancel,
            Makes::Keep => MoveKind::Keep,
            Makes::Restart => MoveKind::Restart,
            Makes::Unknown => MoveKind::Unknown,
            Makes::Skip => MoveKind::Skip,
            Makes::Correct => MoveKind::Correct,
            Makes::Change => MoveKind::Change { what: named?, to: given },
            Makes::Replace => MoveKind::Replace { old: named?, new: given? },
            Makes::Remove => MoveKind::Remove { what: named? },
            Makes::Add => MoveKind::Add,
            Makes::PickNumbered => MoveKind::Pick(Pick::Nth(found.number?)),
            Makes::PickFirst => MoveKind::Pick(Pick::Nth(1)),
            Makes::PickLast => MoveKind::Pick(Pick::Last),
            Makes::PickAll => MoveKind::Pick(Pick::All),
            Makes::PickBoth => MoveKind::Pick(Pick::Both),
            Makes::PickNone => MoveKind::Pick(Pick::None),
            Makes::PickEither => MoveKind::Pick(Pick::Either),
            Makes::PickOther => MoveKind::Pick(Pick::Other),
            Makes::Portion => MoveKind::Portion { count: named?, rest: given? },
            Makes::Resume => MoveKind::Resume,
            Makes::Recall => MoveKind::Recall,
            Makes::Nothing => return None,
        };
        let mut confidence = found.rule.sure;
        if ablation::holds("acts.beside_content", beside && found.rule.place == PatternPlace::Clause) {
            confidence = match found.rule.makes {
                // "Not sure, maybe 9": there is a value.
                Makes::Unknown | Makes::Skip => not_to_be_acted_on(confidence),
                Makes::Cancel | Makes::Restart => confidence * BESIDE.score(),
                makes if is_pick(makes) => confidence * BESIDE.score(),
                _ => confidence,
            };
        }
        // "Actually, when do you close?"
        if ablation::holds("acts.asks_behind", found.rule.makes == Makes::Correct && self.asks_behind(found.all.1)) {
            confidence = not_to_be_acted_on(confidence);
        }
        Some(Move { kind, cue: span(found.cue), confidence })
    }

    fn asks_behind(&self, at: usize) -> bool {
        self.words[at..].iter().take(LONGEST).any(|word| word.asked.is_some())
    }

    /// What is said beside these moves: from the first meaningful word to the last.
    fn rest(&self, found: &[PatternMatch]) -> Option<Span> {
        let mut moves = found.iter().map(|found| found.all).peekable();
        let (mut at, mut first, mut last) = (0, None, 0);
        while at < self.words.len() {
            while moves.next_if(|(_, end)| *end <= at).is_some() {}
            if let Some((_, end)) = moves.peek().filter(|(start, _)| *start <= at) {
                at = *end;
                continue;
            }
            let next = moves.peek().map_or(self.words.len(), |(start, _)| *start);
            // The ending of a verb belongs to the verb.
            let is_ending = first.is_some() && last + 1 == at && !self.words[at].is_apart;
            let is_verb = is_ending && is_kana(&self.words[last]) && is_kana(&self.words[at]);
            if let Some(end) = self.passed(at, next).filter(|_| !is_verb) {
                at = end;
                continue;
            }
            first = first.or(Some(at));
            last = at;
            at += 1;
        }
        let (first, last) = (&self.words[first?], &self.words[last]);
        Some(Span::new(first.span.start, last.asked.unwrap_or(last.span.end)))
    }

    /// The end of empty words that begin at `at`: politeness, conjunctions, yes and no that stand apart, and words that
    /// lead to the move at `next`.
    fn passed(&self, at: usize, next: usize) -> Option<usize> {
        if let Some(length) = self.phrase(at, &[PhraseRole::Filler, PhraseRole::And, PhraseRole::But]) {
            return Some(at + length);
        }
        let is_answer = |length: usize| self.starts[at] && (at + length == next || self.closes(at + length));
        if let Some(length) = self.phrase(at, &[PhraseRole::Answer]).filter(|length| is_answer(*length)) {
            return Some(at + length);
        }
        let mut end = at;
        while let Some(length) =
            self.phrase(end, &[PhraseRole::Lead, PhraseRole::Filler]).filter(|_| end < next.min(at + LONGEST))
        {
            end += length;
        }
        (end > at && end == next && next < self.words.len()).then_some(end)
    }
}

const fn is_pick(makes: Makes) -> bool {
    matches!(
        makes,
        Makes::PickNumbered
            | Makes::PickFirst
            | Makes::PickLast
            | Makes::PickAll
            | Makes::PickBoth
            | Makes::PickNone
            | Makes::PickEither
            | Makes::PickOther
    )
}

/// Ranks two patterns at the same place: first by the number of words in the pattern, then patterns that make no move,
/// then by the number of words that they cover.
fn weight(found: &PatternMatch) -> (usize, bool, usize) {
    (found.said, found.rule.makes == Makes::Nothing, found.all.1 - found.all.0)
}

/// A hole that was filled must not be empty after trimming; a missing hole is fine.
#[expect(clippy::option_option, reason = "no hole, a hole that holds, and a hole that does not")]
fn trimmed(words: Option<WordRange>, trim: impl Fn(WordRange) -> Option<WordRange>) -> Option<Option<WordRange>> {
    match words {
        Some(words) => trim(words).map(Some),
        None => Some(None),
    }
}

/// Where the marks behind an aside end, within the gap to the next word: at the last blank of the gap, or at its end if
/// it has none.
fn passed_marks(text: &[char], (from, to): WordRange) -> usize {
    let blank = text[from..to].iter().rposition(|mark| mark.is_whitespace());
    blank.map_or(to, |at| from + at + 1)
}

/// Where the commas before an aside begin, within the gap behind the last word. A mark that ends a sentence stays.
fn passed_commas(text: &[char], (from, to): WordRange) -> usize {
    let is_passed = |mark: &char| mark.is_whitespace() || matches!(mark, ',' | '、' | '，' | ';' | '-' | '–' | '—');
    let passed = text[from..to].iter().rev().take_while(|mark| is_passed(mark)).count();
    to - passed
}

fn is_kana(word: &Word) -> bool {
    word.text.starts_with(|letter| matches!(letter, '\u{3041}'..='\u{309F}'))
}

fn is_sign(word: &Word) -> bool {
    !word.text.chars().any(char::is_alphanumeric)
}

impl Partial {
    fn say(self, at: usize, end: usize) -> Self {
        let mut runs = self.runs;
        match &mut runs {
            [Some((_, last)), _] if !self.run_is_over => *last = end,
            [Some(_), Some((_, last))] if *last == at => *last = end,
            [Some(_), second @ None] => *second = Some((at, end)),
            [first @ None, _] => *first = Some((at, end)),
            _ => {}
        }
        // Words that were only looked at count too: the more a pattern demands, the better it fits.
        Self { runs, said: self.said + end - at, ..self }
    }

    const fn fill(&mut self, hole: Hole, words: WordRange) {
        match hole {
            Hole::Named => self.named = Some(words),
            Hole::Given => self.given = Some(words),
            Hole::Passed => {}
        }
    }

    const fn filled(mut self, hole: Hole, words: WordRange) -> Self {
        self.fill(hole, words);
        self
    }
}
