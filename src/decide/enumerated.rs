//! Several values of a slot that takes only one: "check W1919 and W1920" asks for two calls, and "move 245001 to Friday
//! and 245002 to Monday" for two with two values each. The words around the values belong to each of them.

use crate::{
    ablation,
    call::SlotValue,
    decide::{analysis::Analysis, outcome::Frame, situation::Situation, vocabulary::words_of},
    language::Language,
    module::{FunctionId, RecognizerId, RecognizerKind},
    probability::EVEN,
    recognize::{Mention, reply},
    text::Span,
};

/// The most values that are told apart.
const MOST: usize = 8;

/// The utterance once for each of the values, without the others. Empty unless a slot of `frame` that takes one value
/// was filled with one of several.
pub(super) fn requests(situation: &Situation<'_>, frame: &Frame) -> Vec<(Span, Analysis)> {
    let groups = frame.slots.iter().find_map(|slot| {
        let taken = slot.span.filter(|_| !slot.path().is_repeated())?;
        let known =
            situation.mentions().iter().find(|one| one.span == taken && is_of_list(situation, one.recognizer))?;
        groups(situation, frame.function, known)
    });
    let groups = ablation::found("enumerated", groups).unwrap_or_default();
    let only = |own: &Span| (*own, without(situation.analysis, &groups, *own));
    groups.iter().map(only).collect()
}

/// True if the slot takes one value, and its free text, which no exemplar shows, holds or stands beside several joined
/// names: "for Oslo, Rome and Lima". One name may contain a conjunction ("Trinidad and Tobago"), so only the person can
/// tell.
pub(super) fn may_be_several(situation: &Situation<'_>, frame: &Frame) -> bool {
    let definition = situation.knowledge.module.function(frame.function);
    let is_of_names = |slot: &&SlotValue| {
        let own = definition.slot_of(&slot.pointer).filter(|id| !definition.slot(*id).path.is_repeated());
        slot.recognizer.is_none() && own.is_some_and(|id| !definition.shows(id))
    };
    let values: Vec<Span> = frame.slots.iter().filter_map(|slot| slot.span).collect();
    let texts = frame.slots.iter().filter(is_of_names).filter_map(|slot| slot.span);
    texts.into_iter().any(|span| joins_names(situation, span, &values))
}

/// True if names stand on both sides of a conjunction in the span or right beside it. Three or more words divided by
/// commas and a conjunction count as names even if nothing in the utterance is capitalized.
fn joins_names(situation: &Situation<'_>, span: Span, values: &[Span]) -> bool {
    let utterance = situation.utterance();
    let joints = &Language::or_english(language(situation)).words.joints;
    let words = utterance.words();
    let is_joint = |word: Span| joints.conjunctions.contains(&utterance.folded_in(word));
    let is_other = |word: Span| values.iter().any(|value| *value != span && value.overlaps(word));
    let is_name = |word: Span| utterance.slice(word).starts_with(char::is_uppercase) && !is_other(word);
    let is_comma = |at: usize| utterance.slice(Span::new(words[at - 1].end, words[at].start)).contains([',', ';']);
    let from = words.partition_point(|word| word.end <= span.start);
    let to = words.partition_point(|word| word.start < span.end);
    // Where the list goes on: to a name behind a conjunction inside the span, behind commas and names, or right behind
    // the span.
    let within = |range: std::ops::Range<usize>| {
        range.into_iter().any(|at| {
            at > from && is_joint(words[at]) && at + 1 < to && is_name(words[at - 1]) && is_name(words[at + 1])
        })
    };
    let behind = |mut at: usize| {
        let is_first = |at: usize| words.get(at).is_some_and(|word| is_name(*word));
        while at < words.len() && is_first(at) && (at == to && is_comma(at) || at > to) && !is_joint(words[at]) {
            at += 1;
        }
        words.get(at).is_some_and(|word| is_joint(*word)) && is_first(at + 1) && is_name(words[to - 1])
    };
    let before = || {
        let joint = from.checked_sub(1).filter(|at| is_joint(words[*at]));
        joint
            .and_then(|at| at.checked_sub(1))
            .is_some_and(|at| is_name(words[at]) && from < words.len() && is_name(words[from]))
    };
    let commas = (from + 1..to).filter(|at| is_comma(*at)).count();
    let is_list = commas > 0 && (from + 1..to).any(|at| is_joint(words[at]));
    from < to && (within(from..to) || behind(to) || before() || is_list)
}

/// True of what an author listed or gave a pattern for. Two days or two numbers side by side may be one value.
fn is_of_list(situation: &Situation<'_>, recognizer: RecognizerId) -> bool {
    let kind = &situation.knowledge.module.recognizer(recognizer).kind;
    matches!(kind, RecognizerKind::List(_) | RecognizerKind::Pattern(_))
}

/// For each of several values of one recognizer, where it stands together with what is said of it alone; `None` unless
/// words join all of them.
fn groups(situation: &Situation<'_>, function: FunctionId, known: &Mention) -> Option<Vec<Span>> {
    let found = || situation.mentions().iter().filter(|one| one.score >= EVEN);
    let is_denied = |span: Span| situation.negations().iter().any(|one| one.scope.overlaps(span));
    // "Squash and merge 502": words of the function's own templates are not one of several values.
    let is_own = |one: &&Mention| {
        let vocabulary = &situation.knowledge.vocabulary;
        words_of(&one.text).iter().all(|word| vocabulary.literal(function, word) > 0.0)
    };
    let mut values: Vec<&Mention> = found().filter(|one| one.recognizer == known.recognizer && !is_own(one)).collect();
    values.sort_by_key(|one| one.span);
    values.dedup_by(|next, one| next.span.overlaps(one.span));
    let is_each_new = (1..values.len()).all(|at| values[..at].iter().all(|one| one.value != values[at].value));
    if !(2..=MOST).contains(&values.len()) || !is_each_new || values.iter().any(|one| is_denied(one.span)) {
        return None;
    }
    let mut groups: Vec<Span> = Vec::new();
    // The recognizers of the values that are said beside one value alone: they must be the same for each.
    let mut beside: Option<Vec<RecognizerId>> = None;
    for (at, value) in values.iter().enumerate() {
        let end = values.get(at + 1).map_or(situation.utterance().len(), |next| next.span.start);
        let joint = match values.get(at + 1) {
            Some(_) => joint_within(situation, Span::new(value.span.end, end))?,
            None => end,
        };
        let mut own: Vec<&Mention> =
            found().filter(|one| value.span.end <= one.span.start && one.span.end <= joint).collect();
        if let Some(beside) = &beside {
            own.retain(|one| beside.contains(&one.recognizer));
        }
        let mut kinds: Vec<RecognizerId> = own.iter().map(|one| one.recognizer).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if *beside.get_or_insert_with(|| kinds.clone()) != kinds {
            return None;
        }
        let last = own.iter().map(|one| one.span.end).max().unwrap_or(value.span.end);
        // Words of a separate request stand before the joint: "check W1919 for scratches and W1920".
        let is_said = |word: &&Span| {
            let is_known = own.iter().any(|one| one.span.overlaps(**word));
            !is_known && !reply::says_nothing(language(situation), &situation.utterance().meant(**word))
        };
        let within = Span::new(value.span.end, if at + 1 < values.len() { joint } else { last });
        let mut words = situation.utterance().words().iter().filter(|word| within.contains(**word));
        if words.any(|word| is_said(&word)) {
            return None;
        }
        groups.push(Span::new(value.span.start, last));
    }
    Some(groups)
}

/// Where the words that join two values begin, if only such words stand before the second one: "and", "und dann auch
/// den von".
fn joint_within(situation: &Situation<'_>, gap: Span) -> Option<usize> {
    let utterance = situation.utterance();
    let joints = &Language::or_english(language(situation)).words.joints;
    let words: Vec<&Span> = utterance.words().iter().filter(|word| gap.contains(**word)).collect();
    let joins = |word: &str| joints.conjunctions.iter().chain(&joints.sequences).any(|joint| joint == word);
    let at = words.iter().rposition(|word| joins(&utterance.folded_in(**word)));
    let says_nothing = |word: &&&Span| reply::says_nothing(language(situation), &utterance.meant(***word));
    match at {
        Some(at) => words[at + 1..].iter().all(|word| says_nothing(&word)).then_some(words[at].start),
        None => (words.is_empty() && utterance.slice(gap).contains([',', '、'])).then_some(gap.start),
    }
}

fn language<'a>(situation: &Situation<'a>) -> &'a str {
    situation.knowledge.module.language()
}

/// The utterance with only one of the groups.
fn without(analysis: &Analysis, groups: &[Span], own: Span) -> Analysis {
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else { return analysis.clone() };
    let is_kept = |span: Span| own.contains(span) || span.end <= first.start || last.end <= span.start;
    Analysis {
        utterance: analysis.utterance.keeping(|at| is_kept(Span::new(at, at + 1))),
        mentions: analysis.mentions.iter().filter(|one| is_kept(one.span)).cloned().collect(),
        told_apart: analysis.told_apart.iter().filter(|one| is_kept(one.span)).cloned().collect(),
        clauses: Vec::new(),
        ..analysis.clone()
    }
}
