//! Modules whose newest files do not serve, and when they are tried again.
//!
//! An author's mistake remains until the files change. Any other reason (the embedder is away, no file descriptor is
//! free) may pass: the module is tried again, and the wait doubles each time.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

use super::{PrepareError, lock};
use crate::module::{self, Diagnostics, ModuleName};

/// The longest time between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Why the newest files of a module do not serve.
#[derive(Debug, Clone)]
pub struct ModuleFailure {
    /// Mistakes that the author can correct.
    pub diagnostics: Diagnostics,
    /// It is not the author's fault, and may pass by itself.
    pub may_pass: bool,
}

/// See [the module](self).
#[derive(Debug)]
pub(super) struct Failures {
    /// The time between the first two tries.
    first_wait: Duration,
    known: Mutex<BTreeMap<ModuleName, KnownFailure>>,
}

#[derive(Debug)]
struct KnownFailure {
    /// The stamp of the files that failed; `None` if they could not be looked at.
    stamp: Option<module::ModuleStamp>,
    failure: ModuleFailure,
    message: String,
    /// When to try again, if the reason may pass.
    again: Option<Again>,
}

#[derive(Debug, Clone, Copy)]
struct Again {
    at: Instant,
    waited: Duration,
}

impl Failures {
    pub(super) fn new(first_wait: Duration) -> Self {
        Self { first_wait, known: Mutex::default() }
    }

    pub(super) fn remember(&self, name: &ModuleName, stamp: Option<module::ModuleStamp>, error: &PrepareError) {
        let diagnostics = match error {
            PrepareError::Refused { diagnostics, .. } => diagnostics.clone(),
            _ => Diagnostics::default(),
        };
        let may_pass = error.may_pass();
        let mut known = self.known();
        let before = known.get(name).and_then(|before| before.again);
        let waited = before.map_or(self.first_wait, |before| (before.waited * 2).min(LONGEST_WAIT));
        let again = may_pass.then(|| Again { at: Instant::now() + waited, waited });
        let failure = ModuleFailure { diagnostics, may_pass };
        known.insert(name.clone(), KnownFailure { stamp, failure, message: error.to_string(), again });
    }

    pub(super) fn forget(&self, name: &ModuleName) {
        self.known().remove(name);
    }

    /// True if files with this stamp failed, and it is not yet time to try them again.
    pub(super) fn holds(&self, name: &ModuleName, stamp: Option<&module::ModuleStamp>) -> bool {
        self.known().get(name).is_some_and(|known| known.stamp.as_ref() == stamp && !known.is_due())
    }

    /// Why a module does not serve, if that is known.
    pub(super) fn error(&self, name: &ModuleName) -> Option<PrepareError> {
        let known = self.known();
        let KnownFailure { failure, message, .. } = known.get(name)?;
        let name = name.clone();
        Some(match failure {
            ModuleFailure { may_pass: true, .. } => PrepareError::Unavailable { name, reason: message.clone() },
            ModuleFailure { diagnostics, .. } if diagnostics.has_errors() => {
                PrepareError::Refused { name, diagnostics: diagnostics.clone() }
            }
            ModuleFailure { .. } => PrepareError::Compile { name, reason: message.clone() },
        })
    }

    pub(super) fn all(&self) -> BTreeMap<ModuleName, ModuleFailure> {
        self.known().iter().map(|(name, known)| (name.clone(), known.failure.clone())).collect()
    }

    /// The modules that it is time to try again.
    pub(super) fn due(&self) -> Vec<ModuleName> {
        self.known().iter().filter(|(_, known)| known.is_due()).map(|(name, _)| name.clone()).collect()
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<ModuleName, KnownFailure>> {
        lock(&self.known)
    }
}

impl KnownFailure {
    fn is_due(&self) -> bool {
        self.again.is_some_and(|again| again.at <= Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{
        embed::{Hashed, HashedOptions},
        module::ModuleName,
        retrieve::RetrieveOptions,
        snapshot::{ModulesOptions, PrepareError, Snapshots, lock, unwatched},
    };

    /// Requests for arbitrary names must not fill the table.
    #[tokio::test]
    async fn names_of_no_module_leave_nothing_behind() {
        let root = tempfile::tempdir().unwrap();
        let options =
            ModulesOptions { root: root.path().into(), index: root.path().join("index"), ..ModulesOptions::default() };
        let embedder = Arc::new(Hashed::new(&HashedOptions::default()));
        let snapshots = Snapshots::new(options, RetrieveOptions::default(), embedder);
        for number in 0..500 {
            let name = ModuleName::new(&format!("nowhere-{number}")).unwrap();
            assert!(matches!(snapshots.fresh(&name).await, Err(PrepareError::Unknown(_))));
            assert!(matches!(snapshots.build(&name, &unwatched).await, Err(PrepareError::Unknown(_))));
        }
        assert!(lock(&snapshots.shared.building).is_empty());
        assert!(snapshots.shared.failures.all().is_empty());
        assert!(snapshots.shared.served.load().is_empty());
    }
}
