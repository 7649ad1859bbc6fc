//! Functions that people call by one name: only their slots distinguish them.

use crate::{
    call::SlotValue,
    decide::{bars::bars, reading::Reading, situation::Situation},
    module::{Function, FunctionId, squeeze},
    text::fold,
};

/// True if the two share the last part of their names (`people.transfer`, `banks.transfer`), or have the same summary.
pub(crate) fn alike(situation: &Situation<'_>, one: FunctionId, other: FunctionId) -> bool {
    let module = &situation.knowledge.module;
    one != other && share_a_name(module.function(one), module.function(other))
}

fn share_a_name(one: &Function, other: &Function) -> bool {
    let last = |function: &Function| squeeze(function.name.rsplit(['.', '/', ':']).next().unwrap_or_default());
    let (first, second) = (fold(summary(one)), fold(summary(other)));
    last(one) == last(other) || !first.is_empty() && first == second
}

/// The first sentence of a function's description, without its full stop; may be empty.
pub(crate) fn summary(function: &Function) -> &str {
    let text = function.description.trim_start();
    let end = text
        .char_indices()
        .find(|(at, character)| match character {
            '\n' | '。' => true,
            // The full stop of "v1.2" does not end the sentence.
            '.' => text[at + 1..].chars().next().is_none_or(char::is_whitespace),
            _ => false,
        })
        .map_or(text.len(), |(at, _)| at);
    text[..end].trim()
}

/// What to add to the score of each reading: 0 unless some of them are near-duplicates. Those get the same score, and
/// are then ranked by how well their slots fit.
pub(crate) fn changes(situation: &Situation<'_>, readings: &[Reading<'_>], scores: &[f32]) -> Vec<f32> {
    let rivals = |index: usize| {
        let rival = move |other: &usize| alike(situation, readings[index].function, readings[*other].function);
        (0..readings.len()).filter(rival)
    };
    let has_rivals: Vec<bool> = (0..readings.len()).map(|index| rivals(index).next().is_some()).collect();
    let fits: Vec<f32> =
        readings.iter().zip(&has_rivals).map(|(one, has)| if *has { fit(situation, one) } else { 0.0 }).collect();
    let best = |of: &[f32], index: usize| rivals(index).map(|other| of[other]).fold(of[index], f32::max);
    (0..readings.len())
        .map(|index| {
            let level = (best(scores, index) - scores[index]).min(bars().blur);
            level - bars().misfit * (best(&fits, index) - fits[index])
        })
        .collect()
}

/// How well the slots fit, 0 to 1: a value that a recognizer knows counts twice as much as free text.
#[expect(clippy::cast_precision_loss, reason = "a function has a few slots")]
fn fit(situation: &Situation<'_>, reading: &Reading<'_>) -> f32 {
    let (frame, _) = reading.judged(situation);
    let is_known = |slot: &&SlotValue| slot.recognizer.is_some();
    let known = frame.slots.iter().filter(is_known).count() as f32 / frame.slots.len().max(1) as f32;
    reading.support() * f32::midpoint(1.0, known)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::decide::near_duplicates::*;

    fn function(name: &str, description: &str) -> Function {
        Function {
            name: name.to_owned(),
            wire_name: name.to_owned(),
            description: description.to_owned(),
            parameters: json!({}),
            slots: Vec::new(),
            exemplars: Vec::new(),
            operation: None,
            request: None,
            endpoint: None,
            effect: crate::module::KnownEffect::default(),
        }
    }

    #[test]
    fn a_summary_is_one_sentence() {
        for (description, expected) in [
            ("Transfer money. To anybody.", "Transfer money"),
            ("Uses v1.2 of the API", "Uses v1.2 of the API"),
            (" First line\nsecond", "First line"),
            ("天気を調べる。都市別。", "天気を調べる"),
            ("", ""),
        ] {
            assert_eq!(summary(&function("f", description)), expected);
        }
    }

    #[test]
    fn names_are_shared_by_their_last_part_or_by_what_they_mean() {
        for (one, other, expected) in [
            (("people.transfer", ""), ("banks.Transfer", ""), true),
            (("send", "Transfer money."), ("pay", "transfer money. Abroad, too."), true),
            (("send", ""), ("pay", ""), false),
            (("people.transfer", "Transfer to people"), ("people.ask", "Ask people"), false),
        ] {
            assert_eq!(
                share_a_name(&function(one.0, one.1), &function(other.0, other.1)),
                expected,
                "{one:?} {other:?}"
            );
        }
    }
}
