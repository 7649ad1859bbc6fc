//! From a request to an [`Analysis`] of its utterance: the only place where an utterance is recognized and embedded.

use std::{sync::Arc, time::Instant};

use crate::{
    assist::guard,
    decide::{
        analysis::{Analysis, Pool, TextVectors, UtterancePart, candidates},
        candidates::{self as slot_candidates, AnswerCandidate},
        clauses::{self, Clause},
        filling::Filling,
        reader::ReaderWords,
        reading,
        situation::Situation,
    },
    embed::{EmbedError, Embedded, Purpose},
    module::{FunctionId, SlotId},
    recognize::acts::{self, Move, MoveKind, Moves},
    snapshot::Snapshot,
    telemetry::milliseconds,
    text::{self, Span, Utterance},
    understand::{Demand, Timings, TurnError, TurnRequest, Understander},
};

/// Fewest words of a possible request beside a refusal.
const REQUEST_WORDS: usize = 2;

/// An analysis, and the time it took.
pub(crate) struct Analysed {
    pub analysis: Analysis,
    pub took: Timings,
}

impl Understander {
    /// Recognizes, embeds and retrieves: everything that is known before a decision.
    pub(crate) async fn analyse(&self, snapshot: &Snapshot, request: &TurnRequest) -> Result<Analysed, TurnError> {
        self.analyse_with(snapshot, request, self.options.candidates).await
    }

    /// The same with at most this many candidates.
    pub(crate) async fn analyse_with(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        limit: usize,
    ) -> Result<Analysed, TurnError> {
        let mut took = Timings::default();
        let core = self.cores.free(request).await;
        let clock = Instant::now();
        let (mut analysis, clauses) = core.run(|| {
            self.fuel.burn(|| {
                let analysis = self.recognize(snapshot, request)?;
                let clauses = clauses_of(snapshot, request, &analysis);
                Ok::<_, TurnError>((analysis, clauses))
            })
        })?;
        took.recognize = milliseconds(clock);

        let clock = Instant::now();
        // A refusal refers to an open form.
        let unrefused = || unrefused(&analysis).filter(|_| !request.expected.is_empty());
        let rest = beside(&analysis.acts).or_else(unrefused).filter(|_| !request.single);
        let whole = Span::new(0, analysis.utterance.len());
        let spans: Vec<Span> =
            std::iter::once(whole).chain(clauses.iter().map(|clause| clause.span)).chain(rest).collect();
        let vectors = self.vectors(request, &analysis.utterance, &spans).await?;
        took.embed = milliseconds(clock);

        let core = self.cores.free(request).await;
        let clock = Instant::now();
        let among = among(request);
        let pool = Pool { among: among.as_deref(), expected: &request.expected, limit };
        let joints = std::iter::once(None).chain(clauses.iter().map(|clause| clause.joined)).chain(rest.map(|_| None));
        let parts = spans.into_iter().zip(joints).zip(vectors).map(|((span, joined), vectors)| {
            let found = candidates(snapshot, &analysis.utterance, &analysis.mentions, (span, &vectors), pool);
            UtterancePart { span, joined, vectors, candidates: found }
        });
        let mut others: Vec<UtterancePart> = core.run(|| self.fuel.burn(|| parts.collect()));
        let first = (!others.is_empty()).then(|| others.remove(0));
        analysis.rest = rest.and_then(|_| others.pop());
        analysis.clauses = others;
        if let Some(first) = first {
            analysis.whole = first;
        }
        took.retrieve = milliseconds(clock);
        Ok(Analysed { analysis, took })
    }

    /// All possible answers to what the request asked for, if free text was asked for: training data for the model that
    /// chooses among them. Empty without a function.
    ///
    /// # Errors
    /// As [`Self::turn`].
    pub async fn answer_candidates(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
    ) -> Result<Option<(SlotId, Vec<AnswerCandidate>)>, TurnError> {
        let Analysed { analysis, .. } = self.analyse(snapshot, request).await?;
        let situation = Situation { given: None, ..self.situation(snapshot, request, &[], &analysis) };
        Ok(request.given.and_then(|function| reading::answers(&situation, function)))
    }

    /// All possible values for slots of the request's function with their evidence, and the values that rules fill:
    /// training data for the model that weighs them. Empty without a function.
    ///
    /// # Errors
    /// As [`Self::turn`].
    pub async fn slot_candidates(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
    ) -> Result<(Vec<slot_candidates::Candidate>, Vec<(Filling, Option<slot_candidates::Evidence>)>), TurnError> {
        let Analysed { analysis, .. } = self.analyse(snapshot, request).await?;
        // For the reader, no function is given yet.
        let situation = Situation { given: None, ..self.situation(snapshot, request, &[], &analysis) };
        let of = |function| (reading::candidates(&situation, function), reading::by_rules(&situation, function));
        Ok(request.given.map(of).unwrap_or_default())
    }

    /// What the words alone show: embeds nothing, and searches no function.
    pub(crate) fn recognize(&self, snapshot: &Snapshot, request: &TurnRequest) -> Result<Analysis, TurnError> {
        let utterance = self.read(&request.utterance)?;
        let now = self.now(snapshot, request);
        Ok(Analysis::recognized(snapshot, utterance, now))
    }

    fn read(&self, said: &str) -> Result<Utterance, TurnError> {
        // Counted before any change, so that spans fit the client's own string.
        let length = said.chars().count();
        if length > self.options.max_utterance {
            return Err(TurnError::LongUtterance { length, limit: self.options.max_utterance });
        }
        // Control characters separate words like spaces; each becomes one, so that spans stay valid.
        let text: String = said.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        if text::is_blank(&text) {
            return Err(TurnError::EmptyUtterance);
        }
        Ok(Utterance::new(&text))
    }

    pub(crate) fn now(&self, snapshot: &Snapshot, request: &TurnRequest) -> jiff::Zoned {
        request.now.clone().unwrap_or_else(|| {
            let zone = snapshot.module.settings.time_zone.as_deref().unwrap_or(&self.options.time_zone);
            let now = jiff::Timestamp::now();
            // Zone names are checked when the configuration and the module are loaded.
            now.in_tz(zone).unwrap_or_else(|_| now.to_zoned(jiff::tz::TimeZone::UTC))
        })
    }

    /// The vectors of these parts. All at once: a batch costs less than its texts one by one.
    async fn vectors(
        &self,
        request: &TurnRequest,
        utterance: &Utterance,
        spans: &[Span],
    ) -> Result<Vec<TextVectors>, TurnError> {
        let texts = || spans.iter().map(|span| utterance.meant(*span).into_owned()).collect();
        let embedding = async {
            let symmetric = self.embedder.embed_words(texts(), Purpose::Symmetric).await?;
            let asymmetric = match self.embedder.is_symmetric() {
                true => None,
                false => Some(self.embedder.embed(texts(), Purpose::Query).await?),
            };
            Ok::<_, EmbedError>((symmetric, asymmetric))
        };
        let embedded = match self.embedder.works_here() {
            true => self.cores.free(request).await.wait_for(embedding).await,
            false => embedding.await,
        };
        let (symmetric, asymmetric) = embedded?;
        let symmetric = all(spans.len(), symmetric)?;
        let mut asymmetric = asymmetric.map(|made| all(spans.len(), made)).transpose()?.map(Vec::into_iter);
        let both = symmetric.into_iter().zip(spans).map(|(Embedded { vector, words }, span)| {
            let symmetric: Arc<[f32]> = vector.into();
            let asymmetric = asymmetric.as_mut().and_then(Iterator::next);
            TextVectors {
                asymmetric: asymmetric.map_or_else(|| Arc::clone(&symmetric), Arc::from),
                symmetric,
                words: words
                    .map(|states| Arc::new(ReaderWords::new(states, |part| utterance.span_of_meant(*span, part)))),
            }
        });
        Ok(both.collect())
    }
}

/// Makes sure that there is one for each text.
fn all<T>(texts: usize, made: Vec<T>) -> Result<Vec<T>, EmbedError> {
    if made.len() == texts {
        return Ok(made);
    }
    Err(EmbedError::Inference(format!("{} vectors came back for {texts} texts", made.len())))
}

/// The clauses, if there are several and one of them may be a request of its own.
fn clauses_of(snapshot: &Snapshot, request: &TurnRequest, analysis: &Analysis) -> Vec<Clause> {
    // A text that gives commands to the model must not be split into one part that does and another that looks
    // harmless.
    if request.single || request.given.is_some() || guard::is_command(analysis.utterance.text()) {
        return Vec::new();
    }
    let mut clauses = clauses::clauses(&analysis.utterance, snapshot.module.language(), &analysis.mentions);
    if clauses.len() < 2 {
        clauses.clear();
    }
    clauses
}

/// A possible request beside a dialogue act that ends the current form.
fn beside(acts: &Moves) -> Option<Span> {
    let ends = |one: &Move| matches!(one.kind, MoveKind::Cancel | MoveKind::Restart) && one.confidence >= acts::ACTS;
    acts.rest.filter(|_| acts.moves.iter().any(ends))
}

/// A possible request beside a refusal: the longest part outside negations.
fn unrefused(analysis: &Analysis) -> Option<Span> {
    let refused =
        |word: &Span| analysis.negations.iter().any(|one| one.cue.overlaps(*word) || one.scope.overlaps(*word));
    if analysis.negations.is_empty() {
        return None;
    }
    let runs = analysis.utterance.words().chunk_by(|one, other| refused(one) == refused(other));
    let others = runs.filter(|run| run.len() >= REQUEST_WORDS && !run.iter().any(refused));
    let longest = others.max_by_key(|run| run.len())?;
    Some(Span::new(longest.first()?.start, longest.last()?.end))
}

/// The functions that may be chosen: the client's, or of them the one that it requires.
pub(super) fn among(request: &TurnRequest) -> Option<Vec<FunctionId>> {
    match (request.demand, request.given) {
        (Demand::Function(function), _) | (_, Some(function)) => Some(vec![function]),
        _ => request.among.clone(),
    }
}
