//! An utterance that only names what several functions are about: "card", "the payments". It does not say what is to be
//! done.

use crate::{
    decide::situation::Situation,
    module::FunctionId,
    recognize::{ARTICLE, reply},
    retrieve::Candidate,
    text::Span,
};

/// The functions that share the only word that says something, likeliest first; empty unless there are several.
pub(super) fn shared(situation: &Situation<'_>) -> Vec<FunctionId> {
    let Some(word) = only_word(situation) else { return Vec::new() };
    let said = situation.utterance().folded_in(word);
    let (module, vocabulary) = (&situation.knowledge.module, &situation.knowledge.vocabulary);
    let is_about = |function: &FunctionId| match module.function(*function).exemplars.is_empty() {
        true => vocabulary.has(*function, &said),
        false => vocabulary.literal(*function, &said) > 0.0,
    };
    let candidates = situation.candidates().iter().filter(|candidate| candidate.score > 0.0);
    let functions: Vec<FunctionId> = candidates.map(|one: &Candidate| one.function).filter(is_about).collect();
    if functions.len() > 1 { functions } else { Vec::new() }
}

/// The only word that says something, unless it may be a value.
fn only_word(situation: &Situation<'_>) -> Option<Span> {
    let (utterance, language) = situation.said();
    let mut words =
        utterance.words().iter().filter(|word| !reply::says_nothing(language, &utterance.folded_in(**word)));
    let word = *words.next().filter(|_| words.next().is_none())?;
    let is_value = situation.mentions().iter().any(|one| one.score > ARTICLE.score() && one.span.overlaps(word));
    (!is_value).then_some(word)
}
