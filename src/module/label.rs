//! Labels: how other files name the slots of a function.

use super::{Function, PathStep, Slot, SlotId, squeeze};
use crate::text::{name_words, names::singular};

/// True if what stands between `<` and `>` can name a slot; anything else is text.
pub(super) fn is_label(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !text.ends_with(' ')
        && text.chars().all(|character| character.is_alphanumeric() || "_-.[] ".contains(character))
}

/// `Order` of `me.test.Order`.
pub(super) fn last_segment(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// The slot that `label` means, more leniently than [`Function::slot_labelled`]: also the end of a path, the last
/// segment of a qualified label, and singular for plural.
pub(super) fn find_slot(function: &Function, label: &str) -> Option<SlotId> {
    function.slot_labelled(label).or_else(|| {
        let squeezed = squeeze(label);
        let by = |test: &dyn Fn(&Slot) -> bool| function.slots.iter().position(test).map(SlotId::from_index);
        by(&|slot| {
            let keys: Vec<&str> = keys(slot).collect();
            (1..keys.len()).any(|from| squeeze(&keys[from..].concat()) == squeezed)
        })
        .or_else(|| label.contains('.').then(|| function.slot_labelled(last_segment(label))).flatten())
        .or_else(|| {
            let joined =
                |name: &str| name_words(name).iter().map(|word| singular(word).into_owned()).collect::<String>();
            let wanted = joined(label);
            by(&|slot| !wanted.is_empty() && joined(slot.label()) == wanted)
        })
    })
}

/// The keys on the path to a slot, of which labels are made.
pub(super) fn keys(slot: &Slot) -> impl Iterator<Item = &str> {
    slot.path.0.iter().filter_map(|step| match step {
        PathStep::Key(key) => Some(&**key),
        PathStep::Each => None,
    })
}
