//! What an answer is based on, as named numbers: the same for learning, for deciding and for explaining.

use crate::{decide::head::Own, module::Module, retrieve::Candidate};

pub(crate) mod measure;

/// Declares features: a struct of numbers, their names, and their values in the order of the names.
macro_rules! features {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $feature:ident,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub struct $name { $($(#[$doc])* pub $feature: f32,)+ }

        impl $name {
            pub const NAMES: [&'static str; [$(stringify!($feature)),+].len()] = [$(stringify!($feature)),+];

            #[must_use]
            pub const fn values(&self) -> [f32; Self::NAMES.len()] {
                [$(self.$feature),+]
            }

            /// The same value for every feature.
            #[cfg(test)]
            pub(crate) const fn all(value: f32) -> Self {
                Self { $($feature: value),+ }
            }
        }
    };
}

pub(crate) use features;

/// The logarithm of a count, as features use it.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^24 of anything")]
pub(crate) fn logarithm(number: usize) -> f32 {
    (1.0 + number as f32).ln()
}

/// 1 if true, else 0.
pub(crate) const fn flag(is: bool) -> f32 {
    if is { 1.0 } else { 0.0 }
}

features! {
    /// The numbers that rank a candidate.
    RankingInput {
        /// Log-probability by the embedder's vectors, and by words and characters.
        vectors,
        ngrams,
        /// The same, times how well this way finds the module's own exemplars when each is left out.
        vectors_trusted,
        ngrams_trusted,
        /// The retrieval score that combines them all.
        fused,
        /// The same without anything learned.
        fused_alone,
        /// Mean cosine of its nearest exemplars, and the cosine of their centroid.
        nearest,
        centroid,
        /// Words shared with its exemplars.
        words,
        /// Cosine of its description, and words shared with it.
        described,
        described_words,
        /// It has no exemplars.
        unshown,
        /// Retrieval's score and the cosine of the centroid, times the logarithm of the number of functions: with many
        /// functions, other evidence counts.
        fused_of_many,
        centroid_of_many,
        /// The two scores of the description, weighted by how few exemplars the function has: fully without any, hardly
        /// with a dozen.
        described_of_few,
        described_words_of_few,
    }
}

impl RankingInput {
    #[must_use]
    pub fn new(candidate: &Candidate, own: Own, module: &Module) -> Self {
        let (shown, described) = (candidate.exemplars, candidate.description);
        let learned = candidate.learned;
        let of = |value: Option<f32>| value.unwrap_or_default();
        let [vectors, ngrams] = [of(learned.map(|it| it.vectors)), of(learned.map(|it| it.ngrams))];
        let centroid = of(shown.map(|it| it.centroid));
        let [dense, words] = [of(described.map(|it| it.dense)), of(described.map(|it| it.lexical))];
        let many = logarithm(module.functions.len());
        let few = (-logarithm(module.function(candidate.function).exemplars.len())).exp();
        Self {
            vectors,
            ngrams,
            vectors_trusted: vectors * own.vectors.exp(),
            ngrams_trusted: ngrams * own.ngrams.exp(),
            fused: candidate.score,
            fused_alone: if learned.is_none() { candidate.score } else { 0.0 },
            nearest: of(shown.map(|it| it.dense)),
            centroid,
            words: of(shown.map(|it| it.lexical)),
            described: dense,
            described_words: words,
            unshown: flag(shown.is_none()),
            fused_of_many: candidate.score * many,
            centroid_of_many: centroid * many,
            described_of_few: dense * few,
            described_words_of_few: words * few,
        }
    }
}

features! {
    /// What is known of an utterance while a form is open.
    BesideInput {
        /// Values for the form were found: any; one for a slot that was asked for; the same by a recognizer; one by a
        /// recognizer for a slot that was not asked for.
        told,
        asked_told,
        asked_recognized,
        other_recognized,
        /// All of them replace known values.
        replaces,
        /// The log-odds of the least sure of them; 0 if there are none.
        surest,
        /// Words that say something are left outside the values; the share of words that are explained, as in
        /// [`Features`].
        left,
        explained,
        left_over,
        /// Free text of more than a few words; words that only lead to an answer stand before a value.
        long_text,
        led,
        /// Logarithm of the number of words.
        length,
        /// It asks something in return, by its words; it ends as a question.
        asks_back,
        question,
        /// Its words say that a value is unknown, unwanted or stays as it is; it begins with a no; with a yes.
        passes,
        denies,
        affirms,
        /// A move of a conversation was found in it: a correction, a change, one more.
        moves,
        /// Log-odds, by its sentence vector, as in [`Features`].
        act_question,
        act_other,
        act_reply,
        act_decline,
        /// Log-odds, by its sentence vector and its words, that it gives a value for the form, declines to, or leaves
        /// it unchanged, rather than asks for something else.
        turn_tells,
        turn_declines,
        turn_nothing,
        /// About the likeliest other function: the log-odds that it is meant, by all evidence and by its score alone;
        /// whether retrieval ranks it above the open one; whether it takes a kind of value that the form does not.
        other_meant,
        other_score,
        other_lead,
        other_kind,
        /// It leaves fewer words unexplained than the form does; its share of explained words; how many values a
        /// recognizer found for it.
        other_unexplained,
        other_explained,
        other_left_over,
        other_values,
        /// The log-odds that the utterance means any function, by itself.
        anything,
        /// The question only asks whether everything is right; only optional slots were asked for; what was asked may
        /// be any words.
        confirms,
        optional,
        free,
        /// Interactions: values found while everything is to be confirmed; `turn_tells` where a recognizer found a
        /// value.
        confirms_told,
        recognized_turn_tells,
        recognized_turn_nothing,
        recognized_other_meant,
    }
}

features! {
    /// Everything that is known about one alternative: the utterance as a request for one function.
    Features {
        /// Log of its share among the candidates, and how far that lies above the best other one.
        share,
        lead,
        /// How undecided the shares are: their entropy.
        entropy,
        /// Log-probability by the embedder's vectors, and by words and characters.
        vectors,
        ngrams,
        /// The same for "no function".
        vectors_none,
        ngrams_none,
        /// Relative to the mean that the module's own exemplars reach when each is left out.
        vectors_relative,
        ngrams_relative,
        /// Share of the module's own exemplars that find their function when each is left out.
        own_accuracy,
        /// Nothing was learned: the module has no exemplars, or too many.
        unlearned,
        /// Retrieval's score, and how far it lies above the usual score of sentences about other things.
        fused,
        above_usual,
        /// Cosine of the nearest piece of evidence, of the nearest few exemplars, of their centroid, of the
        /// description.
        nearest,
        pooled,
        centroid,
        described,
        /// Words shared with exemplars, and with the description.
        words,
        described_words,
        /// Logarithms of the numbers of functions in the module, and of the function's exemplars.
        functions,
        exemplars,
        /// How near a negative exemplar is.
        negative,
        /// Share of meaningful words that values, the function's own words and empty talk account for.
        explained,
        /// The total weight of the words that are left over.
        left_over,
        /// Share of words that occur nowhere in the module.
        unknown,
        /// Logarithm of the number of words.
        length,
        /// Share of required slots that have a value; number of required ones without a value, and of optional ones
        /// with a value.
        required,
        missing,
        optional,
        /// The lowest and the product of the slots' confidences; 1 without slots.
        lowest_slot,
        all_slots,
        /// Number of values that a recognizer found; number of free-text values, and their share of the words.
        recognized,
        free,
        free_share,
        /// Values that were found in the utterance but fill none of the slots.
        unclaimed,
        /// Values that do not fit the schema.
        invalid,
        /// It is a valid, complete call.
        complete,
        /// A slot is empty for which nothing here could have found a value.
        unseen,
        /// How well its slots are filled, compared with the best other alternative.
        support_lead,
        /// It matches one of the function's templates word for word; the share of its words that the template leaves
        /// free.
        verbatim,
        verbatim_free,
        /// The utterance refuses what the function does; the number of things it rules out.
        refused,
        negations,
        /// It may ask for several things; the number of clauses; how likely one of them means another function.
        doubtful,
        clauses,
        other_clause,
        /// It ends as a question.
        question,
        /// Log-odds, by its sentence vector, that it asks about a state, is about something else (relative to the
        /// function's own exemplars), answers a question, or declines to answer, rather than asks for something; 0 if
        /// the embedder has no reader.
        act_question,
        act_other,
        act_reply,
        act_decline,
        /// How much likelier than the function's own exemplars it is to ask about a state, a rule or the past; the same
        /// value if it is positive, else 0.
        asks_unlike,
        asks_beyond,
        /// The function was asked about; a slot that was asked for has a value.
        expected,
        answered,
        /// The language puts no spaces between words.
        unspaced,
    }
}
