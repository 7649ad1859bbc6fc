//! A JSON pointer in steps, which tells items from members and lets items be counted and moved.

use crate::module::{PathStep, SlotPath};

/// Arguments are never nested deeper.
const MOST_STEPS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ArgumentStep {
    Key(String),
    Item(usize),
    /// `-`: not an existing item.
    New,
}

/// The place of a value in the arguments. Without steps it means all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ArgumentPath(pub(super) Vec<ArgumentStep>);

impl ArgumentPath {
    /// `None` if it is not a JSON pointer, or deeper than arguments can be.
    pub(super) fn of(pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(Self::default());
        }
        let steps =
            pointer.strip_prefix('/')?.split('/').take(MOST_STEPS + 1).map(ArgumentStep::of).collect::<Vec<_>>();
        (steps.len() <= MOST_STEPS).then_some(Self(steps))
    }

    pub(super) fn pointer(&self) -> String {
        self.0.iter().fold(String::new(), |pointer, step| match step {
            ArgumentStep::Key(key) => pointer + "/" + &key.replace('~', "~0").replace('/', "~1"),
            ArgumentStep::Item(index) => format!("{pointer}/{index}"),
            ArgumentStep::New => pointer + "/-",
        })
    }

    /// The path of the slot that it belongs to.
    pub(super) fn path(&self) -> SlotPath {
        let step = |step: &ArgumentStep| match step {
            ArgumentStep::Key(key) => PathStep::Key(key.as_str().into()),
            ArgumentStep::Item(_) | ArgumentStep::New => PathStep::Each,
        };
        SlotPath(self.0.iter().map(step).collect())
    }

    /// The first `length` steps.
    pub(super) fn until(&self, length: usize) -> &[ArgumentStep] {
        &self.0[..length.min(self.0.len())]
    }

    pub(super) fn is_within(&self, other: &[ArgumentStep]) -> bool {
        self.0.starts_with(other)
    }

    /// True if the two cannot both have a value: they are equal, one contains the other, or one treats as an array what
    /// the other treats as an object.
    pub(super) fn bars(&self, other: &Self) -> bool {
        match self.0.iter().zip(&other.0).find(|(own, other)| own != other) {
            None => true,
            Some((own, other)) => matches!(own, ArgumentStep::Key(_)) != matches!(other, ArgumentStep::Key(_)),
        }
    }

    /// True if they are equal or one contains the other, where `-` matches any item.
    pub(super) fn touches(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own.may_be(other))
    }

    /// True if they may be the same place, where `-` matches any item.
    pub(super) fn may_be(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.touches(other)
    }

    /// The steps of the list, if this is an element of a list of scalars.
    pub(super) fn list(&self) -> Option<&[ArgumentStep]> {
        match self.0.split_last() {
            Some((ArgumentStep::Item(_) | ArgumentStep::New, list)) => Some(list),
            Some((ArgumentStep::Key(_), _)) | None => None,
        }
    }
}

impl ArgumentStep {
    fn of(token: &str) -> Self {
        if token == "-" {
            Self::New
        } else if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number that is too large counts as behind all others.
            Self::Item(token.parse().unwrap_or(usize::MAX))
        } else {
            Self::Key(token.replace("~1", "/").replace("~0", "~"))
        }
    }

    fn may_be(&self, other: &Self) -> bool {
        self == other || matches!((self, other), (Self::New, Self::Item(_)) | (Self::Item(_), Self::New))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(pointer: &str) -> ArgumentPath {
        ArgumentPath::of(pointer).expect("a pointer")
    }

    #[test]
    fn a_pointer_comes_back_as_it_was() {
        for pointer in ["", "/", "/a", "/dishes/1/name", "/dishes/-/name", "/a~1b/~0~01/-1/0"] {
            assert_eq!(place(pointer).pointer(), pointer);
        }
        assert_eq!(place("/a/01/99999999999999999999").pointer(), format!("/a/1/{}", usize::MAX));
        assert_eq!(ArgumentPath::of("a/b"), None);
        assert_eq!(ArgumentPath::of(&"/a".repeat(MOST_STEPS + 1)), None);
    }

    #[test]
    fn places_bar_and_touch_one_another() {
        let bars = |one: &str, other: &str| (place(one).bars(&place(other)), place(other).bars(&place(one)));
        assert_eq!(bars("/a", "/a"), (true, true));
        assert_eq!(bars("/a", "/a/b"), (true, true));
        assert_eq!(bars("/a/0", "/a/b"), (true, true));
        assert_eq!(bars("/a/0", "/a/1"), (false, false));
        assert_eq!(bars("/a/b", "/a/c"), (false, false));
        assert!(place("/a/-/b").touches(&place("/a/3")) && !place("/a/1/b").touches(&place("/a/3")));
        assert!(place("/a/-/b").may_be(&place("/a/3/b")) && !place("/a/-").may_be(&place("/a/3/b")));
    }
}
