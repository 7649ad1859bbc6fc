//! The reply to "did you mean this or that?": the earlier request is then read as one for the chosen function.

use crate::{
    ablation,
    conversation::Act,
    decide::{bars::bars, local, outcome::Decision, reading::Reading, situation::Situation},
    dialogue::{
        interpretation::{Dialogue, Interpretation},
        new_request::{new_request, said_before},
        open_form::{ANSWERED, said},
    },
    module::{FunctionId, Module},
    recognize::acts::{ACTS, MoveKind, Pick},
    text::{Utterance, fold},
};

/// `functions` are the offered functions, and `utterance` is the earlier request for one of them.
pub(crate) fn choice_reply(dialogue: &Dialogue<'_>, functions: &[String], utterance: &str) -> Interpretation {
    let module = dialogue.module();
    let tied: Vec<FunctionId> = functions.iter().filter_map(|name| module.function_named(name)).collect();
    let acts = &dialogue.situation.analysis.acts;
    let does = |kind: MoveKind| acts.rest.is_none() && acts.moves.iter().any(|one| one.kind == kind);
    if does(MoveKind::Pick(Pick::None)) {
        // Something else was meant, but it is not known what.
        return Interpretation::of(Vec::new(), ACTS);
    }
    if does(MoveKind::Cancel) {
        return Interpretation::of(vec![Act::Forget { functions: functions.to_vec() }], ACTS);
    }
    let picked = acts.moves.iter().find_map(|one| match one.kind {
        MoveKind::Pick(Pick::Nth(nth)) => tied.get(nth.checked_sub(1)?).copied(),
        MoveKind::Pick(Pick::Last) => tied.last().copied(),
        _ => None,
    });
    if let Some(function) = ablation::found("choice.picked", picked) {
        let acts = chosen(dialogue, function, utterance).into_iter().collect();
        return Interpretation::of(acts, ANSWERED.score());
    }
    let mut other = new_request(dialogue, &dialogue.situation, &dialogue.state.forms);
    let is_other = |act: &Act| matches!(act, Act::Inform { function, .. } if !tied.contains(function));
    if ablation::holds("choice.other", other.acts.iter().any(is_other) && other.meant >= bars().otherwise) {
        return other;
    }
    let named = ablation::found("choice.named", named(module, &tied, dialogue.situation.utterance().text()));
    let Some(function) = named else {
        other.acts.clear();
        return Interpretation { tied, ..other };
    };
    let mut found = Interpretation { task: None, ..other };
    found.confidence = chosen_among(dialogue, &tied).confidence;
    found.acts = chosen(dialogue, function, utterance).into_iter().chain(beside(dialogue, function)).collect();
    found
}

/// The values for the chosen function in the earlier request.
fn chosen(dialogue: &Dialogue<'_>, function: FunctionId, utterance: &str) -> Option<Act> {
    let said = said_before(dialogue, utterance, function)?;
    Some(Act::Inform { function, said, another: false })
}

/// The decision for the utterance, if it means one of these functions.
fn chosen_among(dialogue: &Dialogue<'_>, tied: &[FunctionId]) -> Decision {
    let situation = &dialogue.situation;
    let pool = dialogue.pool(Some(tied), situation.expected);
    let analysis = situation.analysis.among(situation.knowledge, pool);
    local::decide(&Situation { is_demanded: true, ..situation.within(&analysis) })
}

/// Values may stand beside the choice: "the second one, for tomorrow".
fn beside(dialogue: &Dialogue<'_>, function: FunctionId) -> Option<Act> {
    let given = Situation { given: Some(function), ..dialogue.situation };
    let (frame, _) = Reading::new(&given, function).judged(&given);
    let mut said = said(&frame, dialogue.state.turn, None);
    said.values.retain(|value| value.recognizer.is_some());
    said.invalid.clear();
    Some(Act::Inform { function, said, another: false })
}

/// The only one of several functions whose name or description has a word of the reply that the others lack.
fn named(module: &Module, tied: &[FunctionId], reply: &str) -> Option<FunctionId> {
    let words_of = |text: &str| -> Vec<String> {
        let text = Utterance::new(&fold(text).replace(['_', '-', '.'], " "));
        text.words().iter().map(|word| text.slice(*word).to_owned()).collect()
    };
    let own: Vec<Vec<String>> = tied
        .iter()
        .map(|id| {
            let function = module.function(*id);
            [words_of(&function.name), words_of(&function.description)].concat()
        })
        .collect();
    let said = words_of(reply);
    let hits = |index: usize| {
        let is_own = |word: &&String| {
            let in_others = own.iter().enumerate().any(|(other, words)| other != index && words.contains(*word));
            own[index].contains(*word) && !in_others
        };
        said.iter().filter(is_own).count()
    };
    let mut ranked: Vec<(usize, usize)> = (0..tied.len()).map(|index| (hits(index), index)).collect();
    ranked.sort_by(|a, b| b.cmp(a));
    match ranked.as_slice() {
        [(best, index), (next, _), ..] if best > next => tied.get(*index).copied(),
        _ => None,
    }
}
