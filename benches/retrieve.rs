//! The cost of a search without the embedding: 1,000 functions with 10 exemplars each (and five times that), vectors of
//! 384 dimensions, sentences of about ten words.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use futures::future::BoxFuture;
use uptake::{
    embed::{EmbedError, Embedder, Purpose},
    module::{ExemplarId, FunctionId, OwnerMode},
    retrieve::{DocumentSource, Index, IndexDocument, Indexed, Query, RetrieveOptions},
};

const DIMENSIONS: usize = 384;

/// Vectors that look random and are the same for the same text.
struct Fake;

fn vector(text: &str) -> Vec<f32> {
    let mut bytes = vec![0_u8; DIMENSIONS];
    blake3::Hasher::new().update(text.as_bytes()).finalize_xof().fill(&mut bytes);
    let values: Vec<f32> = bytes.into_iter().map(|byte| f32::from(byte) - 127.5).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| value / length).collect()
}

impl Embedder for Fake {
    fn identity(&self) -> &str {
        "fake"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn embed(&self, texts: Vec<String>, _: Purpose) -> BoxFuture<'_, Result<Vec<Vec<f32>>, EmbedError>> {
        Box::pin(async move { Ok(texts.iter().map(|text| vector(text)).collect()) })
    }
}

/// Ten words: a few are in every other sentence and most are rare, as in any language.
fn sentence(number: usize) -> String {
    let bytes = blake3::hash(&number.to_le_bytes());
    let word = |byte: &u8| {
        let rank = usize::from(*byte);
        format!("word{}", rank * rank * rank / 8_000)
    };
    bytes.as_bytes()[..10].iter().map(word).collect::<Vec<_>>().join(" ")
}

fn documents(functions: usize, exemplars: usize) -> Vec<IndexDocument> {
    let document = |function: usize, source: DocumentSource, text: String| IndexDocument {
        function: FunctionId::from_index(function),
        source,
        lexical: text.clone(),
        dense: vec![text],
    };
    let of = |function: usize| {
        let described = document(function, DocumentSource::Description, sentence(usize::MAX - function));
        let shown = (0..exemplars).map(move |at| {
            let source = DocumentSource::Exemplar { id: ExemplarId::from_index(at), mode: OwnerMode::Normal };
            document(function, source, sentence(function * exemplars + at))
        });
        std::iter::once(described).chain(shown)
    };
    (0..functions).flat_map(of).collect()
}

fn search(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut group = criterion.benchmark_group("search");
    for (functions, exemplars) in [(1_000, 10), (1_000, 50)] {
        let options = RetrieveOptions { hnsw_from: usize::MAX, ..RetrieveOptions::default() };
        let build = Index::build(documents(functions, exemplars), functions, "en", &Fake, None, &options, &|_, _| {});
        let Indexed { index, .. } = runtime.block_on(build).expect("built");
        let queries: Vec<(String, Vec<f32>)> = (0..64)
            .map(|at| {
                let text = sentence(1_000_000 + at);
                let vector = vector(&text);
                (text, vector)
            })
            .collect();
        let mut next = queries.iter().cycle();
        group.bench_function(BenchmarkId::from_parameter(format!("{functions}x{exemplars}")), |bencher| {
            bencher.iter(|| {
                let (text, vector) = next.next().expect("a cycle has no end");
                index.search(&Query { text, asymmetric: vector, symmetric: vector }, 10, None)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, search);
criterion_main!(benches);
