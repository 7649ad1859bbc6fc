//! Entities: declared in the domain, marked in examples, and with values and patterns from the training data.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Training,
    annotated::{AnnotatedPiece, Annotation},
    domain::Domain,
};
use crate::import::{
    builtins,
    project::{Entity, Place},
    reader::ProjectReader,
};

/// The words that examples mark for each entity, in lower case.
type MarkedWords = BTreeMap<String, BTreeSet<String>>;

/// The entities of a project. `dimensions` are found by Duckling.
pub(super) fn entities(
    training: &Training,
    domain: &Domain,
    dimensions: &[String],
    reader: &mut ProjectReader,
) -> Vec<Entity> {
    let mut found = Entities::default();
    for (name, place) in &domain.entities {
        found.of(name, place);
    }
    let said = found.marked(training, domain, reader);
    for (name, place) in domain.mapped().filter(|(name, _)| dimensions.iter().any(|dimension| dimension == name)) {
        found.of(name, place);
    }
    for (name, values, place) in &training.lookups {
        let entity = found.of(name, place);
        for value in values {
            entity.add(value, "");
        }
    }
    found.patterns(training, reader);
    found.synonyms(training, &said, reader);
    found.duckling(dimensions, reader);
    found.0.extend(domain.own_entities());
    found.0
}

#[derive(Default)]
struct Entities(Vec<Entity>);

impl Entities {
    /// The entity with this name, made if it does not exist.
    fn of(&mut self, name: &str, place: &Place) -> &mut Entity {
        let position = match self.0.iter().position(|entity| entity.name == name) {
            Some(position) => position,
            None => {
                self.0.push(Entity { name: name.to_owned(), place: place.clone(), ..Entity::default() });
                self.0.len() - 1
            }
        };
        &mut self.0[position]
    }

    /// Adds entities that examples mark; returns the marked words.
    fn marked(&mut self, training: &Training, domain: &Domain, reader: &mut ProjectReader) -> MarkedWords {
        let mut marked = MarkedWords::new();
        let is_declared = |entity: &str| domain.entities.iter().any(|(name, _)| name == entity);
        for example in training.intents.iter().flat_map(|(_, examples, _)| examples) {
            for piece in &example.pieces {
                let AnnotatedPiece::Entity(Annotation { entity, text, value, .. }) = piece else { continue };
                if !domain.entities.is_empty() && !is_declared(entity) && !marked.contains_key(entity) {
                    let what = format!("entity `{entity}`");
                    reader.changed(&example.place, what, "the domain does not declare it: it is taken as if it did");
                }
                self.of(entity, &example.place);
                let said = marked.entry(entity.clone()).or_default();
                said.insert(text.to_lowercase());
                said.extend(value.as_ref().map(|value| value.to_lowercase()));
            }
        }
        marked
    }

    /// A pattern belongs to the entity of the same name.
    fn patterns(&mut self, training: &Training, reader: &mut ProjectReader) {
        for (name, patterns, place) in &training.patterns {
            match self.0.iter_mut().find(|entity| entity.name == *name) {
                Some(entity) => entity.patterns.extend(patterns.iter().cloned()),
                None => {
                    let why = "no entity has its name: it only helped to tell intents apart";
                    reader.dropped(place, format!("regex `{name}`"), why);
                }
            }
        }
    }

    /// A synonym does not name its entity: it is added to each entity that has one of its texts as a value or marked
    /// word.
    fn synonyms(&mut self, training: &Training, said: &MarkedWords, reader: &mut ProjectReader) {
        for (value, synonyms, place) in &training.synonyms {
            let all: Vec<String> = std::iter::once(value).chain(synonyms).map(|text| text.to_lowercase()).collect();
            let is_owner = |entity: &Entity| {
                let is_listed = entity.values.iter().any(|listed| all.contains(&listed.value.to_lowercase()));
                is_listed || said.get(&entity.name).is_some_and(|said| all.iter().any(|text| said.contains(text)))
            };
            let mut owners: Vec<&mut Entity> = self.0.iter_mut().filter(|entity| is_owner(entity)).collect();
            if owners.is_empty() {
                let why = "no list or annotated example has any of its words";
                reader.dropped(place, format!("synonym `{value}`"), why);
            }
            for entity in &mut owners {
                for synonym in synonyms {
                    entity.add(value, synonym);
                }
            }
        }
    }

    /// Entities found by Duckling get built-in recognizers, beside the values that the project lists.
    fn duckling(&mut self, dimensions: &[String], reader: &mut ProjectReader) {
        for dimension in dimensions {
            let Some(entity) = self.0.iter_mut().find(|entity| entity.name == *dimension) else { continue };
            // Duckling's `time` is a moment.
            let mapped = builtins::find(if dimension == "time" { "datetime" } else { dimension });
            entity.builtins = mapped.builtins.to_vec();
            let why = mapped.note.unwrap_or("found by our own recognizers instead of Duckling's");
            let (what, place) = (format!("entity `{dimension}`"), entity.place.clone());
            reader.changed(&place, what, why);
        }
    }
}
