//! Finds what in a module will be confused, and how to fix it, with the vectors of its own texts.
//!
//! `uptake check` finds errors in the files; this finds things that are too similar.

use std::collections::BTreeSet;

use serde::Serialize;

use super::round_trip::{SentenceForm, SpokenTemplates, ValuesError};
use crate::{
    embed::{EmbedError, Purpose, SharedEmbedder},
    linear::dot,
    module::{FunctionId, Module, Slot, SlotKind, TemplatePiece},
};

/// An exemplar counts as nearer to another function if the cosine of its nearest exemplar is higher by this much.
const NEARER: f32 = 0.02;
/// From this cosine on, descriptions cannot be told apart.
const ALIKE: f32 = 0.92;
/// Most exemplars that are compared with one another: the work grows with their square.
const MOST_EXEMPLARS: usize = 4_000;
/// Texts that are embedded at once.
const BATCH: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum LintError {
    #[error(transparent)]
    Values(#[from] ValuesError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// One likely confusion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Lint {
    pub kind: LintKind,
    pub function: String,
    pub message: String,
    pub mend: String,
    /// Higher is worse.
    pub weight: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LintKind {
    /// Two functions have similar descriptions.
    AlikeDescriptions,
    /// An exemplar is nearer to another function's.
    NearerExemplar,
    /// No exemplar shows the position of a slot.
    UnshownSlot,
}

/// All findings, by kind and then the worst first.
///
/// # Errors
/// If the module does not compile, or the embedding fails.
pub async fn lint(module: &Module, embedder: &SharedEmbedder) -> Result<Vec<Lint>, LintError> {
    let mut found = descriptions(module, embedder).await?;
    found.extend(exemplars(module, embedder).await?);
    found.extend(unshown(module));
    found.sort_by(|one, other| one.kind.cmp(&other.kind).then(other.weight.total_cmp(&one.weight)));
    Ok(found)
}

async fn descriptions(module: &Module, embedder: &SharedEmbedder) -> Result<Vec<Lint>, LintError> {
    let described: Vec<FunctionId> =
        module.function_ids().filter(|id| !module.function(*id).description.trim().is_empty()).collect();
    let texts = described.iter().map(|id| module.function(*id).description.trim().to_owned()).collect();
    let vectors = embed(embedder, texts).await?;
    let mut found = Vec::new();
    for (at, one) in described.iter().enumerate() {
        for (index, other) in described.iter().enumerate().skip(at + 1) {
            let likeness = dot(&vectors[at], &vectors[index]);
            if likeness < ALIKE {
                continue;
            }
            let [one, other] = [one, other].map(|id| module.function(*id));
            found.push(Lint {
                kind: LintKind::AlikeDescriptions,
                function: one.name.clone(),
                message: format!(
                    "`{}` and `{}` are described alike ({likeness:.2}): {:?}, {:?}",
                    one.name,
                    other.name,
                    one.description.trim(),
                    other.description.trim()
                ),
                mend: "say in each what it does that the other does not, and when it is the one to take".to_owned(),
                weight: likeness,
            });
        }
    }
    Ok(found)
}

/// Exemplars with values filled in, so that marks do not make them similar.
async fn exemplars(module: &Module, embedder: &SharedEmbedder) -> Result<Vec<Lint>, LintError> {
    let mut said = SpokenTemplates::new(module, 1)?;
    let mut all: Vec<(FunctionId, &str, String)> = Vec::new();
    for id in module.function_ids() {
        for exemplar in &module.function(id).exemplars {
            if let Some(filled) = said.say(id, exemplar, SentenceForm::Plain) {
                all.push((id, &exemplar.template, filled.text));
            }
        }
    }
    all.truncate(MOST_EXEMPLARS);
    let vectors = embed(embedder, all.iter().map(|(_, _, text)| text.clone()).collect()).await?;
    let mut found = Vec::new();
    for (at, (function, template, _)) in all.iter().enumerate() {
        let mut own: Option<f32> = None;
        let mut rival: Option<(f32, usize)> = None;
        for (index, (other, _, _)) in all.iter().enumerate().filter(|(index, _)| *index != at) {
            let likeness = dot(&vectors[at], &vectors[index]);
            if other == function {
                own = Some(own.map_or(likeness, |best| best.max(likeness)));
            } else if rival.is_none_or(|(best, _)| likeness > best) {
                rival = Some((likeness, index));
            }
        }
        // A function's only exemplar has no other one to be near to.
        let (Some(own), Some((likeness, index))) = (own, rival) else { continue };
        if likeness < own + NEARER {
            continue;
        }
        let [name, rival] = [*function, all[index].0].map(|id| module.function(id).name.as_str());
        found.push(Lint {
            kind: LintKind::NearerExemplar,
            function: name.to_owned(),
            message: format!(
                "`{template}` of `{name}` is nearer to `{}` of `{rival}` ({likeness:.2}) than to any other of its own ({own:.2})",
                all[index].1
            ),
            mend: format!(
                "move it if it means `{rival}`; else add two or three like it to `{name}`, or words that only `{name}` is asked for with"
            ),
            weight: likeness - own,
        });
    }
    Ok(found)
}

/// Free-text slots that occur in no template: the position of their value in a sentence cannot be known.
fn unshown(module: &Module) -> Vec<Lint> {
    let is_free = |slot: &Slot| slot.recognizers.is_empty() && matches!(slot.kind, SlotKind::String | SlotKind::Any);
    let mut found = Vec::new();
    for function in module.functions.iter().filter(|function| !function.exemplars.is_empty()) {
        let shown: BTreeSet<_> = function
            .exemplars
            .iter()
            .flat_map(|exemplar| &exemplar.pieces)
            .filter_map(|piece| match piece {
                TemplatePiece::Slot { slot, .. } => *slot,
                TemplatePiece::Text(_) => None,
            })
            .collect();
        for id in function.slot_ids().filter(|id| is_free(function.slot(*id)) && !shown.contains(id)) {
            let slot = function.slot(id);
            let label = slot.label();
            found.push(Lint {
                kind: LintKind::UnshownSlot,
                function: function.name.clone(),
                message: format!("no exemplar of `{}` shows where `{}` stands", function.name, slot.path),
                mend: format!("add two exemplars with `<{label}>` in them, or a recognizer that reads it"),
                weight: if slot.required { 1.0 } else { 0.5 },
            });
        }
    }
    found
}

async fn embed(embedder: &SharedEmbedder, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(BATCH) {
        for vector in embedder.embed(batch.to_vec(), Purpose::Symmetric).await? {
            let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
            vectors.push(vector.into_iter().map(|part| part / length).collect());
        }
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::{
        embed::{Hashed, HashedOptions},
        module::{Limits, ModuleName, load},
    };

    #[tokio::test]
    async fn what_will_be_mistaken_is_found_with_its_mend() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, value: serde_json::Value| {
            std::fs::write(directory.path().join(name), value.to_string()).unwrap();
        };
        let function = |name: &str, description: &str| {
            json!({"name": name, "description": description, "parameters": {"type": "object", "properties": {
                "note": {"type": "string"}}}})
        };
        write(
            "schema.json",
            json!([function("stop", "End a thing"), function("halt", "End a thing"), function("sing", "Sing a song")]),
        );
        write(
            "exemplars.json",
            json!({"stop": ["stop the music now", "sing me a loud song"],
                   "halt": ["halt with <note>", "halt because of <note>"],
                   "sing": ["sing me a loud song again", "sing a quiet song"]}),
        );
        let module = load(directory.path(), ModuleName::new("m").unwrap(), &Limits::default()).expect("it loads");
        let embedder: SharedEmbedder = Arc::new(Hashed::new(&HashedOptions::default()));
        let found = lint(&module, &embedder).await.unwrap();
        let kinds: Vec<(LintKind, &str)> = found.iter().map(|one| (one.kind, one.function.as_str())).collect();
        assert_eq!(kinds[0], (LintKind::AlikeDescriptions, "stop"));
        assert!(kinds.contains(&(LintKind::NearerExemplar, "stop")), "{found:?}");
        let unshown: Vec<&str> =
            kinds.iter().filter(|(kind, _)| *kind == LintKind::UnshownSlot).map(|(_, name)| *name).collect();
        assert_eq!(unshown, ["stop", "sing"]);
        assert!(found.iter().all(|one| !one.mend.is_empty()));
    }
}
