//! The texts of the shipped modules' authors, with values filled in, are understood as they were meant.

use std::sync::Arc;

use uptake::{
    eval::round_trip::{RoundTrip, RoundTripOptions, round_trip},
    understand::{UnderstandOptions, Understander},
};

use super::local::embedder;
use crate::support;

async fn made(module: &str) -> RoundTrip {
    let snapshot = support::snapshot(support::shipped(), module, embedder().await).await;
    let understander = Understander::new(UnderstandOptions::default(), Arc::clone(&embedder().await), Vec::new());
    let options = RoundTripOptions { fillings: 1, ..RoundTripOptions::default() };
    round_trip(&understander, &snapshot, options, &|_, _| {}).await.expect("a round trip")
}

/// At least this percentage of sentences is wholly right, and no sure call is wrong.
#[tokio::test]
async fn the_shipped_modules_are_understood_as_they_are_written() {
    for (module, right) in
        [("weather", 99), ("shoes", 99), ("restaurant", 97), ("petstore", 99), ("delivery", 99), ("banking", 99)]
    {
        let found = made(module).await;
        let scores = &found.scores;
        let text = uptake::eval::round_trip::report::text(
            &found,
            uptake::eval::report::ReportOptions { top: 30, errors: true },
        );
        assert!(scores.cases >= 2 * found.templates && found.unfilled.is_empty(), "{text}");
        assert!(
            scores.right.is_some_and(|share| share * 100.0 >= f64::from(right)),
            "{module}: below {right} %\n{text}"
        );
        assert_eq!(scores.calls.surely_wrong, 0, "{module}\n{text}");
    }
}

#[tokio::test]
async fn the_same_seed_says_the_same() {
    let (one, again) = (made("weather").await, made("weather").await);
    assert_eq!((one.scores.cases, one.failures), (again.scores.cases, again.failures));
}
