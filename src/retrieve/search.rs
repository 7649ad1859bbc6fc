//! Searches an index: every function by approximate cosines, the best few exactly.

use std::{collections::HashMap, ops::Range};

use super::{
    Candidate, DescriptionSignals, DocumentSource, Evidence, ExemplarSignals, Index, Query,
    build::mean_direction,
    fuse::{self, BestMean, POOLED, Signals},
    is_negative,
    vector::Coded,
};
use crate::module::{ExemplarId, FunctionId};

/// Functions beyond those asked for that are scored exactly, so that errors of the first pass change nothing.
const SLACK: usize = 8;
/// Rows of one function whose cosines are computed exactly, for each of two orders.
const EXACT_ROWS: usize = 12;
/// Exemplars that the graph finds.
const GRAPH_HITS: usize = 192;

const _: () = assert!(GRAPH_HITS > POOLED && EXACT_ROWS > POOLED);

impl Index {
    /// The `limit` functions with the best scores, best first (of equals, the first in the module); only those in
    /// `among` if given. Computes without waiting.
    #[must_use]
    pub fn search(&self, query: &Query<'_>, limit: usize, among: Option<&[FunctionId]>) -> Vec<Candidate> {
        self.search_without(query, limit, among, &[])
    }

    /// The same as if the `silent` exemplars were not there. Exact except for the order of equals.
    #[must_use]
    pub fn search_without(
        &self,
        query: &Query<'_>,
        limit: usize,
        among: Option<&[FunctionId]>,
        silent: &[(FunctionId, ExemplarId)],
    ) -> Vec<Candidate> {
        if limit == 0 {
            return Vec::new();
        }
        let allowed = among.map(|among| {
            let mut allowed = vec![false; self.functions];
            for function in among {
                if let Some(allowed) = allowed.get_mut(function.index()) {
                    *allowed = true;
                }
            }
            allowed
        });
        let mut view = View::new(self, query, allowed.as_deref());
        view.silence(silent);
        let mut scored: Vec<(usize, f32)> = (0..self.functions)
            .filter(|&function| allowed.as_ref().is_none_or(|allowed| allowed[function]))
            .map(|function| (function, view.signals(function).score(self.shares)))
            .collect();
        let best_first = fuse::best_first(|scored: &(usize, f32)| scored.1, |scored| scored.0);
        let shortlist = limit.saturating_add(SLACK);
        if scored.len() > shortlist {
            scored.select_nth_unstable_by(shortlist, &best_first);
            scored.truncate(shortlist);
        }
        let mut candidates: Vec<Candidate> = scored.into_iter().map(|(function, _)| view.candidate(function)).collect();
        candidates.sort_by(fuse::best_first(|candidate: &Candidate| candidate.score, |candidate| candidate.function));
        candidates.truncate(limit);
        candidates
    }

    fn nearest_exemplars(&self, query: Option<&Coded<'_>>, allowed: Option<&[bool]>) -> Dense {
        let shelf = &self.exemplars;
        let asked: usize = match allowed {
            Some(allowed) => (0..self.functions).filter(|&at| allowed[at]).map(|at| shelf.rows(at).len()).sum(),
            None => shelf.sources.len(),
        };
        if let (Some(graph), Some(query)) = (&self.graph, query)
            && asked >= self.options.hnsw_from
        {
            let function_of = |row: usize| shelf.starts.partition_point(|&start| start <= row) - 1;
            let keep = |row: usize| allowed.is_none_or(|allowed| allowed[function_of(row)]);
            let nearest = graph.nearest(&shelf.vectors, query, GRAPH_HITS, self.options.hnsw_effort, keep);
            let others = nearest.last().map_or(0.0, |last| last.1);
            let mut hits: HashMap<usize, Vec<(usize, f32)>> = HashMap::new();
            for (row, cosine) in nearest {
                hits.entry(function_of(row)).or_default().push((row, cosine));
            }
            return Dense::Nearest { hits, others };
        }
        let mut cosines = vec![0.0; shelf.sources.len()];
        if let Some(query) = query {
            match allowed {
                None => shelf.vectors.approximate(query, 0..cosines.len(), &mut cosines),
                Some(allowed) => {
                    for function in (0..self.functions).filter(|&function| allowed[function]) {
                        let rows = shelf.rows(function);
                        shelf.vectors.approximate(query, rows.clone(), &mut cosines[rows]);
                    }
                }
            }
        }
        Dense::All(cosines)
    }
}

/// One query against the whole index.
struct View<'a> {
    index: &'a Index,
    asymmetric: Option<Coded<'a>>,
    symmetric: Option<Coded<'a>>,
    /// Approximate, per row of each shelf.
    descriptions: Vec<f32>,
    exemplars: Dense,
    centroids: Vec<f32>,
    /// Per row of each shelf, or empty if no word matched.
    description_words: Vec<f32>,
    exemplar_words: Vec<f32>,
    /// Rows of silent exemplars, ascending.
    silent: Vec<usize>,
}

/// Approximate cosines of exemplars.
enum Dense {
    /// Of every row; 0 for rows that were not requested.
    All(Vec<f32>),
    /// Of the nearest rows, by function, and an upper bound for all others.
    Nearest { hits: HashMap<usize, Vec<(usize, f32)>>, others: f32 },
}

impl<'a> View<'a> {
    fn new(index: &'a Index, query: &Query<'a>, allowed: Option<&[bool]>) -> Self {
        let fits =
            |vector: &'a [f32]| (vector.len() == index.centroids.dimensions()).then(|| Coded::new(vector)).flatten();
        let (asymmetric, symmetric) = (fits(query.asymmetric), fits(query.symmetric));
        // Both shelves have the same language.
        let words = index.exemplars.lexical.query(query.text);
        Self {
            index,
            descriptions: index.descriptions.approximate(asymmetric.as_ref(), 0..index.descriptions.sources.len()),
            exemplars: index.nearest_exemplars(symmetric.as_ref(), allowed),
            centroids: {
                let mut cosines = vec![0.0; index.centroids.len()];
                if let Some(query) = &symmetric {
                    index.centroids.approximate(query, 0..index.centroids.len(), &mut cosines);
                }
                cosines
            },
            description_words: index.descriptions.lexical.scores(&words),
            exemplar_words: index.exemplars.lexical.scores(&words),
            asymmetric,
            symmetric,
            silent: Vec::new(),
        }
    }

    /// Leaves out these exemplars, also from their function's centroid.
    fn silence(&mut self, exemplars: &[(FunctionId, ExemplarId)]) {
        let shelf = &self.index.exemplars;
        let known = exemplars.iter().filter(|(function, _)| function.index() < self.index.functions);
        let rows = known.filter_map(|(function, exemplar)| {
            let rows = shelf.rows(function.index());
            let is_it =
                |source: &DocumentSource| matches!(source, DocumentSource::Exemplar { id, .. } if id == exemplar);
            shelf.sources[rows.clone()].iter().position(is_it).map(|at| rows.start + at)
        });
        self.silent = rows.collect();
        self.silent.sort_unstable();
        for function in 0..self.index.functions {
            if self.has_silent(&shelf.rows(function)) {
                self.centroids[function] = self.centroid(function);
            }
        }
    }

    fn has_silent(&self, rows: &Range<usize>) -> bool {
        let at = self.silent.partition_point(|row| *row < rows.start);
        self.silent.get(at).is_some_and(|row| *row < rows.end)
    }

    fn is_silent(&self, row: usize) -> bool {
        self.silent.binary_search(&row).is_ok()
    }

    /// Exact cosine of the mean of a function's positive exemplars that are not silent.
    fn centroid(&self, function: usize) -> f32 {
        let Some(query) = &self.symmetric else { return 0.0 };
        let rows = self.index.exemplars.rows(function);
        if !self.has_silent(&rows) {
            return self.index.centroids.cosine(query, function);
        }
        mean_direction(&self.index.exemplars, rows.filter(|row| !self.is_silent(*row))).cosine(query, 0)
    }

    /// Signals from the approximate cosines.
    fn signals(&self, function: usize) -> Signals {
        let rows = self.index.exemplars.rows(function);
        match &self.exemplars {
            Dense::All(cosines) => {
                let described = self.index.descriptions.rows(function);
                self.fuse(function, self.centroids[function], &cosines[rows], &self.descriptions[described])
            }
            Dense::Nearest { hits, others } => {
                // Rows that the graph did not return are at most as near as the last one it did.
                let mut cosines = vec![others.min(self.centroids[function]); rows.len()];
                for &(row, cosine) in hits.get(&function).into_iter().flatten() {
                    cosines[row - rows.start] = cosine;
                }
                let described = self.index.descriptions.rows(function);
                self.fuse(function, self.centroids[function], &cosines, &self.descriptions[described])
            }
        }
    }

    fn fuse(&self, function: usize, centroid: f32, exemplars: &[f32], descriptions: &[f32]) -> Signals {
        let rows = self.index.exemplars.rows(function);
        let words = self.exemplar_words.get(rows.clone());
        let word_at = |at: usize| words.map_or(0.0, |words| words[at]);
        let (mut dense, mut lexical) = (BestMean::default(), BestMean::default());
        let (mut positive, mut negative) = (None, None);
        if self.index.has_negative[function] || self.has_silent(&rows) {
            for (at, (&cosine, row)) in exemplars.iter().zip(rows).enumerate() {
                if self.is_silent(row) {
                    continue;
                }
                let score = self.index.shares.exemplar_score(cosine, word_at(at));
                let nearest = if is_negative(self.index.exemplars.sources[row]) {
                    &mut negative
                } else {
                    dense.push(cosine);
                    lexical.push(word_at(at));
                    &mut positive
                };
                *nearest = Some(nearest.map_or(score, |best: f32| best.max(score)));
            }
        } else {
            exemplars.iter().for_each(|&cosine| dense.push(cosine));
            words.unwrap_or_default().iter().for_each(|&word| lexical.push(word));
        }
        let words = self.description_words.get(self.index.descriptions.rows(function)).unwrap_or_default();
        Signals {
            exemplars: dense.mean().map(|dense| ExemplarSignals {
                dense,
                centroid,
                lexical: lexical.mean().unwrap_or_default(),
            }),
            description: descriptions
                .iter()
                .copied()
                .reduce(f32::max)
                .map(|dense| DescriptionSignals { dense, lexical: words.iter().copied().fold(0.0, f32::max) }),
            nearest_positive: positive,
            nearest_negative: negative,
        }
    }

    /// The candidate, from exact cosines.
    fn candidate(&self, function: usize) -> Candidate {
        let index = self.index;
        let rows = index.exemplars.rows(function);
        let word_at = |row: usize| self.exemplar_words.get(row).copied().unwrap_or_default();
        let mut cosines = match &self.exemplars {
            Dense::All(cosines) => cosines[rows.clone()].to_vec(),
            Dense::Nearest { .. } => index.exemplars.approximate(self.symmetric.as_ref(), rows.clone()),
        };
        if let Some(query) = &self.symmetric {
            let mut exact: Vec<usize> = (0..cosines.len()).collect();
            if exact.len() > 2 * EXACT_ROWS {
                let fused = |at: &usize| index.shares.exemplar_score(cosines[*at], word_at(rows.start + at));
                exact.select_nth_unstable_by(EXACT_ROWS, fuse::best_first(fused, |&at| at));
                exact[EXACT_ROWS..].select_nth_unstable_by(EXACT_ROWS, fuse::best_first(|&at| cosines[at], |&at| at));
                exact.truncate(2 * EXACT_ROWS);
            }
            for at in exact {
                cosines[at] = index.exemplars.vectors.cosine(query, rows.start + at);
            }
        }
        let described = index.descriptions.rows(function);
        let descriptions: Vec<f32> = match &self.asymmetric {
            Some(query) => described.clone().map(|row| index.descriptions.vectors.cosine(query, row)).collect(),
            None => vec![0.0; described.len()],
        };
        let centroid = self.centroid(function);
        let signals = self.fuse(function, centroid, &cosines, &descriptions);

        let mut evidence: Vec<(usize, Evidence)> = cosines
            .into_iter()
            .zip(rows)
            .filter(|(_, row)| !self.is_silent(*row))
            .map(|(dense, row)| {
                let lexical = word_at(row);
                let score = index.shares.exemplar_score(dense, lexical).clamp(0.0, 1.0);
                (row + 1, Evidence { source: index.exemplars.sources[row], dense, lexical, score })
            })
            .collect();
        evidence.extend(signals.description.map(|DescriptionSignals { dense, lexical }| {
            let score = index.shares.description_score(dense, lexical).clamp(0.0, 1.0);
            (0, Evidence { source: DocumentSource::Description, dense, lexical, score })
        }));
        let best_first = fuse::best_first(|(_, evidence): &(usize, Evidence)| evidence.score, |(at, _)| *at);
        let shown = index.options.evidence;
        if evidence.len() > shown {
            evidence.select_nth_unstable_by(shown, &best_first);
            evidence.truncate(shown);
        }
        evidence.sort_by(best_first);
        Candidate {
            function: FunctionId::from_index(function),
            score: signals.score(index.shares),
            exemplars: signals.exemplars,
            description: signals.description,
            learned: None,
            share: 0.0,
            negative: signals.nearest_negative,
            evidence: evidence.into_iter().map(|(_, evidence)| evidence).collect(),
        }
    }
}
