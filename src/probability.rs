//! Probabilities and their log-odds. Pure.

/// From this probability on, something is likelier than not. This is a definition, not a tuned value.
pub(crate) const EVEN: f32 = 0.5;

/// Log-odds are capped at plus or minus this value.
pub(crate) const MOST_ODDS: f32 = 8.0;

/// Log-probabilities are capped from below at this value.
pub(crate) const LEAST_LOG_PROBABILITY: f32 = -12.0;

/// Keeps the log-odds of 0 and 1 finite.
const NEARLY_NOTHING: f32 = 1e-6;

/// The probability with these log-odds.
#[must_use]
pub(crate) fn logistic(odds: f32) -> f32 {
    1.0 / (1.0 + (-odds).exp())
}

/// The log-odds of a probability; those of 0 and of 1 are finite.
#[must_use]
pub(crate) fn log_odds(probability: f32) -> f32 {
    let probability = probability.clamp(NEARLY_NOTHING, 1.0 - NEARLY_NOTHING);
    (probability / (1.0 - probability)).ln()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_beyond_0_and_1() {
        assert!(logistic(f32::MAX) <= 1.0 && logistic(f32::MIN) >= 0.0);
        assert!(log_odds(0.0).is_finite() && log_odds(1.0).is_finite());
    }

    #[test]
    fn even_odds_are_none() {
        assert!((logistic(0.0) - EVEN).abs() < 1e-6 && log_odds(EVEN).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn each_undoes_the_other(odds in -MOST_ODDS..MOST_ODDS) {
            prop_assert!((log_odds(logistic(odds)) - odds).abs() < 0.01);
        }
    }
}
