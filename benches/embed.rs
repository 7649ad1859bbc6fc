//! The cost of one utterance and of an index build with the bundled model. Needs the library of
//! `scripts/get-onnxruntime`.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use uptake::embed::{self, EmbedOptions, Purpose};

fn embed(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let embedder = runtime.block_on(embed::open(&EmbedOptions::default())).expect("the bundled model loads");

    let mut group = criterion.benchmark_group("embed");
    for (name, text) in [("3 tokens", "yes"), ("10 tokens", "what will the weather be in Paris"), ("60 tokens", LONG)] {
        group.bench_function(name, |bencher| {
            bencher.to_async(&runtime).iter_batched(
                || vec![text.to_owned()],
                |texts| embedder.embed(texts, Purpose::Query),
                BatchSize::SmallInput,
            );
        });
    }
    let texts: Vec<String> = (0..64).map(|n| format!("what will the weather be in {n}")).collect();
    group.throughput(Throughput::Elements(64));
    group.bench_function("64 texts", |bencher| {
        bencher.to_async(&runtime).iter_batched(
            || texts.clone(),
            |texts| embedder.embed(texts, Purpose::Passage),
            BatchSize::SmallInput,
        );
    });
}

const LONG: &str = "Could you please find me a table for four people at a quiet Italian restaurant somewhere near the \
    old harbour this Friday evening at half past eight, preferably with a terrace, and let me know whether they have \
    vegetarian dishes and a menu for children, because my sister is coming along too?";

criterion_group!(benches, embed);
criterion_main!(benches);
