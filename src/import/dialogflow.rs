//! What both generations of Dialogflow have in common.

use serde_json::Value;

use super::{
    builtins,
    project::{Entity, Place, Project},
    reader::ProjectReader,
};
use crate::text::tag;

/// Keeps white space at both ends.
pub(super) fn raw<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// `en-US` and `en` count as the same; an empty tag means every language.
pub(super) fn is_language(tag: &str, wanted: &str) -> bool {
    tag.is_empty() || tag::language(tag) == tag::language(wanted)
}

/// The entity that `@kind`, or a resource name ending with it, names; made if it is a built-in one. `None` is free text, also
/// where the entity is missing, which is told.
pub(super) fn kind(
    written: &str,
    slot: &str,
    place: &Place,
    project: &mut Project,
    reader: &mut ProjectReader,
) -> Option<String> {
    let name = written.rsplit('/').next().unwrap_or(written).trim_start_matches('@');
    if project.entity(name).is_some() {
        return Some(name.to_owned());
    }
    if let Some(system) = name.strip_prefix("sys.") {
        let mapped = builtins::find(system);
        if let Some(note) = mapped.note {
            reader.changed(place, format!("`@{name}` of `{slot}`"), note);
        }
        if mapped.builtins.is_empty() {
            return None;
        }
        let builtins = mapped.builtins.to_vec();
        project.entities.push(Entity { name: name.to_owned(), builtins, place: place.clone(), ..Entity::default() });
        return Some(name.to_owned());
    }
    let what = format!("`@{name}` of `{slot}`");
    reader.changed(place, what, "the agent has no such entity, or its file cannot be read: the values are free text");
    None
}
