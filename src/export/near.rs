//! Which functions and sentences are easily confused, according to the embedding model.

use super::TrainingSentence;
use crate::{linear::dot, module::FunctionId};

/// Functions whose sentences are compared with an anchor: those with the nearest mean.
const FUNCTIONS: usize = 8;

pub(super) struct SentenceVectors {
    vectors: Vec<Vec<f32>>,
    /// For each function, the positions of the sentences that mean it.
    of: Vec<Vec<usize>>,
    /// The mean of each function's vectors; `None` for a function without sentences.
    means: Vec<Option<Vec<f32>>>,
}

impl SentenceVectors {
    pub(super) fn new(functions: usize, lines: &[TrainingSentence], vectors: Vec<Vec<f32>>) -> Self {
        let mut of = vec![Vec::new(); functions];
        for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_negative) {
            of[line.function.index()].push(index);
        }
        let means = of
            .iter()
            .map(|own: &Vec<usize>| {
                let mut sum = vec![0.0; vectors.get(*own.first()?)?.len()];
                for index in own {
                    sum.iter_mut().zip(&vectors[*index]).for_each(|(sum, one)| *sum += one);
                }
                let length = dot(&sum, &sum).sqrt();
                sum.iter_mut().for_each(|one| *one /= length.max(f32::MIN_POSITIVE));
                Some(sum)
            })
            .collect();
        Self { vectors, of, means }
    }

    /// The sentences that mean the function.
    pub(super) fn own(&self, function: FunctionId) -> &[usize] {
        &self.of[function.index()]
    }

    /// Other functions, the nearest to the sentence first; those without sentences come last.
    pub(super) fn functions(&self, line: usize, own: FunctionId) -> Vec<FunctionId> {
        let mut scored: Vec<(f32, usize)> = (0..self.means.len())
            .filter(|index| *index != own.index())
            .map(|index| (self.means[index].as_ref().map_or(f32::MIN, |mean| dot(mean, &self.vectors[line])), index))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().map(|(_, index)| FunctionId::from_index(index)).collect()
    }

    /// The nearest sentences of other functions, at most `most`.
    pub(super) fn sentences(&self, line: usize, own: FunctionId, most: usize) -> Vec<usize> {
        let mut scored: Vec<(f32, usize)> = self
            .functions(line, own)
            .into_iter()
            .take(FUNCTIONS)
            .flat_map(|function| self.own(function).iter().copied())
            .map(|other| (dot(&self.vectors[line], &self.vectors[other]), other))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().take(most).map(|(_, other)| other).collect()
    }
}
