//! How sure a reading is. All numbers for this are defined here.

/// How sure it is that words mean what is read from them, in steps. The order of the steps matters; their scores were
/// chosen, not measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// Another reading is likelier, but this one is possible: the number of "the white one", the 1 of "first".
    Possible,
    /// Mostly a part of something else: the 3 of "March 3rd", the hour of "by 5".
    Doubtful,
    /// As likely as not: the first day of "March", "no" within a sentence.
    Even,
    /// The value had to be chosen: the Monday of "next week", the hour of "at 5", "yes, no".
    Guessed,
    /// Meant more often than not: the 2 of "a couple", a phone number that is not in use, yes by "I guess".
    Likely,
    /// The usual meaning, though there is another: "the 7th" as a day, 6 in the evening of "at 6", one wrong letter.
    Usual,
    /// An answer with words that weaken it: "yes, I guess", "the white one, yes".
    Sure,
    /// Nothing else is meant, but it is shortened or inflected: "on the 7th", "pizzas", "50 cents", "fine".
    Clear,
    /// Only what is usually left out is missing: the year of "3 March", the hyphen of "tshirt". Also "yes".
    Evident,
    /// It is written in full: "3 March 2026", "3pm", "kim@example.org", the entry of a list.
    WrittenOut,
}

impl Certainty {
    /// The score from 0 to 1. The scores of independent doubts are multiplied.
    pub(crate) const fn score(self) -> f32 {
        match self {
            Self::Possible => 0.3,
            Self::Doubtful => 0.4,
            Self::Even => 0.5,
            Self::Guessed => 0.6,
            Self::Likely => 0.7,
            Self::Usual => 0.8,
            Self::Sure => 0.85,
            Self::Clear => 0.9,
            Self::Evident => 0.95,
            Self::WrittenOut => 1.0,
        }
    }
}
