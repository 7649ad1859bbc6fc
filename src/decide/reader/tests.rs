use serde::Deserialize;

use super::*;
use crate::{
    embed::{EmbedOptions, Purpose, open},
    exemplars::Sentence,
};

/// The network's output where it was trained.
#[derive(Deserialize)]
struct NetworkOutput {
    words: Vec<Cut>,
    readings: Vec<ExpectedReading>,
}

#[derive(Deserialize)]
struct Cut {
    text: String,
    words: Vec<(usize, usize)>,
}

#[derive(Deserialize)]
struct ExpectedReading {
    text: String,
    words: Vec<(usize, usize)>,
    labels: Vec<String>,
    kinds: Vec<u8>,
    vector: Vec<f32>,
    state_of_first_word: Vec<f32>,
    scores: Vec<Scores>,
}

#[derive(Deserialize)]
struct Scores {
    first: usize,
    last: usize,
    of_labels: Vec<f32>,
}

fn vectors() -> NetworkOutput {
    serde_json::from_str(include_str!("../../../models/reader/vectors.json")).unwrap()
}

/// Products of 8 bits differ between processors. The examples were made on a processor with VNNI instructions. On one
/// without, vectors differed by up to 0.0025, states by 0.053 and scores by 0.28.
const OF_VECTORS: f32 = 8e-3;
const OF_STATES: f32 = 0.1;
const OF_SCORES: f32 = 0.8;

fn near(own: &[f32], theirs: &[f32], tolerance: f32) -> bool {
    own.iter().zip(theirs).all(|(own, theirs)| (own - theirs).abs() < tolerance)
}

#[tokio::test]
async fn words_states_and_scores_are_those_of_training() {
    let embedder = open(&EmbedOptions::default()).await.unwrap();
    let reader = embedder.reader().expect("the bundled model has a reader");
    let NetworkOutput { words, readings } = vectors();
    let texts: Vec<String> = words.iter().map(|cut| cut.text.clone()).collect();
    for (cut, embedded) in words.iter().zip(embedder.embed_words(texts, Purpose::Symmetric).await.unwrap()) {
        let own: Vec<(usize, usize)> =
            embedded.words.unwrap().spans().iter().map(|span| (span.start, span.end)).collect();
        assert_eq!(own, cut.words, "{}", cut.text);
    }
    for read in readings {
        let embedded = embedder.embed_words(vec![read.text.clone()], Purpose::Symmetric).await.unwrap().remove(0);
        let states = embedded.words.unwrap();
        assert!(near(&embedded.vector, &read.vector, OF_VECTORS), "{:?} {:?}", &embedded.vector[..8], read.vector);
        assert!(near(states.values(), &read.state_of_first_word, OF_STATES), "{:?}", &states.values()[..8]);
        assert_eq!(states.spans().len(), read.words.len());
        let mut vectors: Vec<Arc<[f32]>> =
            embedder.embed(read.labels.clone(), Purpose::Symmetric).await.unwrap().into_iter().map(Arc::from).collect();
        let asked: Vec<SlotId> = (1..read.kinds.len())
            .filter(|at| read.kinds[*at] == LabelKind::Asked as u8)
            .map(|at| SlotId::from_index(at - 1))
            .collect();
        let labels = FunctionLabels { function: vectors.remove(0), slots: vectors, ..FunctionLabels::default() };
        let parts = labels.read(&reader, &states, &asked).unwrap();
        let own = SpanScores::new(states.spans(), &labels, parts);
        for Scores { first, last, of_labels } in read.scores {
            let span = Span::new(read.words[first].0, read.words[last].1);
            let scores: Vec<f32> =
                (1..of_labels.len()).filter_map(|at| own.score(SlotId::from_index(at - 1), span)).collect();
            assert!(near(&scores, &of_labels[1..], OF_SCORES), "{}: {scores:?} {of_labels:?}", read.text);
        }
    }
}

#[test]
fn labels_are_written_as_in_training() {
    assert_eq!(plain_name("pickupDate"), "pickup date");
    assert_eq!(plain_name("pickup_date"), "pickup date");
    assert_eq!(plain_name("item.plate-no"), "item plate no");
    assert_eq!(plain_name("step2Name"), "step2 name");
    assert_eq!(label("size", " how large ", &["s".into(), "m".into()]), "size: how large (s, m)");
    assert_eq!(label("size", "", &[]), "size");
}

fn scores() -> SpanScores {
    let words = [(0, 4), (5, 7), (8, 12)].map(|(start, end)| Span::new(start, end)).to_vec();
    // One slot; spans have up to two words.
    let scores = vec![vec![1.0, -2.0, -1.0, 3.0, 0.5, f32::NEG_INFINITY]];
    SpanScores { words, longest: 2, scores }
}

#[test]
fn a_span_has_the_score_of_the_words_that_it_touches() {
    let (scores, slot) = (scores(), SlotId::from_index(0));
    assert_eq!(scores.score(slot, Span::new(0, 4)), Some(1.0));
    assert_eq!(scores.score(slot, Span::new(6, 9)), Some(3.0));
    assert_eq!(scores.score(slot, Span::new(0, 12)), None, "too many words");
    assert_eq!(scores.score(slot, Span::new(4, 5)), None, "no word");
    assert_eq!(scores.around(slot, Span::new(0, 4)).map(|(best, _)| best), Some(1.0));
    assert_eq!(scores.around(slot, Span::new(8, 12)).map(|(best, _)| best), Some(3.0));
    let above: Vec<Span> = scores.above(0.6).map(|one| one.span).collect();
    assert_eq!(above, [Span::new(0, 4), Span::new(5, 12)]);
}

#[tokio::test]
async fn exemplars_teach_where_a_slot_stands() {
    let embedder = open(&EmbedOptions::default()).await.unwrap();
    let reader = embedder.reader().unwrap();
    let embed =
        async |text: &str| embedder.embed_words(vec![text.to_owned()], Purpose::Symmetric).await.unwrap().remove(0);
    let mut labels = FunctionLabels {
        function: embed("log work").await.vector.into(),
        slots: vec![embed("xq").await.vector.into()],
        ..FunctionLabels::default()
    };
    let slot = SlotId::from_index(0);
    let of = |before: &str, value: &str, after: &str| Sentence {
        text: format!("{before}{value}{after}"),
        slots: vec![(slot, before.len()..before.len() + value.len())],
    };
    let sentences = [
        of("file it under ", "green apples", " for me"),
        of("please file it under ", "tax", ""),
        of("could you put this under ", "holiday plans", " today"),
        of("put it under ", "misc", " please"),
    ];
    let mut states = Vec::new();
    for sentence in &sentences {
        states.push(embed(&sentence.text).await.words.unwrap());
    }
    let said = "file this under blue moons please";
    let words = ReaderWords::new(embed(said).await.words.unwrap(), |word| word);
    let score = |labels: &FunctionLabels| {
        let parts = labels.read(&reader, &words.states, &[]).unwrap();
        SpanScores::new(words.states.spans(), labels, parts).score(slot, Span::new(16, 26)).unwrap()
    };
    let before = score(&labels);
    labels.corrections = adapt::adapt(&reader, &labels, sentences.iter().zip(&states)).unwrap().into();
    assert!(score(&labels) > before + 0.5, "{before} {}", score(&labels));
}
