//! What a module's own exemplars teach about its functions: two regressions, one on the embedder's vectors and one on
//! the n-grams of the text, fitted when the module is prepared.
//!
//! Each gives a probability to every function, and one to "none of them", which sentences about other things and
//! negative exemplars teach. Sentences that are left out of a fit tell what the module's own exemplars reach; what an
//! utterance reaches is measured against that.

mod ngrams;
mod regression;
mod sentences;

pub(crate) use regression::log_softmax;
pub(crate) use sentences::{Sentence, sentences};

use ngrams::Ngrams;
use regression::{Fit, Regression, Row, Rows};

use crate::module::FunctionId;

/// The embedder's vectors are of length 1; this lets the weights tell near ones apart.
const VECTORS: Fit = Fit { scale: 4.0, ridge: 0.1, iterations: 50 };
const NGRAMS: Fit = Fit { scale: 1.0, ridge: 0.05, iterations: 50 };
/// Multiplications that a fit may take: some five seconds of one core.
const WORK: usize = 60_000_000_000;
/// A fit of fewer iterations than these is not worth having.
const FEWEST: usize = 6;
/// Parts of the exemplars that are left out in turn.
const FOLDS: usize = 3;

/// See [the module](self).
#[derive(Debug, Clone, Default)]
pub struct Head {
    vectors: Option<Regression>,
    ngrams: Option<(Ngrams, Regression)>,
    own: Own,
}

/// What the module's own exemplars reach where they are left out of the fit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Own {
    /// Share of them that find their function, by both regressions together.
    pub accuracy: f32,
    /// Mean log-probability of their function, by each regression.
    pub vectors: f32,
    pub ngrams: f32,
}

/// The log-probability of each function and, last, of none; empty where there is no regression.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogProbabilities {
    pub vectors: Vec<f32>,
    pub ngrams: Vec<f32>,
}

/// A sentence with its vector.
pub(crate) struct Example<'a> {
    pub(crate) sentence: &'a Sentence,
    pub(crate) vector: &'a [f32],
}

impl Head {
    /// Learns from the sentences of a module in a language (BCP 47). `start`, the head of an earlier version with the
    /// same functions, is where the fit starts.
    pub(crate) fn fit(examples: &[Example<'_>], functions: usize, language: &str, start: Option<&Self>) -> Self {
        let Some(first) = examples.first() else { return Self::default() };
        let classes = functions + 1;
        let labels: Vec<usize> =
            examples.iter().map(|example| example.sentence.function.map_or(functions, FunctionId::index)).collect();
        let ngrams = Ngrams::new(
            examples.iter().map(|example| example.sentence.text.as_str()),
            language,
            MOST_WEIGHTS / classes,
        );
        let mut vectors = Rows::dense(first.vector.len());
        let mut texts = Rows::sparse(ngrams.width());
        for example in examples {
            vectors.push(Row::Dense(example.vector));
            texts.push(Row::Sparse(&ngrams.vector(&example.sentence.text)));
        }
        let folds: Vec<Option<usize>> =
            examples.iter().map(|example| example.sentence.exemplar.map(|(_, id)| id.index() % FOLDS)).collect();
        let data = [&vectors, &texts].map(|rows| Data { rows, labels: &labels, folds: &folds, classes });
        let starts =
            [start.and_then(|start| start.vectors.as_ref()), start.and_then(|start| Some(&start.ngrams.as_ref()?.1))];
        // Both keep a core busy.
        let [by_vector, by_text] = std::thread::scope(|scope| {
            let texts = scope.spawn(|| data[1].learn(NGRAMS, starts[1]));
            [data[0].learn(VECTORS, starts[0]), texts.join().unwrap_or_default()]
        });
        let own = own(&labels, &by_vector, &by_text);
        Self { vectors: by_vector.model, ngrams: by_text.model.map(|model| (ngrams, model)), own }
    }

    /// What the utterance means by what was learned.
    pub(crate) fn log_probabilities(&self, vector: &[f32], text: &str) -> LogProbabilities {
        let by_vector = self.vectors.as_ref().filter(|model| Row::Dense(vector).fits(model.width()));
        let by_text = self.ngrams.as_ref();
        LogProbabilities {
            vectors: by_vector.map(|model| model.log_probabilities(Row::Dense(vector))).unwrap_or_default(),
            ngrams: by_text
                .map(|(ngrams, model)| model.log_probabilities(Row::Sparse(&ngrams.vector(text))))
                .unwrap_or_default(),
        }
    }

    #[must_use]
    pub const fn own(&self) -> Own {
        self.own
    }
}

/// Weights of the regression on n-grams, at most: beyond, n-grams share places.
const MOST_WEIGHTS: usize = 1 << 20;

/// Rows with their classes.
#[derive(Clone, Copy)]
struct Data<'a> {
    rows: &'a Rows,
    labels: &'a [usize],
    /// The part in which a row is left out; `None`: it never is.
    folds: &'a [Option<usize>],
    classes: usize,
}

/// A fitted model, and what models without it say of a row; empty for a row that was never left out.
#[derive(Default)]
struct Learned {
    model: Option<Regression>,
    left_out: Vec<Vec<f32>>,
}

impl Data<'_> {
    fn learn(self, how: Fit, start: Option<&Regression>) -> Learned {
        // Forward and back.
        let pass = 2 * self.rows.filled() * self.classes;
        let iterations = (WORK / pass.max(1)).min(how.iterations);
        if iterations < FEWEST {
            return Learned::default();
        }
        let how = Fit { iterations, ..how };
        let model = Regression::fit(self.rows, self.labels, self.classes, how, start);
        let folds = if pass * how.iterations * FOLDS <= WORK { FOLDS } else { 1 };
        let mut left_out = vec![Vec::new(); self.rows.len()];
        for fold in 0..folds {
            self.leave_out(fold, how, &mut left_out);
        }
        Learned { model: Some(model), left_out }
    }

    /// Fits without one part, and says what that model makes of it.
    fn leave_out(self, fold: usize, how: Fit, left_out: &mut [Vec<f32>]) {
        let (mut rows, mut labels) = (self.rows.emptied(), Vec::new());
        for index in (0..self.rows.len()).filter(|index| self.folds[*index] != Some(fold)) {
            rows.push(self.rows.row(index));
            labels.push(self.labels[index]);
        }
        let model = Regression::fit(&rows, &labels, self.classes, how, None);
        for index in (0..self.rows.len()).filter(|index| self.folds[*index] == Some(fold)) {
            left_out[index] = model.log_probabilities(self.rows.row(index));
        }
    }
}

/// What was reached by sentences that were left out.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^24 sentences")]
fn own(labels: &[usize], by_vector: &Learned, by_text: &Learned) -> Own {
    let (mut own, mut right, mut count) = (Own::default(), 0_usize, 0_usize);
    for ((label, vectors), ngrams) in labels.iter().zip(&by_vector.left_out).zip(&by_text.left_out) {
        if vectors.is_empty() && ngrams.is_empty() {
            continue;
        }
        let at = |found: &[f32], class: usize| found.get(class).copied().unwrap_or_default();
        own.vectors += at(vectors, *label);
        own.ngrams += at(ngrams, *label);
        let both = |class: usize| at(vectors, class) + at(ngrams, class);
        let classes = vectors.len().max(ngrams.len());
        right += usize::from((0..classes).all(|class| both(class) <= both(*label)));
        count += 1;
    }
    let count = count.max(1) as f32;
    Own { accuracy: right as f32 / count, vectors: own.vectors / count, ngrams: own.ngrams / count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::ExemplarId;

    fn sentence(function: usize, exemplar: usize, text: &str) -> Sentence {
        let id = FunctionId::from_index(function);
        Sentence { function: Some(id), exemplar: Some((id, ExemplarId::from_index(exemplar))), text: text.to_owned() }
    }

    /// Vectors that say nothing: what is found is found by n-grams.
    fn head(sentences: &[Sentence]) -> Head {
        let examples: Vec<Example<'_>> =
            sentences.iter().map(|sentence| Example { sentence, vector: &[1.0, 0.0] }).collect();
        Head::fit(&examples, 2, "en", None)
    }

    fn shop() -> Vec<Sentence> {
        vec![
            sentence(0, 0, "cancel my order"),
            sentence(0, 1, "please cancel the order"),
            sentence(0, 2, "cancel order 12"),
            sentence(1, 0, "where is my parcel"),
            sentence(1, 1, "track my parcel"),
            sentence(1, 2, "where is parcel 12"),
            Sentence { function: None, exemplar: None, text: "tell me a joke".to_owned() },
        ]
    }

    #[test]
    fn functions_are_told_apart_and_from_nothing() {
        let head = head(&shop());
        let best = |text: &str| {
            let found = head.log_probabilities(&[1.0, 0.0], text).ngrams;
            (0..found.len()).max_by(|a, b| found[*a].total_cmp(&found[*b]))
        };
        assert_eq!(["cancle the order", "wheres the parcel", "a joke"].map(best), [Some(0), Some(1), Some(2)]);
        assert!(head.own().accuracy > 0.5 && head.own().ngrams < 0.0);
    }

    #[test]
    fn one_more_exemplar_is_known_at_once() {
        let mut sentences = shop();
        let before = head(&sentences);
        sentences.push(sentence(1, 3, "any news of the telly"));
        let examples: Vec<Example<'_>> =
            sentences.iter().map(|sentence| Example { sentence, vector: &[1.0, 0.0] }).collect();
        let after = Head::fit(&examples, 2, "en", Some(&before));
        let found = |head: &Head, text: &str| head.log_probabilities(&[1.0, 0.0], text).ngrams;
        assert!(found(&after, "news of the telly")[1] > found(&after, "news of the telly")[0]);
        assert!(found(&after, "cancel the order")[0] > found(&after, "cancel the order")[1]);
    }

    #[test]
    fn a_module_without_exemplars_has_nothing_to_learn_from() {
        let head = Head::fit(&[], 3, "en", None);
        assert_eq!(head.log_probabilities(&[1.0], "cancel"), LogProbabilities::default());
    }

    #[test]
    fn a_vector_of_another_length_says_nothing() {
        let found = head(&shop()).log_probabilities(&[1.0], "cancel my order");
        assert!(found.vectors.is_empty() && !found.ngrams.is_empty());
    }
}
