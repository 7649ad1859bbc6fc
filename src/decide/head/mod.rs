//! What a module's own exemplars teach about its functions: two regressions, one on the embedder's vectors and one on
//! the n-grams of the text. They are fitted when the module is prepared.
//!
//! Each gives a probability to every function, and one to "none of them", which is learned from sentences about other
//! things and from negative exemplars. Some sentences are left out of a fit to measure what the module's own exemplars
//! score; the scores of an utterance are compared with that.
//!
//! A fit continues from that of the version before as long as few sentences came or went since a fit started from zero.
//! The weights are the same wherever a fit starts, within the tolerance of the solver. The rarity of n-grams and the
//! scores of the exemplars stay as they were measured then.

mod ngrams;
mod regression;
mod rows;
mod sentences;
mod since;
mod solver;

pub(crate) use regression::log_softmax;
pub(crate) use sentences::{TrainingSentence, sentences};

use ngrams::Ngrams;
use regression::{Fit, Regression};
use rows::{Row, Rows};
use since::Taught;
use solver::{Duals, Solver};

use crate::module::FunctionId;

/// The embedder's vectors have length 1; the scale lets the weights separate near ones.
const VECTORS: Fit = Fit { scale: 4.0, ridge: 0.1 };
const NGRAMS: Fit = Fit { scale: 1.0, ridge: 0.05 };
/// The most multiplications of a fit: some five seconds of one core.
const WORK: usize = 60_000_000_000;
/// The most sweeps over all sentences, and the number that must be affordable: with fewer, a fit is not worth having.
/// About ten are usual.
const MOST: usize = 50;
const FEWEST: usize = 6;
/// The number of parts into which the exemplars are divided; each part is left out once.
const FOLDS: usize = 3;
/// The most weights of the regression on n-grams: with more n-grams, several share a place.
const MOST_WEIGHTS: usize = 1 << 20;

/// See [the module](self).
#[derive(Debug, Clone, Default)]
pub struct Head {
    vectors: Option<Regression>,
    ngrams: Option<(Ngrams, Regression)>,
    own: Own,
    taught: Option<Taught>,
    work: Work,
}

/// The scores of the module's own exemplars when they are left out of the fit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Own {
    /// The share of them that find their function, by both regressions together.
    pub accuracy: f32,
    /// The mean log-probability of their function, by each regression.
    pub vectors: f32,
    pub ngrams: f32,
}

/// The work that a fit took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// The fit continued from the version before.
    pub goes_on: bool,
    /// How many sentences were looked at and how many were solved, by both regressions together.
    pub visited: usize,
    pub solved: usize,
}

/// The log-probability of each function and, last, of "none of them"; empty if there is no regression.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LogProbabilities {
    pub vectors: Vec<f32>,
    pub ngrams: Vec<f32>,
}

/// A sentence with its vector.
pub(crate) struct Example<'a> {
    pub(crate) sentence: &'a TrainingSentence,
    pub(crate) vector: &'a [f32],
}

impl Head {
    /// Learns about the functions of a module, given by name, from sentences in a language (BCP 47). `before` is the
    /// head of an earlier version.
    pub(crate) fn fit(examples: &[Example<'_>], functions: &[&str], language: &str, before: Option<&Self>) -> Self {
        let Some(first) = examples.first() else { return Self::default() };
        let width = first.vector.len();
        let mut taught = Taught::new(examples, functions, language);
        let since = before.and_then(|before| Some((before, taught.since(before.taught.as_ref()?)?)));
        let carried = |which: usize| {
            let (before, since) = since.as_ref()?;
            Some(before.taught.as_ref()?.duals[which].as_ref()?.carried(&since.rows, &since.classes))
        };
        let classes = functions.len() + 1;
        let labels: Vec<usize> =
            examples.iter().map(|one| one.sentence.function.map_or(functions.len(), FunctionId::index)).collect();
        let folds: Vec<Option<usize>> =
            examples.iter().map(|example| example.sentence.exemplar.map(|(_, id)| id.index() % FOLDS)).collect();
        let data = RowLabels { labels: &labels, folds: &folds, classes };
        let by_vector = || {
            let mut rows = Rows::dense(width);
            examples.iter().for_each(|example| rows.push(Row::Dense(example.vector)));
            data.learn(&rows, VECTORS, carried(0))
        };
        let by_text = || {
            let texts = examples.iter().map(|example| example.sentence.text.as_str());
            let known = since.as_ref().and_then(|(before, since)| Some((&before.ngrams.as_ref()?.0, since)));
            let ngrams = match known {
                Some((ngrams, since)) => {
                    ngrams.with(texts.zip(&since.rows).filter(|one| one.1.is_none()).map(|one| one.0))
                }
                None => Ngrams::new(texts, language, MOST_WEIGHTS / classes),
            };
            let mut rows = Rows::sparse(ngrams.width());
            examples.iter().for_each(|example| rows.push(Row::Sparse(&ngrams.vector(&example.sentence.text))));
            (data.learn(&rows, NGRAMS, known.and_then(|_| carried(1))), ngrams)
        };
        // Each of the two keeps a core busy.
        let (by_vector, (by_text, ngrams)) = std::thread::scope(|scope| {
            let texts = scope.spawn(by_text);
            (by_vector(), texts.join().unwrap_or_default())
        });
        let own = since.as_ref().map_or_else(|| own(&labels, &by_vector, &by_text), |(before, _)| before.own);
        let work = Work {
            goes_on: since.is_some(),
            visited: by_vector.visited + by_text.visited,
            solved: by_vector.solved + by_text.solved,
        };
        taught.changed = since.map_or(0, |(_, since)| since.changed);
        taught.duals = [by_vector.duals, by_text.duals];
        let ngrams = by_text.model.map(|model| (ngrams, model));
        Self { vectors: by_vector.model, ngrams, own, taught: Some(taught), work }
    }

    /// The probabilities of the functions for an utterance.
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

    /// The work that the fit took.
    #[must_use]
    pub const fn work(&self) -> Work {
        self.work
    }
}

/// What is known of each row, apart from its inputs.
#[derive(Clone, Copy)]
struct RowLabels<'a> {
    labels: &'a [usize],
    /// The part with which a row is left out; `None` if it never is.
    folds: &'a [Option<usize>],
    classes: usize,
}

/// A fitted model, and the log-probabilities of each row by the model without it; empty for a row that was never left
/// out.
#[derive(Default)]
struct Learned {
    model: Option<Regression>,
    duals: Option<Duals>,
    left_out: Vec<Vec<f32>>,
    visited: usize,
    solved: usize,
}

impl RowLabels<'_> {
    /// Continues from `start`; then leaves out each part in turn.
    fn learn(self, rows: &Rows, how: Fit, start: Option<Duals>) -> Learned {
        // One pass forward and one back.
        let pass = 2 * rows.filled() * self.classes;
        let sweeps = (WORK / pass.max(1)).min(MOST);
        if sweeps < FEWEST {
            return Learned::default();
        }
        let goes_on = start.is_some();
        let mut solver =
            Solver::new(rows, self.labels, how, start.unwrap_or_else(|| Duals::zero(rows.len(), self.classes)));
        solver.settle((0..rows.len()).collect(), sweeps);
        let (visited, solved) = (solver.visited, solver.solved);
        let (model, duals) = solver.done();
        let mut left_out = vec![Vec::new(); rows.len()];
        let folds = if pass * sweeps * FOLDS <= WORK { FOLDS } else { 1 };
        for fold in (0..folds).filter(|_| !goes_on) {
            self.leave_out(rows, how, (fold, sweeps), &duals, &mut left_out);
        }
        Learned { model: Some(model), duals: Some(duals), left_out, visited, solved }
    }

    /// Continues the fit without one part, and evaluates that part with the resulting model.
    fn leave_out(
        self,
        rows: &Rows,
        how: Fit,
        (fold, sweeps): (usize, usize),
        duals: &Duals,
        left_out: &mut [Vec<f32>],
    ) {
        let is_out = |row: usize| self.folds[row] == Some(fold);
        let mut solver = Solver::new(rows, self.labels, how, duals.without(is_out));
        solver.settle((0..rows.len()).filter(|row| !is_out(*row)).collect(), sweeps);
        let (model, _) = solver.done();
        for row in (0..rows.len()).filter(|row| is_out(*row)) {
            left_out[row] = model.log_probabilities(rows.row(row));
        }
    }
}

/// The scores of the sentences that were left out.
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

    fn sentence(function: usize, exemplar: usize, text: &str) -> TrainingSentence {
        let id = FunctionId::from_index(function);
        TrainingSentence {
            function: Some(id),
            exemplar: Some((id, ExemplarId::from_index(exemplar))),
            text: text.to_owned(),
        }
    }

    /// A head for vectors that say nothing: only n-grams find functions.
    fn head(sentences: &[TrainingSentence]) -> Head {
        let examples: Vec<Example<'_>> =
            sentences.iter().map(|sentence| Example { sentence, vector: &[1.0, 0.0] }).collect();
        Head::fit(&examples, &NAMES, "en", None)
    }

    fn shop() -> Vec<TrainingSentence> {
        vec![
            sentence(0, 0, "cancel my order"),
            sentence(0, 1, "please cancel the order"),
            sentence(0, 2, "cancel order 12"),
            sentence(1, 0, "where is my parcel"),
            sentence(1, 1, "track my parcel"),
            sentence(1, 2, "where is parcel 12"),
            TrainingSentence { function: None, exemplar: None, text: "tell me a joke".to_owned() },
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
        let after = Head::fit(&examples, &NAMES, "en", Some(&before));
        let found = |head: &Head, text: &str| head.log_probabilities(&[1.0, 0.0], text).ngrams;
        assert!(found(&after, "news of the telly")[1] > found(&after, "news of the telly")[0]);
        assert!(found(&after, "cancel the order")[0] > found(&after, "cancel the order")[1]);
    }

    const NAMES: [&str; 2] = ["cancel", "track"];

    /// So many sentences that a change of a few is small, with vectors that say little.
    fn many() -> Vec<TrainingSentence> {
        let things = ["order", "parcel", "booking", "flight", "ticket", "table", "room", "car", "trip", "loan"];
        let said = |index: usize, ways: [&str; 3]| format!("{} {}", ways[index % 3], things[index / 3 % 10]);
        let of = |function: usize, ways: [&'static str; 3]| {
            (0..30).map(move |index| sentence(function, index, &said(index, ways)))
        };
        of(0, ["cancel my", "please drop the", "i do not want the"])
            .chain(of(1, ["where is my", "track the", "any news of the"]))
            .collect()
    }

    /// The sum of a fixed vector for each word, scaled to length 1.
    fn vector(text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; 32];
        for word in text.split(' ') {
            let mut random = fastrand::Rng::with_seed(word.bytes().fold(7, |seed, byte| seed * 31 + u64::from(byte)));
            sum.iter_mut().for_each(|value| *value += random.f32() - 0.5);
        }
        let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        sum.into_iter().map(|value| value / length).collect()
    }

    fn fit(sentences: &[TrainingSentence], names: &[&str], before: Option<&Head>) -> Head {
        let vectors: Vec<Vec<f32>> = sentences.iter().map(|one| vector(&one.text)).collect();
        let examples: Vec<Example<'_>> =
            sentences.iter().zip(&vectors).map(|(sentence, vector)| Example { sentence, vector }).collect();
        Head::fit(&examples, names, "en", before)
    }

    fn apart(one: &Head, other: &Head, text: &str) -> f32 {
        let [one, other] = [one, other].map(|head| head.log_probabilities(&vector(text), text));
        let pairs = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| (a.exp() - b.exp()).abs()).fold(0.0, f32::max);
        pairs(&one.vectors, &other.vectors).max(pairs(&one.ngrams, &other.ngrams))
    }

    #[test]
    fn one_more_exemplar_solves_few_sentences_again() {
        let mut sentences = many();
        let before = fit(&sentences, &NAMES, None);
        sentences.insert(30, sentence(0, 30, "scrap it"));
        let (on, anew) = (fit(&sentences, &NAMES, Some(&before)), fit(&sentences, &NAMES, None));
        assert!(on.work().goes_on && !anew.work().goes_on);
        assert!(on.work().solved * 2 < anew.work().solved, "{:?} {:?}", on.work(), anew.work());
        assert_eq!(on.own(), before.own());
        for text in ["scrap it", "cancel my order", "where is the telly", "good morning"] {
            assert!(apart(&on, &anew, text) < 0.05, "{text}: {}", apart(&on, &anew, text));
        }
        let found = on.log_probabilities(&vector("scrap it"), "scrap it").ngrams;
        assert!(found[0] > -0.5, "{found:?}");
    }

    #[test]
    fn what_is_taken_back_leaves_nothing_behind() {
        let sentences = many();
        let before = fit(&sentences, &NAMES, None);
        let mut more = sentences.clone();
        more.push(sentence(1, 30, "cancel my order now"));
        let back = fit(&sentences, &NAMES, Some(&fit(&more, &NAMES, Some(&before))));
        assert!(back.work().goes_on);
        assert!(apart(&back, &before, "cancel my order now") < 0.03);
        assert_eq!(fit(&sentences, &NAMES, Some(&before)).work().solved, 0);
    }

    #[test]
    fn functions_that_come_move_or_go_keep_the_others() {
        let mut sentences = many();
        let before = fit(&sentences, &NAMES, None);
        for one in &mut sentences {
            let id = FunctionId::from_index(2 - one.function.map_or(0, FunctionId::index));
            (one.function, one.exemplar) = (Some(id), one.exemplar.map(|(_, exemplar)| (id, exemplar)));
        }
        sentences.push(sentence(0, 0, "tell me a joke"));
        let three = ["joke", "track", "cancel"];
        let (on, anew) = (fit(&sentences, &three, Some(&before)), fit(&sentences, &three, None));
        assert!(on.work().goes_on);
        for text in ["cancel my order", "where is the telly", "a joke"] {
            assert!(apart(&on, &anew, text) < 0.05, "{text}: {}", apart(&on, &anew, text));
        }
        let gone = fit(&many(), &NAMES, Some(&on));
        assert!(gone.work().goes_on);
        // N-grams of the joke stay known, so only other texts score as before.
        for text in ["cancel my order", "where is the telly"] {
            assert!(apart(&gone, &before, text) < 0.05, "{text}: {}", apart(&gone, &before, text));
        }
    }

    #[test]
    fn a_fit_is_made_from_nothing_where_much_is_new() {
        let mut sentences = many();
        let mut head = fit(&sentences, &NAMES, None);
        let mut went_on = Vec::new();
        for index in 30..36 {
            sentences.push(sentence(0, index, &format!("scrap number {index}")));
            head = fit(&sentences, &NAMES, Some(&head));
            went_on.push(head.work().goes_on);
        }
        assert_eq!(went_on, [true, true, true, false, true, true]);
        let anew = fit(&sentences, &NAMES, None);
        assert!(apart(&head, &anew, "scrap number 7") < 0.05);
        let japanese: Vec<Example<'_>> =
            sentences.iter().map(|sentence| Example { sentence, vector: &[1.0, 0.0] }).collect();
        assert!(!Head::fit(&japanese, &NAMES, "ja", Some(&head)).work().goes_on);
    }

    #[test]
    fn a_module_without_exemplars_has_nothing_to_learn_from() {
        let head = Head::fit(&[], &["one"], "en", None);
        assert_eq!(head.log_probabilities(&[1.0], "cancel"), LogProbabilities::default());
    }

    #[test]
    fn a_vector_of_another_length_says_nothing() {
        let found = head(&shop()).log_probabilities(&[1.0], "cancel my order");
        assert!(found.vectors.is_empty() && !found.ngrams.is_empty());
    }
}
