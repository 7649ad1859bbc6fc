//! Courtesies, in any language. They are passed over beside other words. A whole utterance that is a courtesy is not a
//! value, unless a list of the module or a value of an exemplar says so.

use crate::{
    ablation,
    decide::knowledge::Knowledge,
    module::RecognizerKind,
    recognize::{
        Context, Mention,
        acts::{self, Courtesy},
        certainty::Certainty,
    },
    text::{Span, Utterance},
};

/// How sure a recognizer must be of words that are also a courtesy.
const KNOWN: Certainty = Certainty::Evident;

/// The utterance without the courtesies at its ends: "Anna Meyer" of "Merci! Anna Meyer, bye". Blanks stand in their
/// place, so that spans stay.
pub(crate) fn without_courtesies(knowledge: &Knowledge, utterance: Utterance, context: &Context) -> Utterance {
    let mut asides = acts::courtesies_beside(knowledge.module.language(), utterance.text());
    if asides.is_empty() {
        return utterance;
    }
    let mentions = knowledge.recognizers.recognize(&utterance, context);
    let is_entry = |one: &&Mention| is_own(knowledge, one);
    asides.retain(|aside| !mentions.iter().filter(is_entry).any(|one| one.span.overlaps(*aside)));
    let is_aside = |at: usize| asides.iter().any(|aside| (aside.start..aside.end).contains(&at));
    match ablation::holds("courtesy.aside", !asides.is_empty()) {
        true => utterance.keeping(|at| !is_aside(at)),
        false => utterance,
    }
}

/// The courtesy that the whole utterance is, unless it is an entry of a list. `said` is the courtesy of the words as
/// they were written; `utterance` is without [the courtesies at its ends](without_courtesies).
pub(crate) fn of_whole(
    knowledge: &Knowledge,
    said: Option<Courtesy>,
    utterance: &Utterance,
    mentions: &[Mention],
) -> Option<Courtesy> {
    let language = knowledge.module.language();
    let meant = || utterance.meant(Span::new(0, utterance.len()));
    let as_meant = || if utterance.misspelt().is_empty() { None } else { acts::courtesy(language, &meant()) };
    let courtesy = said.or_else(as_meant)?;
    let is_entry = |one: &Mention| is_own(knowledge, one) && is_all(utterance, one.span);
    (!courtesy.is_no_value() || !mentions.iter().any(is_entry)).then_some(courtesy)
}

/// True of words that are not a value because the whole utterance is a courtesy; `mention` is what a recognizer found
/// in them.
pub(crate) fn is_no_value(courtesy: Option<Courtesy>, mention: Option<&Mention>) -> bool {
    match courtesy {
        // "Perfect", and "yes, thanks", may answer a yes-or-no question.
        Some(Courtesy::Praise) => mention.is_none(),
        _ if mention.is_some_and(|mention| mention.value.is_boolean()) => false,
        Some(courtesy) => courtesy.is_no_value(),
        None => false,
    }
}

/// An entry of one of the module's lists, or text that one of its patterns takes, as it is written.
fn is_own(knowledge: &Knowledge, mention: &Mention) -> bool {
    let is_builtin = matches!(knowledge.module.recognizer(mention.recognizer).kind, RecognizerKind::Builtin(_));
    !is_builtin && mention.score >= KNOWN.score()
}

fn is_all(utterance: &Utterance, span: Span) -> bool {
    utterance.words().iter().all(|word| span.contains(*word))
}
