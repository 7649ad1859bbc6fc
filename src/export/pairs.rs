//! Triplets of sentences: the anchor and the positive mean one function, the negative another one that is near.

use serde_json::{Value, json};

use super::{TrainingSentence, near::SentenceVectors};
use crate::module::Module;

pub(super) fn records(
    module: &Module,
    lines: &[TrainingSentence],
    near: &SentenceVectors,
    negatives: usize,
    random: &mut fastrand::Rng,
) -> Vec<Value> {
    let mut records = Vec::new();
    let mut refused: Vec<Vec<&TrainingSentence>> = vec![Vec::new(); module.functions.len()];
    for line in lines.iter().filter(|line| line.is_negative) {
        refused[line.function.index()].push(line);
    }
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_negative) {
        let Some(positive) = positive(module, lines, near, index, random) else { continue };
        // Sentences that the author marks as negative come first, then the nearest ones.
        let mut wrong = refused[line.function.index()].clone();
        random.shuffle(&mut wrong);
        wrong.truncate(negatives.div_ceil(2));
        let means_both = |text: &str| near.own(line.function).iter().any(|own| lines[*own].text == text);
        let others = near.sentences(index, line.function, negatives).into_iter().map(|other| &lines[other]);
        wrong.extend(others.filter(|other| !means_both(&other.text)));
        wrong.truncate(negatives);
        let name = |line: &TrainingSentence| &module.function(line.function).wire_name;
        if wrong.is_empty() {
            records.push(json!({"anchor": line.text, "positive": positive, "function": name(line)}));
        }
        for negative in wrong {
            // A negative exemplar means no known function.
            let other = (!negative.is_negative).then(|| name(negative));
            records.push(json!({"anchor": line.text, "positive": positive, "negative": negative.text,
                "function": name(line), "negative_function": other}));
        }
    }
    records
}

/// Another sentence of the function, else its description.
fn positive(
    module: &Module,
    lines: &[TrainingSentence],
    near: &SentenceVectors,
    index: usize,
    random: &mut fastrand::Rng,
) -> Option<String> {
    let function = lines[index].function;
    let others: Vec<usize> = near.own(function).iter().copied().filter(|other| *other != index).collect();
    if others.is_empty() {
        let description = module.function(function).description.trim();
        return (!description.is_empty()).then(|| description.to_owned());
    }
    Some(lines[others[random.usize(..others.len())]].text.clone())
}
