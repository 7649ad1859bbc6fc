//! Everything that is known about an utterance before anything is decided.

use std::{cell::OnceCell, collections::HashSet, sync::Arc};

use crate::{
    decide::{
        clauses::Strength,
        courtesy::{of_whole, without_courtesies},
        expected::Expected,
        knowledge::Knowledge,
        model::DecisionModel,
        ranking::{ALL, Learned, rank},
        reader::ReaderWords,
        repair,
        spelling::MISSPELT,
    },
    module::FunctionId,
    recognize::{
        Context, Mention, Negation, NegationKind,
        acts::{self, Moves},
        reply::{self, Reply},
    },
    retrieve::{Candidate, Query, values},
    text::{Span, Utterance, fuel},
};

/// The most self-corrections that are read in one utterance.
const MOST_REPAIRS: usize = 4;
/// The most places of one utterance at which something is recognized: far more than a person names, and few enough that
/// comparing all of them with each other stays cheap.
const MOST_PLACES: usize = 256;

/// The most things that are ruled out in one utterance. Beyond that, it is not clear what remains.
const MOST_NEGATIONS: usize = 64;

/// One utterance, analysed once: every later step of a turn or of a conversation reads this. Immutable. Spans count
/// characters of the whole utterance, also in a view of a part ([`Self::within`]).
#[derive(Debug, Clone)]
pub(crate) struct Analysis {
    pub utterance: Utterance,
    /// The moment from which "tomorrow" is computed.
    pub now: jiff::Zoned,
    pub mentions: Vec<Mention>,
    /// Entries of lists that are named by a single word: mentions only where the list was asked for.
    pub told_apart: Vec<Mention>,
    /// More was recognized than a person says at once: the utterance is plain text, and `mentions` is empty.
    pub is_crowded: bool,
    pub negations: Vec<Negation>,
    /// What the utterance does to a conversation, besides giving values.
    pub acts: Moves,
    /// What the utterance says to a yes-or-no question, read without the question.
    pub reply: Reply,
    pub whole: UtterancePart,
    /// The clauses of the utterance, in order; empty unless there are several. A clause may be a request, a part of
    /// one, or mean nothing.
    pub clauses: Vec<UtterancePart>,
    /// The words besides the dialogue acts, or besides what is refused, where a conversation may need them alone.
    pub rest: Option<UtterancePart>,
}

/// A part of an utterance, or all of it, with what was found for it alone.
#[derive(Debug, Clone)]
pub(crate) struct UtterancePart {
    pub span: Span,
    /// How it is joined to the clause before; `None` for the first clause, and for a part that is not a clause.
    pub joined: Option<Strength>,
    pub vectors: TextVectors,
    /// Best first.
    pub candidates: Vec<Candidate>,
}

/// The embeddings of one text. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct TextVectors {
    /// To find exemplars.
    pub symmetric: Arc<[f32]>,
    /// To find descriptions.
    pub asymmetric: Arc<[f32]>,
    /// To find slots; `None` where the embedder has no reader.
    pub words: Option<Arc<ReaderWords>>,
}

/// The functions among which the meant one is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Pool<'a> {
    /// All functions if `None`.
    pub among: Option<&'a [FunctionId]>,
    pub expected: &'a Expected,
    /// The most candidates that are found.
    pub limit: usize,
}

impl Analysis {
    /// What the words alone say: nothing is embedded, and no function is looked for.
    pub(crate) fn recognized(knowledge: &Knowledge, utterance: Utterance, now: jiff::Zoned) -> Self {
        let language = knowledge.module.language();
        let context = Context { now: now.clone() };
        let courtesy = acts::courtesy(language, utterance.text());
        let utterance = without_courtesies(knowledge, utterance, &context);
        let read = OnceCell::new();
        let recognize = || read.get_or_init(|| knowledge.recognizers.recognize(&utterance, &context));
        let misspelt = knowledge.spelling.misspelt(&utterance, recognize);
        let mut read = read.into_inner().filter(|_| misspelt.is_empty());
        let utterance = if misspelt.is_empty() { utterance } else { utterance.respelt(misspelt) };
        let (mut utterance, mut repairs) = (utterance, 0);
        let (mut mentions, mut acts) = loop {
            let recognize = || knowledge.recognizers.recognize(&utterance, &context);
            let mentions = read.take().unwrap_or_else(recognize);
            let acts = acts::read(language, utterance.text());
            // "Not the 20th, I mean the 27th" rules out what is no longer meant, and takes nothing back.
            let is_ruled_out = |span: Span| {
                let negations = knowledge.recognizers.negations(&utterance, &mentions);
                negations.iter().any(|one| one.kind == NegationKind::Absence && one.scope.overlaps(span))
            };
            let repaired = if is_crowded(&mentions) || repairs == MOST_REPAIRS {
                None
            } else {
                let repaired = repair::repaired(language, &utterance, &mentions, &acts);
                repaired.filter(|one| !is_ruled_out(one.retracted))
            };
            match repaired.map(|one| one.utterance) {
                Some(repaired) => (utterance, repairs) = (repaired, repairs + 1),
                None => break (mentions, acts),
            }
        };
        for mention in &mut mentions {
            if utterance.misspelt().iter().any(|word| word.span.overlaps(mention.span)) {
                mention.score = mention.score.min(MISSPELT.score());
            }
        }
        acts.courtesy = of_whole(knowledge, courtesy, &utterance, &mentions);
        let is_crowded = is_crowded(&mentions);
        if is_crowded {
            mentions.clear();
        }
        let nothing: Arc<[f32]> = Arc::new([]);
        let negations = knowledge.recognizers.negations(&utterance, &mentions);
        if negations.len() > MOST_NEGATIONS {
            fuel::give_up();
        }
        mentions = knowledge.recognizers.alternatives(&utterance, mentions, &negations);
        let mut told_apart = if is_crowded { Vec::new() } else { knowledge.recognizers.told_apart(&utterance) };
        told_apart.retain(|mention| !negations.iter().any(|one| one.scope.overlaps(mention.span)));
        Self {
            is_crowded,
            negations,
            acts,
            reply: reply::read(language, None, utterance.text()),
            whole: UtterancePart {
                span: Span::new(0, utterance.len()),
                joined: None,
                vectors: TextVectors { symmetric: Arc::clone(&nothing), asymmetric: nothing, words: None },
                candidates: Vec::new(),
            },
            clauses: Vec::new(),
            rest: None,
            mentions,
            told_apart,
            utterance,
            now,
        }
    }

    /// What was said and found in one part of the utterance, as if nothing else had been said. Of the clauses, only
    /// those inside the part stay.
    pub(crate) fn within(&self, part: &UtterancePart) -> Self {
        fuel::spend(self.mentions.len());
        let inside: Vec<UtterancePart> =
            self.clauses.iter().filter(|clause| part.span.contains(clause.span)).cloned().collect();
        Self {
            utterance: self.utterance.only(part.span),
            now: self.now.clone(),
            is_crowded: self.is_crowded,
            mentions: self.mentions.iter().filter(|mention| part.span.contains(mention.span)).cloned().collect(),
            told_apart: self.told_apart.iter().filter(|one| part.span.contains(one.span)).cloned().collect(),
            negations: self.negations.iter().filter(|one| part.span.overlaps(one.scope)).copied().collect(),
            acts: self.acts.clone(),
            reply: self.reply,
            whole: part.clone(),
            clauses: if inside.len() > 1 { inside } else { Vec::new() },
            rest: None,
        }
    }

    /// The same utterance, searched for what it may mean in another pool. Embeds nothing.
    pub(crate) fn among(&self, knowledge: &Knowledge, pool: Pool<'_>) -> Self {
        let again = |part: &UtterancePart| {
            let candidates = candidates(knowledge, &self.utterance, &self.mentions, (part.span, &part.vectors), pool);
            UtterancePart { candidates, ..part.clone() }
        };
        Self {
            whole: again(&self.whole),
            clauses: self.clauses.iter().map(again).collect(),
            rest: self.rest.as_ref().map(again),
            ..self.clone()
        }
    }
}

fn is_crowded(mentions: &[Mention]) -> bool {
    mentions.len() > MOST_PLACES
        && mentions.iter().map(|mention| mention.span).collect::<HashSet<_>>().len() > MOST_PLACES
}

/// The functions that a part of the utterance may mean, best first.
pub(crate) fn candidates(
    knowledge: &Knowledge,
    utterance: &Utterance,
    mentions: &[Mention],
    (span, vectors): (Span, &TextVectors),
    Pool { among, expected, limit }: Pool<'_>,
) -> Vec<Candidate> {
    let module = &knowledge.module;
    let silent = expected.silent(module);
    let text = values::of_utterance(module.language(), utterance, span, mentions);
    let query = Query { text: &text, asymmetric: &vectors.asymmetric, symmetric: &vectors.symmetric };
    let search = |limit, among: Option<&[FunctionId]>| knowledge.index.search_without(&query, limit, among, &silent);
    let mut candidates = search(limit.max(ALL), among);
    let learned = Learned::new(&knowledge.head, module.functions.len(), &vectors.symmetric, &utterance.meant(span));
    // Functions that were asked about are considered, however little the words say about them. So are functions that
    // exemplars teach.
    let mut unseen = expected.unseen(&candidates, among);
    let is_new = |function: &FunctionId, known: &[FunctionId]| {
        let is_candidate = candidates.iter().any(|candidate| candidate.function == *function);
        !is_candidate && !known.contains(function) && among.is_none_or(|among| among.contains(function))
    };
    for function in learned.best(limit) {
        if is_new(&function, &unseen) {
            unseen.push(function);
        }
    }
    candidates.extend(search(unseen.len(), Some(&unseen)));
    expected.prefer(module, &mut candidates);
    rank(DecisionModel::bundled(), (module, &knowledge.head), &learned, &mut candidates);
    let mut place = 0;
    candidates.retain(|candidate| {
        place += 1;
        place <= limit || expected.functions().contains(&candidate.function)
    });
    candidates
}
