//! A module as its authors wrote it, valid by construction: functions with typed slots, exemplars, recognizers,
//! settings.
//!
//! [`load()`] reads a directory, collects every problem as a [`Diagnostic`], and gives a [`Module`] only if none is an
//! error.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod ad_hoc;
mod advice;
mod bind;
mod builtin;
mod check;
mod declared;
pub mod diagnostic;
pub mod directory;
pub mod document;
pub mod edit;
pub mod effect;
pub mod endpoint;
mod files;
mod findings;
#[cfg(test)]
pub(crate) mod fixture;
pub mod history;
mod label;
mod limits;
pub mod load;
pub mod marks;
mod pattern;
pub mod reading;
mod resolve;
pub mod rule;
pub mod schema;
pub mod schemas;
pub mod settings;
mod slots;
mod source;
pub mod template;

pub use ad_hoc::{ad_hoc, ad_hoc_limits, own_function};
pub use builtin::{Builtin, SlotGroup};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use effect::{EffectSource, FunctionEffect, KnownEffect};
pub(crate) use findings::kind_of;
pub use limits::Limits;
pub use load::{LoadError, ModuleStamp, ServiceAnswer, check, content_version, load, service_answers, stamp};
pub use pattern::pattern_bytes;
pub use reading::SlotReading;
pub use settings::{Settings, Wording};

/// The name of a module: one path segment that can never leave the modules root.
///
/// Letters, digits, `_`, `-` and `.` only; 1 to 128 bytes; it doesn't start with a dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModuleName(Arc<str>);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("a module name has 1 to 128 letters, digits, '_', '-' or '.', and doesn't start with '.'")]
pub struct BadModuleName;

impl ModuleName {
    pub fn new(name: &str) -> Result<Self, BadModuleName> {
        let fits = (1..=128).contains(&name.len())
            && !name.starts_with('.')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if fits { Ok(Self(name.into())) } else { Err(BadModuleName) }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModuleName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for ModuleName {
    type Error = BadModuleName;
    fn try_from(name: String) -> Result<Self, BadModuleName> {
        Self::new(&name)
    }
}

impl From<ModuleName> for String {
    fn from(name: ModuleName) -> Self {
        name.as_str().to_owned()
    }
}

/// Everything an author wrote, checked and resolved. Immutable.
#[derive(Debug, Clone)]
pub struct Module {
    pub name: ModuleName,
    /// Hex BLAKE3 of the content of every file that was read: equal content has equal versions everywhere.
    pub version: String,
    pub functions: Vec<Function>,
    /// Defined recognizers first, then implicit ones (built-ins that a slot uses, enums and booleans of the schema).
    pub recognizers: Vec<Recognizer>,
    pub settings: Settings,
    /// This module's own Jinja templates, which replace those in `config/prompts`, by the file's name without its
    /// extension.
    pub prompts: BTreeMap<&'static str, String>,
    /// Warnings that did not keep the module from loading.
    pub warnings: Vec<Diagnostic>,
}

impl Module {
    /// The module without some of its exemplars.
    #[must_use]
    pub(crate) fn without(&self, mut is_left_out: impl FnMut(FunctionId, ExemplarId, &Exemplar) -> bool) -> Self {
        let mut module = self.clone();
        for id in self.function_ids() {
            let mut ids = (0..).map(ExemplarId::from_index);
            let kept = &mut module.functions[id.index()].exemplars;
            kept.retain(|exemplar| ids.next().is_some_and(|own| !is_left_out(id, own, exemplar)));
        }
        module
    }

    /// BCP 47 language of the exemplars, and of conversations unless another language is requested.
    #[must_use]
    pub fn language(&self) -> &str {
        self.settings.language()
    }

    #[must_use]
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    pub fn function_ids(&self) -> impl Iterator<Item = FunctionId> + use<> {
        (0..self.functions.len()).map(FunctionId::from_index)
    }

    #[must_use]
    pub fn recognizer(&self, id: RecognizerId) -> &Recognizer {
        &self.recognizers[id.index()]
    }

    /// The function with exactly this name, else the one with this wire name.
    #[must_use]
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        self.functions
            .iter()
            .position(|function| function.name == name)
            .or_else(|| self.functions.iter().position(|function| function.wire_name == name))
            .map(FunctionId::from_index)
    }

    /// The function that a client means by this name: [`Self::function_named`], else the only one that is [`alike`].
    #[must_use]
    pub fn function_alike(&self, name: &str) -> Option<FunctionId> {
        let mut found = self.function_ids().filter(|id| alike(&self.function(*id).name, name));
        self.function_named(name).or_else(|| found.next().filter(|_| found.next().is_none()))
    }

    /// The group of the slot's best recognizer; a slot without recognizers is free text, unless its type says
    /// otherwise.
    #[must_use]
    pub fn group_of(&self, slot: &Slot) -> SlotGroup {
        let best = slot.recognizers.first().map(|id| &self.recognizer(*id).kind);
        match (slot.kind, best) {
            (SlotKind::Boolean, _) => SlotGroup::Boolean,
            (_, Some(RecognizerKind::List(_))) => SlotGroup::List,
            (_, Some(RecognizerKind::Pattern(_))) => SlotGroup::Pattern,
            (_, Some(RecognizerKind::Builtin(builtin))) => builtin.group(),
            (SlotKind::Integer | SlotKind::Number, None) => SlotGroup::Number,
            (SlotKind::String | SlotKind::Any, None) => SlotGroup::Text,
        }
    }

    /// The exemplars that apply only in a context.
    pub fn contextual(&self) -> impl Iterator<Item = (FunctionId, ExemplarId, &Exemplar)> {
        self.function_ids().flat_map(|function| {
            let exemplars = self.function(function).exemplars.iter().enumerate();
            exemplars
                .filter(|(_, exemplar)| exemplar.context_frame.is_some() || exemplar.context_slot.is_some())
                .map(move |(index, exemplar)| (function, ExemplarId::from_index(index), exemplar))
        })
    }
}

macro_rules! index_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(u32);

        impl $name {
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("a module's parts are counted in far fewer than 2^32"))
            }

            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index_newtype!(
    /// Position of a function in [`Module::functions`].
    FunctionId
);
index_newtype!(
    /// Position of a slot in [`Function::slots`].
    SlotId
);
index_newtype!(
    /// Position of a recognizer in [`Module::recognizers`].
    RecognizerId
);
index_newtype!(
    /// Position of an exemplar in [`Function::exemplars`].
    ExemplarId
);

/// Something the module's user can ask for.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// As the authors wrote it; answers use this name.
    pub name: String,
    /// `name` if it fits `[a-zA-Z0-9_-]{1,64}`, otherwise a stable, unique name that does; model servers see this name.
    pub wire_name: String,
    /// May be empty.
    pub description: String,
    /// JSON Schema of the arguments: always `type: object`, self-contained (only `#/$defs/...` references, for
    /// recursion).
    pub parameters: Value,
    /// The leaves of `parameters`, in the schema's order.
    pub slots: Vec<Slot>,
    pub exemplars: Vec<Exemplar>,
    /// The OpenAPI operation that the function came from, `GET /pets/{petId}`; `None` for the other formats.
    pub operation: Option<String>,
    /// The operation as a request.
    pub request: Option<endpoint::Operation>,
    /// Where its calls are sent; `None`: the client makes them.
    pub endpoint: Option<endpoint::Endpoint>,
    /// The effect of its calls.
    pub effect: effect::KnownEffect,
}

impl Function {
    /// True if a call acts: made twice, it has its effect twice.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.effect.effect == effect::FunctionEffect::Acts
    }

    #[must_use]
    pub fn slot(&self, id: SlotId) -> &Slot {
        &self.slots[id.index()]
    }

    pub fn slot_ids(&self) -> impl Iterator<Item = SlotId> + use<> {
        (0..self.slots.len()).map(SlotId::from_index)
    }

    /// True if an exemplar has the slot.
    #[must_use]
    pub fn shows(&self, id: SlotId) -> bool {
        let mut pieces = self.exemplars.iter().flat_map(|exemplar| &exemplar.pieces);
        pieces.any(|piece| matches!(piece, TemplatePiece::Slot { slot: Some(slot), .. } if *slot == id))
    }

    /// The slot at exactly this path.
    #[must_use]
    pub fn slot_at(&self, path: &SlotPath) -> Option<SlotId> {
        self.slots.iter().position(|slot| slot.path == *path).map(SlotId::from_index)
    }

    /// The slot of the value at this JSON pointer: the slot at this place, else the open slot that contains it.
    #[must_use]
    pub fn slot_of(&self, pointer: &str) -> Option<SlotId> {
        let at = |place: &str| self.slot_ids().find(|id| self.slot(*id).path.holds(place));
        at(pointer).or_else(|| {
            let mut around = pointer.rmatch_indices('/').filter_map(|(end, _)| at(&pointer[..end]));
            around.find(|id| self.slot(*id).kind == SlotKind::Any)
        })
    }

    /// The slot that an author or client means by `label`: its path, else its last key, else either without case and
    /// separators.
    #[must_use]
    pub fn slot_labelled(&self, label: &str) -> Option<SlotId> {
        let find = |test: &dyn Fn(&Slot) -> bool| self.slots.iter().position(test).map(SlotId::from_index);
        let squeezed = squeeze(label);
        find(&|slot| slot.path.to_string() == label)
            .or_else(|| find(&|slot| slot.label() == label))
            .or_else(|| find(&|slot| squeeze(&slot.path.to_string()) == squeezed))
            .or_else(|| find(&|slot| squeeze(slot.label()) == squeezed))
    }
}

/// A name without case and separators, so that `OrderFood`, `order_food` and `order-food` are equal.
#[must_use]
pub fn squeeze(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// True if two names, or their last parts, are equal without case and separators: `me.test.OrderFood` and `order_food`.
#[must_use]
pub fn alike(one: &str, other: &str) -> bool {
    let last = |name: &str| squeeze(name.rsplit(['.', '/', ':']).next().unwrap_or_default());
    let (first, second) = (squeeze(one), squeeze(other));
    !first.is_empty() && !second.is_empty() && (first == second || first == last(other) || last(one) == second)
}

/// One step from the arguments object towards a leaf.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathStep {
    Key(Arc<str>),
    /// Every item of an array.
    Each,
}

/// Where a slot lies in the arguments: `format`, `shipping_address.city`, `toppings[]`, `dishes[].name`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotPath(pub Vec<PathStep>);

/// True for the index of an item, and for `-`, which stands for an item that does not exist yet.
fn is_index(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) || token == "-"
}

impl SlotPath {
    /// The path for a JSON pointer into arguments: indices and `-` stand for every item.
    #[must_use]
    pub fn of_pointer(pointer: &str) -> Self {
        let step = |step: &str| {
            if is_index(step) {
                PathStep::Each
            } else {
                PathStep::Key(step.replace("~1", "/").replace("~0", "~").into())
            }
        };
        Self(pointer.split('/').skip(1).map(step).collect())
    }

    /// True if a value at this JSON pointer belongs to this slot.
    #[must_use]
    pub fn holds(&self, pointer: &str) -> bool {
        let mut tokens = pointer.split('/').skip(1);
        let mut is_step = |step: &PathStep| {
            tokens.next().is_some_and(|token| match step {
                PathStep::Key(key) if token.contains('~') => *token.replace("~1", "/").replace("~0", "~") == **key,
                PathStep::Key(key) => *token == **key,
                PathStep::Each => is_index(token),
            })
        };
        self.0.iter().all(&mut is_step) && tokens.next().is_none()
    }

    /// The keys on the path.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|step| match step {
            PathStep::Key(key) => Some(&**key),
            PathStep::Each => None,
        })
    }

    /// The JSON pointer of its place; in an array, the pointer of a new item (`/dishes/-/name`).
    #[must_use]
    pub fn pointer(&self) -> String {
        self.0.iter().fold(String::new(), |pointer, step| match step {
            PathStep::Key(key) => pointer + "/" + &key.replace('~', "~0").replace('/', "~1"),
            PathStep::Each => pointer + "/-",
        })
    }

    /// True if the slot lies in an array, and so may have several values.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.0.contains(&PathStep::Each)
    }
}

impl fmt::Display for SlotPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if index == 0 => formatter.write_str(key)?,
                PathStep::Key(key) => write!(formatter, ".{key}")?,
                PathStep::Each => formatter.write_str("[]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for SlotPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A leaf of a function's parameters: one thing to find in what a person says.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    pub path: SlotPath,
    pub description: String,
    pub kind: SlotKind,
    /// The leaf's own schema (of the item, for an array), references resolved.
    pub schema: Value,
    /// True if it and every object above it are required and may not be null, so that no call is complete without it.
    /// A slot under an array is required *per item*; then this says whether the array needs one.
    pub required: bool,
    pub default: Option<Value>,
    /// Closed list of values, from `enum` or `const`; empty for an open slot.
    pub choices: Vec<Value>,
    /// The recognizers that may find its values, best first. Empty: free text, found by its neighbours in the
    /// exemplars.
    pub recognizers: Vec<RecognizerId>,
    /// The question to ask when it is missing (`module.toml`).
    pub question: Option<Wording>,
    pub counting: Counting,
}

/// Whether a slot holds a count of things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counting {
    #[default]
    No,
    /// Its description says so; of several numbers in an utterance, another one may be the count.
    Described,
    /// Its name says so.
    Named,
}

impl Slot {
    /// The last key of its path, which exemplars use as its name.
    #[must_use]
    pub fn label(&self) -> &str {
        self.path
            .0
            .iter()
            .rev()
            .find_map(|step| match step {
                PathStep::Key(key) => Some(&**key),
                PathStep::Each => None,
            })
            .unwrap_or_default()
    }

    /// True if any words may fill the slot: the schema offers no choices, and no recognizer reads it.
    #[must_use]
    pub fn takes_any_words(&self) -> bool {
        self.kind == SlotKind::String && self.choices.is_empty() && self.recognizers.is_empty()
    }
}

/// The JSON type of a slot's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotKind {
    String,
    Integer,
    Number,
    Boolean,
    /// An object with no declared properties, a union, or no type at all: any JSON value.
    Any,
}

impl SlotKind {
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Number)
    }
}

/// An example of how people ask for a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Exemplar {
    /// As written, with slots as `<label>`.
    pub template: String,
    /// The template split into pieces, in order.
    pub pieces: Vec<TemplatePiece>,
    pub mode: OwnerMode,
    /// `OpenDU`'s label; `"Negative"` for a negative exemplar.
    pub label: Option<String>,
    pub context_frame: Option<String>,
    pub context_slot: Option<String>,
    /// The sentence from which the template was made, if the author kept it.
    pub utterance: Option<String>,
    /// The arguments of that sentence, if the author gave them.
    pub arguments: Option<Value>,
}

impl Exemplar {
    /// The template with each `<slot>` rendered by `render`.
    pub fn rendered(&self, mut render: impl FnMut(&str) -> String) -> String {
        let mut text = String::with_capacity(self.template.len());
        for piece in &self.pieces {
            match piece {
                TemplatePiece::Text(literal) => text.push_str(literal),
                TemplatePiece::Slot { label, .. } => text.push_str(&render(label)),
            }
        }
        text
    }
}

/// A run of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplatePiece {
    Text(String),
    /// `slot` is `None` where the function has no slot of this label (a warning at load).
    Slot {
        label: String,
        slot: Option<SlotId>,
    },
}

/// How an exemplar counts for its function (`owner_mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OwnerMode {
    #[default]
    Normal,
    /// Belongs to a part of the function (a slot's frame) and implies the function.
    Extended,
    /// Looks like a request for the function but isn't one: evidence against it.
    Negative,
}

/// A named way to find values.
#[derive(Debug, Clone)]
pub struct Recognizer {
    pub name: String,
    pub kind: RecognizerKind,
    /// How a built-in recognizer reads ambiguous words; without effect on others.
    pub reading: SlotReading,
}

#[derive(Debug, Clone)]
pub enum RecognizerKind {
    List(ListSpec),
    Pattern(PatternSpec),
    Builtin(Builtin),
}

/// A closed list of entities with their synonyms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListSpec {
    pub instances: Vec<Instance>,
    /// Also find misspelt expressions (one edit from 5 letters on, two from 9).
    pub fuzzy: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// The canonical value; always matched as an expression too (with `_` and `-` as spaces as well).
    pub label: Value,
    pub expressions: Vec<String>,
}

/// Regular expressions with linear running time; a group named `value` narrows the span and the value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatternSpec {
    pub patterns: Vec<String>,
}

#[cfg(test)]
mod tests;
