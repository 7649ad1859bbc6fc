//! The labels of words: the first word of a slot's value, a further one, and all other words.

pub(super) const LABELS_OF_SLOT: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordLabel(pub(super) usize);

impl WordLabel {
    /// The label of a word outside all values.
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn begins(slot: usize) -> Self {
        Self(1 + LABELS_OF_SLOT * slot)
    }

    pub(super) const fn goes_on(slot: usize) -> Self {
        Self(2 + LABELS_OF_SLOT * slot)
    }

    /// A further word of a value must follow a word of that value. `before` is `None` at the beginning of a sentence.
    pub(super) fn may_follow(self, before: Option<Self>) -> bool {
        let goes_on = self.0 > 0 && (self.0 - 1) % LABELS_OF_SLOT == 1;
        !goes_on || before.is_some_and(|before| before == self || before.0 + 1 == self.0)
    }

    /// The labels of a sentence with `words` words; `filled` has the slot, the first and the last word of each value.
    pub(super) fn of_words(words: usize, filled: &[(usize, usize, usize)]) -> Vec<Self> {
        let mut labels = vec![Self::NONE; words];
        for (slot, first, last) in filled {
            labels[*first] = Self::begins(*slot);
            labels[first + 1..=*last].fill(Self::goes_on(*slot));
        }
        labels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_begins_before_it_goes_on() {
        let (begins, goes_on) = (WordLabel::begins(1), WordLabel::goes_on(1));
        assert!(goes_on.may_follow(Some(begins)) && goes_on.may_follow(Some(goes_on)));
        assert!(!goes_on.may_follow(None) && !goes_on.may_follow(Some(WordLabel::NONE)));
        assert!(!goes_on.may_follow(Some(WordLabel::begins(0))) && !goes_on.may_follow(Some(WordLabel::goes_on(0))));
        assert!(
            begins.may_follow(None) && begins.may_follow(Some(goes_on)) && WordLabel::NONE.may_follow(Some(begins))
        );
        assert_eq!(
            WordLabel::of_words(4, &[(0, 1, 2)]),
            [WordLabel::NONE, WordLabel::begins(0), WordLabel::goes_on(0), WordLabel::NONE]
        );
    }
}
