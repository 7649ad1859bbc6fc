//! The files of what was learned, in `models/`: a part of the program. A build with the feature `fitting` reads them from the
//! directory that `UPTAKE_MODELS` names instead, so that a fit can be tried, and the next one made on it, without building anew.

/// A file of `models/`, as text.
macro_rules! text {
    ($path:literal) => {
        $crate::learned::read_text($path, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/", $path)))
    };
}

/// A file of `models/`, as bytes.
macro_rules! bytes {
    ($path:literal) => {
        $crate::learned::read_bytes($path, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/models/", $path)))
    };
}

pub(crate) use {bytes, text};

#[cfg(not(feature = "fitting"))]
pub(crate) const fn read_text(_: &str, built_in: &'static str) -> &'static str {
    built_in
}

#[cfg(not(feature = "fitting"))]
pub(crate) const fn read_bytes(_: &str, built_in: &'static [u8]) -> &'static [u8] {
    built_in
}

#[cfg(feature = "fitting")]
pub(crate) fn read_text(path: &str, built_in: &'static str) -> &'static str {
    std::str::from_utf8(read_bytes(path, built_in.as_bytes())).expect("the files of UPTAKE_MODELS are read as UTF-8")
}

/// # Panics
/// If `UPTAKE_MODELS` is set and has no such file: builds with this feature are for who fits.
#[cfg(feature = "fitting")]
pub(crate) fn read_bytes(path: &str, built_in: &'static [u8]) -> &'static [u8] {
    let Some(directory) = std::env::var_os("UPTAKE_MODELS") else { return built_in };
    let path = std::path::Path::new(&directory).join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display())).leak()
}
