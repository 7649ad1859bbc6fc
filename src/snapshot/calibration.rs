//! How sure a module's own answers are: measured once for each version, in the background, and kept between starts.

use std::{
    io::{self, Write as _},
    path::PathBuf,
    sync::Arc,
};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{PrepareError, Snapshot, Snapshots};
use crate::{
    decide::{confidence::Calibration, model::DecisionModel},
    exemplars::Sentences,
    files::{self, Access},
    module::Module,
};

/// Measures how sure a module's answers are. Understanding is implemented above this layer, which passes the
/// implementation in.
pub trait Calibrate: Send + Sync {
    /// The same module gives the same calibration.
    ///
    /// # Errors
    /// If the module cannot be built without some of its exemplars, or the embedding fails.
    fn calibrate<'a>(
        &'a self,
        snapshots: &'a Snapshots,
        snapshot: &'a Snapshot,
    ) -> BoxFuture<'a, Result<Calibration, PrepareError>>;
}

/// Changes with the method of calibration, so that results of another method are not reused.
const METHOD: &str = "a fifth, one build";

/// The stored form of a calibration.
#[derive(Serialize, Deserialize)]
struct StoredCalibration {
    /// A hash of what it was made from.
    content: String,
    calibration: Calibration,
}

impl Snapshots {
    /// From now on, modules that are built are calibrated with this.
    pub fn calibrate_by(&self, calibrate: Arc<dyn Calibrate>) {
        // The first one stays.
        let _ = self.shared.calibrate.set(calibrate);
    }

    /// The sentences that the module's exemplars stand for.
    ///
    /// # Errors
    /// If the embedding fails.
    pub(crate) async fn sentences(&self, module: &Module) -> Result<Sentences, PrepareError> {
        let labels = self.labels(module, None).await?;
        self.said(module, &labels).await
    }

    /// Waits until it is measured how sure the module's own answers are; from then on the snapshot knows it.
    ///
    /// # Errors
    /// See [`Calibrate::calibrate`].
    pub async fn calibrated(&self, snapshot: &Snapshot) -> Result<Calibration, PrepareError> {
        if let Some(known) = snapshot.calibration.own() {
            return Ok(known);
        }
        let Some(calibrate) = self.shared.calibrate.get() else { return Ok(snapshot.calibration.get()) };
        // One module at a time: requests come first.
        let _turn = self.shared.calibrating.lock().await;
        let path = self.calibration_path(snapshot);
        let content = self.calibration_content(snapshot);
        let kept = read(path.clone()).await.filter(|kept| kept.content == content);
        let found = match kept {
            Some(kept) => kept.calibration,
            None => {
                let calibration = calibrate.calibrate(self, snapshot).await?;
                let Calibration { slope, offset, judged, right } = calibration;
                tracing::debug!(module = %snapshot.module.name, slope, offset, judged, right, "a module is calibrated");
                write(path, StoredCalibration { content, calibration }).await;
                calibration
            }
        };
        snapshot.calibration.set(found);
        Ok(found)
    }

    /// The same in the background, if the snapshot still serves.
    pub(super) fn calibrate_later(&self, snapshot: Arc<Snapshot>) {
        if self.shared.calibrate.get().is_none() {
            return;
        }
        let this = self.clone();
        tokio::spawn(async move {
            // A version that no longer serves needs no calibration.
            let is_served = || this.get(&snapshot.module.name).is_some_and(|served| Arc::ptr_eq(&served, &snapshot));
            if is_served()
                && let Err(error) = this.calibrated(&snapshot).await
            {
                tracing::warn!(module = %snapshot.module.name, %error, "a module could not be calibrated");
            }
        });
    }

    /// Loads the calibration that was kept for this version, if there is one.
    pub(super) async fn recall(&self, snapshot: &Snapshot) {
        let kept = read(self.calibration_path(snapshot)).await;
        if let Some(kept) = kept.filter(|kept| kept.content == self.calibration_content(snapshot)) {
            snapshot.calibration.set(kept.calibration);
        }
    }

    fn calibration_path(&self, snapshot: &Snapshot) -> PathBuf {
        self.shared.options.index.join(format!("{}.calibration.json", snapshot.module.name))
    }

    /// A hash of everything that a calibration depends on: the module, the embedder, and the weights of evidence.
    fn calibration_content(&self, snapshot: &Snapshot) -> String {
        let mut hasher = blake3::Hasher::new();
        let embedder = self.shared.embedder.identity();
        for part in [METHOD, snapshot.module.version.as_str(), embedder, DecisionModel::text()] {
            hasher.update(part.as_bytes()).update(b"\0");
        }
        hasher.finalize().to_hex().to_string()
    }
}

async fn read(path: PathBuf) -> Option<StoredCalibration> {
    let text = tokio::fs::read_to_string(path).await.ok()?;
    serde_json::from_str(&text).ok()
}

/// A failure only costs time at the next start.
async fn write(path: PathBuf, kept: StoredCalibration) {
    let place = path.clone();
    let written = tokio::task::spawn_blocking(move || {
        if let Some(directory) = place.parent() {
            std::fs::create_dir_all(directory)?;
        }
        let text = serde_json::to_vec(&kept)?;
        files::replace(&place, Access::Usual, |file| file.write_all(&text))
    });
    if let Err(error) = written.await.map_err(io::Error::other).flatten() {
        tracing::warn!(path = %path.display(), %error, "a calibration could not be kept; the next start finds it out anew");
    }
}
