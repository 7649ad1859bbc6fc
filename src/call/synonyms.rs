//! The labels of a list by all their names.

use std::collections::HashMap;

use serde_json::Value;

use super::schema::text_of;
use crate::{
    module::{ListSpec, squeeze},
    text::fold,
};

/// The labels of a list by all their names.
#[derive(Debug, Clone, Default)]
pub struct Synonyms {
    /// By folded expression without separators; `None` if two labels share it.
    label_of: HashMap<Box<str>, Option<u32>>,
    labels: Vec<Value>,
}

impl Synonyms {
    #[must_use]
    pub fn new(list: &ListSpec) -> Self {
        let mut synonyms = Self::default();
        for instance in &list.instances {
            let at = u32::try_from(synonyms.labels.len()).unwrap_or(u32::MAX);
            let label = text_of(&instance.label);
            for expression in instance.expressions.iter().map(String::as_str).chain(label.as_deref()) {
                let key = squeeze(&fold(expression));
                if key.is_empty() {
                    continue;
                }
                synonyms
                    .label_of
                    .entry(key.into())
                    .and_modify(|known| {
                        let same = known.is_some_and(|known| {
                            synonyms.labels.get(known as usize).is_none_or(|known| *known == instance.label)
                        });
                        if !same {
                            *known = None;
                        }
                    })
                    .or_insert(Some(at));
            }
            synonyms.labels.push(instance.label.clone());
        }
        synonyms
    }

    /// The only label that `text` names.
    #[must_use]
    pub fn label(&self, text: &str) -> Option<&Value> {
        let at = (*self.label_of.get(squeeze(&fold(text)).as_str())?)?;
        self.labels.get(at as usize)
    }

    #[must_use]
    pub fn is_label(&self, value: &Value) -> bool {
        self.label(&text_of(value).unwrap_or_default()) == Some(value)
    }
}
