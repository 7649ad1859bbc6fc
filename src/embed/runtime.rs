//! Finds and loads the ONNX Runtime library, once per process.

use std::{
    env,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use ort::{LoadDynamicError, environment::Environment};

use super::{EmbedError, causes};

/// The library's file name; `scripts/get-onnxruntime` puts it into `lib/`.
const LIBRARY: &str = if cfg!(target_os = "windows") {
    "onnxruntime.dll"
} else if cfg!(target_os = "macos") {
    "libonnxruntime.dylib"
} else {
    "libonnxruntime.so"
};

/// The loaded library. It allows one environment, so it is kept until the process ends.
static LOADED: Mutex<Option<LoadedRuntime>> = Mutex::new(None);

#[derive(Debug, Clone)]
pub(super) struct LoadedRuntime {
    pub(super) environment: Environment,
    /// The library's build information: version, commit, flags.
    pub(super) build: &'static str,
    path: PathBuf,
}

/// Loads the library that `wanted` or else the environment names, or else the first one found; blocks for about 20 ms.
/// A loaded library stays, whatever is wanted.
pub(super) fn load(wanted: Option<&Path>) -> Result<LoadedRuntime, EmbedError> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = &*loaded {
        if wanted.is_some_and(|wanted| wanted != loaded.path) {
            tracing::warn!(path = %loaded.path.display(), "the ONNX Runtime library is loaded already, and stays");
        }
        return Ok(loaded.clone());
    }
    let executable = env::current_exe().ok();
    let places = places(wanted, env::var_os("ORT_DYLIB_PATH").map(PathBuf::from), executable.as_deref());
    let mut tried = Vec::new();
    for place in &places {
        let builder = match ort::init_from(place) {
            Ok(builder) => builder,
            Err(error) => {
                tried.push(reason(&error));
                continue;
            }
        };
        let environment = builder
            .with_name("uptake")
            .with_telemetry(false)
            .build()
            .map_err(|error| EmbedError::Runtime(error.to_string()))?;
        let found = LoadedRuntime { environment, build: ort::info(), path: place.clone() };
        tracing::debug!(path = %place.display(), build = found.build, "loaded the ONNX Runtime library");
        return Ok(loaded.insert(found).clone());
    }
    Err(EmbedError::Runtime(format!(
        "{}. hint: `scripts/get-onnxruntime` fetches it; `embed.runtime` or ORT_DYLIB_PATH say where it is",
        tried.join("; ")
    )))
}

/// The loader's message is the cause of a cause, which `ort` leaves out.
fn reason(error: &LoadDynamicError) -> String {
    match error {
        LoadDynamicError::Dlopen { error, path } => format!("{}: {}", path.display(), causes(error)),
        error => error.to_string(),
    }
}

/// Where to look, in order. If a path is configured, only there: a different library would be a surprise.
///
/// Never in the working directory, which may be untrusted.
fn places(wanted: Option<&Path>, variable: Option<PathBuf>, executable: Option<&Path>) -> Vec<PathBuf> {
    let named = wanted.map(Path::to_path_buf).into_iter().chain(variable).find(|path| !path.as_os_str().is_empty());
    if let Some(path) = named {
        // The loader treats a path without a slash as a name to search for, and `ort` as beside the executable.
        return vec![std::path::absolute(&path).unwrap_or(path)];
    }
    let mut places = Vec::new();
    if let Some(directory) = executable.and_then(Path::parent) {
        places.push(directory.join(LIBRARY));
        places.push(directory.join("lib").join(LIBRARY));
        places.extend(directory.parent().map(|above| above.join("lib").join(LIBRARY)));
        // An executable built by cargo runs from below `target`, in the checkout.
        let target = directory.ancestors().find(|above| above.file_name().is_some_and(|name| name == "target"));
        places.extend(target.and_then(Path::parent).map(|checkout| checkout.join("lib").join(LIBRARY)));
    }
    places.retain(|place| place.is_file());
    places.push(LIBRARY.into());
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_the_only_place() {
        let option = Path::new("/a/libonnxruntime.so");
        let variable = PathBuf::from("/b/libonnxruntime.so");
        assert_eq!(places(Some(option), Some(variable.clone()), None), [option]);
        assert_eq!(places(Some(Path::new("")), Some(variable.clone()), None), [variable]);
    }

    #[test]
    fn a_named_place_does_not_depend_on_the_executable() {
        assert!(places(Some(Path::new("lib/libonnxruntime.so")), None, None)[0].is_absolute());
    }

    #[test]
    fn looks_beside_the_executable_then_asks_the_loader() {
        let root = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            path
        };
        let installed = make("usr/lib/libonnxruntime.so");
        let checkout = make("repository/lib/libonnxruntime.so");
        let find = |executable: &str| places(None, Some(PathBuf::new()), Some(&root.path().join(executable)));
        if cfg!(target_os = "linux") {
            assert_eq!(find("usr/bin/uptake"), [installed, LIBRARY.into()]);
            assert_eq!(find("repository/target/debug/deps/uptake-1"), [checkout, LIBRARY.into()]);
            assert_eq!(find("elsewhere/uptake"), [PathBuf::from(LIBRARY)]);
        }
    }
}
