//! The files of what was learned, in `models/`: a part of the program. A build with the feature `fitting` reads them when it
//! starts instead, so that a fit can be tried, and the next one made on it, without building anew: from the directory that
//! `UPTAKE_MODELS` names, or else from `models/` of the sources.

/// A file of `models/`, as text.
#[cfg(not(feature = "fitting"))]
macro_rules! text {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/", $path))
    };
}

/// A file of `models/`, as bytes.
#[cfg(not(feature = "fitting"))]
macro_rules! bytes {
    ($path:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/", $path)).as_slice()
    };
}

#[cfg(feature = "fitting")]
macro_rules! text {
    ($path:literal) => {
        std::str::from_utf8($crate::learned::read($path)).expect("what was learned is written in UTF-8")
    };
}

#[cfg(feature = "fitting")]
macro_rules! bytes {
    ($path:literal) => {
        $crate::learned::read($path)
    };
}

pub(crate) use {bytes, text};

/// # Panics
/// If there is no such file: builds with this feature are for those who fit.
#[cfg(feature = "fitting")]
pub(crate) fn read(path: &str) -> &'static [u8] {
    let own = || concat!(env!("CARGO_MANIFEST_DIR"), "/models").into();
    let path = std::path::PathBuf::from(std::env::var_os("UPTAKE_MODELS").unwrap_or_else(own)).join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display())).leak()
}
