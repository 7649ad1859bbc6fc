//! What strangers may send and authors may write, in forms that nobody thought of: files of modules, utterances,
//! requests of chat completions, echoed states, projects of other tools; `understand::fuzz` does the same with replies
//! of model servers. Each begins with good and bad inputs, of the fixtures and of `tests/fixtures/fuzz`, and changes
//! them. Some with the other tests; for longer, and for the same once more:
//!
//! ```sh
//! FUZZ_SECONDS=600 cargo test --locked fuzz::states -- --nocapture
//! FUZZ_SEED=7 cargo test --locked fuzz::states
//! ```
//!
//! The input that is tried lies in `target/fuzz` meanwhile, so that it is there after a hang, too.
//!
//! Our own: what libraries for this add is feedback by coverage, which wants an instrumented build of everything below
//! us; without it they choose their inputs as blindly as this, and do not know what a module or a state is made of.

mod chat;
mod importers;
mod modules;
mod mutate;
mod states;
mod utterances;

use std::{
    env, fs,
    io::Write as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

pub(crate) use mutate::Mutator;

/// Time limit for one input, including a module that is built for it, on any machine.
const LONGEST: Duration = Duration::from_secs(600);

/// A run: its length and its seed.
pub(crate) struct Run {
    name: &'static str,
    seed: u64,
    pub(crate) random: fastrand::Rng,
    /// Inputs of a normal run.
    inputs: u64,
    until: Option<Instant>,
    tried: u64,
    since: Instant,
}

impl Run {
    /// Runs this many inputs unless a time is given.
    pub(crate) fn new(name: &'static str, inputs: u64) -> Self {
        let seconds: Option<f64> = env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
        let seed = env::var("FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
        let since = Instant::now();
        let until = seconds.map(|seconds| since + Duration::from_secs_f64(seconds));
        Self { name, seed, random: fastrand::Rng::with_seed(seed), inputs, until, tried: 0, since }
    }

    /// Inputs so far.
    pub(crate) fn tried(&self) -> u64 {
        self.tried
    }

    /// Whether there is another input.
    pub(crate) fn goes_on(&self) -> bool {
        self.until.map_or(self.tried < self.inputs, |until| Instant::now() < until)
    }

    /// Records the input that is tried now.
    pub(crate) fn try_next(&mut self, input: &[u8]) {
        let took = self.since.elapsed();
        assert!(self.until.is_none() || took < LONGEST, "{}: the input before took {took:?}", self.shown());
        self.tried += 1;
        self.since = Instant::now();
        let path = self.kept();
        // Not in normal runs: their failures can be reproduced by the seed.
        if self.until.is_some() {
            fs::create_dir_all(path.parent().expect("a directory")).expect("a writable directory");
            fs::write(path, input).expect("a writable file");
        }
    }

    fn kept(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz").join(format!("{}-{}", self.name, self.seed))
    }

    /// How to reproduce the input.
    pub(crate) fn shown(&self) -> String {
        format!("FUZZ_SEED={} {}, input {}", self.seed, self.name, self.tried)
    }

    /// Reports what was done, bypassing the test runner's capture, if more than a normal run was requested.
    pub(crate) fn done(&self, what: &str) {
        if self.until.is_some() {
            let said = format!("{}: {} inputs, {what} (FUZZ_SEED={})\n", self.name, self.tried, self.seed);
            let _ = std::io::stderr().write_all(said.as_bytes());
            let _ = fs::remove_file(self.kept());
        }
    }
}

/// The inputs of `tests/fixtures/fuzz/NAME`.
pub(crate) fn corpus(name: &str) -> Vec<Vec<u8>> {
    let directory = crate::support::fixture("fuzz").join(name);
    let mut files: Vec<PathBuf> =
        fs::read_dir(&directory).expect("a corpus").flatten().map(|entry| entry.path()).collect();
    files.sort();
    files.into_iter().map(|file| fs::read(file).expect("an input")).collect()
}
