//! The texts of a conversation, in the author's words if there are any.

use serde_json::Value;

use crate::{
    call::{POSSIBLE_PHONE, Validator, ViolationKind},
    conversation::{Form, InvalidValue, next::completed, pending::Pending, rules::Broken},
    dialogue::outcome::Question,
    dialogue::question::{
        LISTED,
        shown::{cut, described, is_index, last_key, masked, one_line, plain, shown, spoken},
        words::{AskedKind, LanguageWords, Relation, ValueRequirement},
    },
    language::grammar::OfSlot,
    module::{
        Function, FunctionId, Module, Slot, SlotKind, SlotPath, Wording,
        rule::{Base, Operand, Temporal},
        settings::{FunctionSettings, SlotSettings},
    },
};

/// The hour at which the evening begins.
const EVENING: i8 = 18;
/// A text with this many characters is not said twice in a row.
pub(crate) const LONG: usize = 200;
/// The most characters of a value that a prompt gets.
const LONGEST_IN_PROMPT: usize = 120;

/// Words texts in one language.
#[derive(Clone, Copy)]
pub(crate) struct Voice<'a> {
    pub(crate) module: &'a Module,
    /// The languages in which the author's words are looked for; the wanted one is first.
    pub(crate) languages: [&'a str; 3],
    pub(crate) words: LanguageWords,
    pub(crate) listener: Listener,
}

/// The reader of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    /// The person who gave the values and has to recognize them: they see whole values, and the end of sensitive ones.
    Person,
    /// Another model: long values are cut, and for sensitive ones it learns only that they exist.
    Prompt,
}

impl<'a> Voice<'a> {
    /// Texts in the wanted BCP 47 language, else in the module's. Uptake's own sentences are in English if it has no
    /// pack for either.
    pub(crate) fn new(module: &'a Module, wanted: Option<&'a str>) -> Self {
        let languages = [wanted.unwrap_or(module.language()), module.language(), "en"];
        let words = languages.iter().find_map(|tag| LanguageWords::of(tag)).unwrap_or_else(LanguageWords::fallback);
        Self { module, languages, words, listener: Listener::Person }
    }

    /// The question about a form, in words. `repeated` says how often the same was asked before.
    pub(crate) fn question(&self, validator: &Validator, form: &Form, about: Pending, repeated: u32) -> Question {
        let arguments = || {
            let completed = completed(form, self.module, validator);
            completed.map(|completed| completed.arguments).unwrap_or_default()
        };
        let text = match &about {
            Pending::Missing { function, pointers } => self.missing(*function, form, pointers, repeated),
            Pending::Invalid { function, aside } => self.invalid(*function, form, aside, repeated),
            Pending::Rule { function, broken } => self.rule(*function, form, broken, &arguments().into()),
            Pending::Tie { functions } => self.tie(functions),
            Pending::Confirm { function } => self.confirmation(*function, &arguments()),
            Pending::Change { .. } => self.words.change().to_owned(),
        };
        Question { text, about }
    }

    pub(crate) fn restarted(&self) -> String {
        self.words.restarted().to_owned()
    }

    /// To a request that is repeated although only a yes is missing.
    pub(crate) fn not_done(&self) -> String {
        self.words.not_done().to_owned()
    }

    /// `times` counts from 1.
    pub(crate) fn not_understood(&self, times: u32) -> String {
        self.words.not_understood(times).to_owned()
    }

    /// A question with its purpose, for a person who did not understand it.
    pub(crate) fn explained(&self, question: &Question) -> String {
        let why = match &question.about {
            Pending::Missing { function, pointers } => {
                let definition = self.module.function(*function);
                let paths: Vec<SlotPath> = pointers.iter().map(|pointer| SlotPath::of_pointer(pointer)).collect();
                let names: Vec<String> = paths.iter().map(|path| self.name_of(definition, path)).collect();
                let slot = match &paths[..] {
                    [path] => definition.slots.iter().find(|slot| slot.path == *path),
                    _ => None,
                };
                let description = slot.map(|slot| self.beyond_name(slot, &names[0])).unwrap_or_default();
                let description = description.trim_end_matches(['.', '。']);
                let is_told = question.text.to_lowercase().contains(&description.to_lowercase());
                let what = self.purpose(definition);
                self.words.why(&self.words.and(&names), if is_told { "" } else { description }, &what)
            }
            Pending::Confirm { .. } => self.words.yes_needed().to_owned(),
            _ => return self.words.again(&question.text, 1),
        };
        self.words.then(&why, &question.text)
    }

    fn missing(&self, id: FunctionId, form: &Form, pointers: &[String], repeated: u32) -> String {
        let function = self.module.function(id);
        let first = pointers.first().map_or("", String::as_str);
        let question = match pointers {
            [_, _, ..] => self.ask_all(function, form, pointers),
            _ => self.ask(function, form, first),
        };
        let mut slots = pointers.iter().map(|pointer| SlotPath::of_pointer(pointer));
        match slots.find(|path| form.skipped.contains(&path.to_string())) {
            Some(path) => self.words.needed(&self.name_of(function, &path), &question),
            None => self.words.again(&question, repeated),
        }
    }

    fn invalid(&self, id: FunctionId, form: &Form, aside: &InvalidValue, repeated: u32) -> String {
        let function = self.module.function(id);
        let path = SlotPath::of_pointer(&aside.pointer);
        let slot = function.slots.iter().find(|slot| slot.path == path);
        let own = self.slot_settings(function, &path);
        if let Some(which) = self.which(&aside.readings) {
            return self.about_item(function, form, &aside.pointer, self.words.again(&which, repeated));
        }
        let reason = own.and_then(|own| self.author(own.invalid.as_ref())).map(str::to_owned).unwrap_or_else(|| {
            let found = self.found(function, aside);
            let wanted = self.words.wanted(&self.wanted(slot, aside));
            self.words.refused(found.as_deref(), &self.name_of(function, &path), &wanted)
        });
        let question = self.words.again(&self.ask(function, form, &aside.pointer), repeated);
        self.words.then(&reason, &question)
    }

    /// Asks which of some values was meant, or whether the only one was; `None` if there are none.
    pub(crate) fn which(&self, readings: &[Value]) -> Option<String> {
        let times = readings.iter().map(|value| match Temporal::parse(value.as_str()?)? {
            Temporal::Time(time) => Some((None, time)),
            Temporal::DateTime(moment) => Some((Some(moment.date()), moment.time())),
            Temporal::Date(_) | Temporal::Instant(_) | Temporal::Length(_) => None,
        });
        if let Some([one, other]) = times.collect::<Option<Vec<_>>>().as_deref()
            && one.0 == other.0
            && (one.1.hour() - other.1.hour()).abs() == 12
            && one.1.minute() == other.1.minute()
        {
            let (early, late) = if one.1 < other.1 { (one.1, other.1) } else { (other.1, one.1) };
            let clock = format!("{}:{:02}", if early.hour() == 0 { 12 } else { early.hour() }, early.minute());
            return Some(self.words.which_half(&clock, late.hour() >= EVENING));
        }
        let options: Vec<String> = readings.iter().map(|value| self.shown(value)).collect();
        (!options.is_empty()).then(|| self.words.which(&options))
    }

    /// Says that a value is not valid, and what it would have to be.
    pub(crate) fn not_valid(&self, function: &Function, aside: &InvalidValue) -> String {
        let path = SlotPath::of_pointer(&aside.pointer);
        let slot = function.slots.iter().find(|slot| slot.path == path);
        let name = self.name_of(function, &path);
        let fact = self.found(function, aside).map_or(name.clone(), |found| self.words.fact(&name, &found));
        self.words.thing(&fact, &self.words.wanted(&self.wanted(slot, aside)))
    }

    /// The value that was given, if it may be repeated.
    pub(crate) fn found(&self, function: &Function, aside: &InvalidValue) -> Option<String> {
        let path = SlotPath::of_pointer(&aside.pointer);
        aside.found.as_ref().filter(|_| !self.is_sensitive(function, &path)).map(|value| one_line(&plain(value)))
    }

    fn rule(&self, id: FunctionId, form: &Form, broken: &Broken, arguments: &Value) -> String {
        let function = self.module.function(id);
        let own = self.settings(function).and_then(|own| own.rules.get(broken.rule));
        let text = match own.and_then(|own| self.author(own.message.as_ref())) {
            Some(message) if message.ends_with(['?', '？']) => message.to_owned(),
            Some(message) => self.words.then(message, self.words.change()),
            None => {
                let text = own.and_then(|own| own.rule.as_ref()).map(|rule| {
                    let is_slot = |side: &Operand| matches!(side.base, Base::Slot(_));
                    // The slot that can be changed comes first.
                    let turned = !is_slot(&rule.left);
                    let (left, right) = if turned { (&rule.right, &rule.left) } else { (&rule.left, &rule.right) };
                    let comparison = if turned { rule.comparison.turned() } else { rule.comparison };
                    let relation = Relation { comparison, is_time: is_time(arguments, broken) };
                    let facts = self.facts_at(function, arguments, &broken.pointers);
                    self.words.rule(&self.side(function, left), relation, &self.side(function, right), &facts)
                });
                text.unwrap_or_else(|| self.words.change().to_owned())
            }
        };
        let first = broken.pointers.first().map_or("", String::as_str);
        self.about_item(function, form, first, text)
    }

    fn side(&self, function: &Function, side: &Operand) -> String {
        let base = match &side.base {
            Base::Slot(path) => self.words.slot(&self.name_of(function, path)),
            Base::Constant(value) => self.shown(value),
            Base::Today => self.words.today().to_owned(),
            Base::Now => self.words.now().to_owned(),
        };
        side.shift.map_or(base.clone(), |shift| self.words.moved(&base, shift))
    }

    /// The known values at these places: "size 9, color black".
    pub(crate) fn facts_at(&self, function: &Function, arguments: &Value, pointers: &[String]) -> String {
        let facts = pointers.iter().filter_map(|pointer| {
            let path = SlotPath::of_pointer(pointer);
            let value = arguments.pointer(pointer)?;
            Some(self.words.fact(&self.name_of(function, &path), &self.told(function, &path, value)))
        });
        self.words.facts(&facts.collect::<Vec<_>>())
    }

    /// The question for one place.
    fn ask(&self, function: &Function, form: &Form, pointer: &str) -> String {
        let path = SlotPath::of_pointer(pointer);
        let slot = function.slots.iter().find(|slot| slot.path == path);
        let name = self.name_of(function, &path);
        let question = match slot {
            Some(slot) => match self.author(slot.question.as_ref()) {
                Some(own) => own.to_owned(),
                None => {
                    let choices = self.choices(slot).map(|choices| self.words.facts(&choices)).unwrap_or_default();
                    self.asked(function, slot, &name, &choices)
                }
            },
            None => self.words.ask_all(&name, None),
        };
        self.about_item(function, form, pointer, question)
    }

    /// The question for a slot by its name; its description may be needed to understand the name.
    pub(crate) fn asked(&self, function: &Function, slot: &Slot, name: &str, choices: &str) -> String {
        let kind = match slot.kind {
            SlotKind::Boolean => AskedKind::Truth,
            SlotKind::Integer | SlotKind::Number => AskedKind::Number,
            SlotKind::String | SlotKind::Any => AskedKind::Other,
        };
        let said = self.words.grammar().of_slot(name, &described(slot));
        let is_bare = self.is_bare(name);
        match &said {
            OfSlot::Thing(_) | OfSlot::More(_) | OfSlot::Nothing if kind == AskedKind::Truth => {
                self.words.ask(name, kind, choices)
            }
            OfSlot::More(description) if is_bare => self.words.ask_bare(name, "", description, choices),
            OfSlot::Nothing if is_bare => self.words.ask_bare(name, &self.deed(function).text, "", choices),
            said => self.words.ask_described(name, kind, said, choices),
        }
    }

    /// The part of a slot's description that goes beyond its name.
    fn beyond_name(&self, slot: &Slot, name: &str) -> String {
        match self.words.grammar().of_slot(name, &described(slot)) {
            OfSlot::Nothing => String::new(),
            OfSlot::Question(text) | OfSlot::Indirect(text) | OfSlot::Thing(text) | OfSlot::More(text) => text,
        }
    }

    /// A short form of a long text that was just said. For a question, the last sentence stays.
    pub(crate) fn shortened(&self, text: &str, is_question: bool) -> String {
        if !is_question {
            return self.words.told_before().to_owned();
        }
        let last = last_sentence(text);
        let asks = last.ends_with(['?', '？', '。']) && last.chars().count() < LONG / 2;
        if asks { self.words.still_asked(last) } else { self.words.answer_needed().to_owned() }
    }

    /// The question for several places of one object.
    fn ask_all(&self, function: &Function, form: &Form, pointers: &[String]) -> String {
        let names: Vec<String> = pointers
            .iter()
            .map(|pointer| {
                let path = SlotPath::of_pointer(pointer);
                let slot = function.slots.iter().find(|slot| slot.path == path);
                let label = if self.prefers_descriptions() { self.name_of(function, &path) } else { last_key(&path) };
                match slot.and_then(|slot| self.choices(slot)) {
                    Some(choices) => self.words.with_choices(&label, &self.words.or(&choices)),
                    None => label,
                }
            })
            .collect();
        let first = pointers.first().map_or("", String::as_str);
        let object = first.rsplit('/').nth(1).filter(|step| !step.is_empty() && !is_index(step)).map(spoken);
        let question = self.words.ask_all(&self.words.and(&names), object.as_deref());
        self.about_item(function, form, first, question)
    }

    /// Adds the item of a list that a question is about, if there are several.
    fn about_item(&self, function: &Function, form: &Form, pointer: &str, question: String) -> String {
        match self.item(function, form, pointer) {
            Some(item) => self.words.about(&item, &question),
            None => question,
        }
    }

    pub(crate) fn wanted<'w>(&self, slot: Option<&'w Slot>, aside: &'w InvalidValue) -> ValueRequirement<'w> {
        let other = ValueRequirement::Other(&aside.expected);
        let Some(slot) = slot else { return other };
        let limit = |key: &str| slot.schema.get(key).filter(|limit| limit.is_number()).map(plain);
        let count = |key: &str| slot.schema.get(key).and_then(Value::as_u64);
        match aside.kind {
            ViolationKind::NotAChoice if !slot.choices.is_empty() => {
                let mut choices: Vec<String> =
                    slot.choices.iter().take(LISTED).map(|choice| self.shown(choice)).collect();
                if slot.choices.len() > LISTED {
                    choices.push("…".to_owned());
                }
                ValueRequirement::Choice(self.words.or(&choices))
            }
            ViolationKind::Type => match slot.kind {
                SlotKind::Integer => ValueRequirement::WholeNumber,
                SlotKind::Number => ValueRequirement::Number,
                SlotKind::Boolean => ValueRequirement::YesOrNo,
                SlotKind::String => ValueRequirement::Text,
                SlotKind::Any => other,
            },
            ViolationKind::Format if aside.expected == POSSIBLE_PHONE => ValueRequirement::Format("phone"),
            ViolationKind::Format => {
                slot.schema.get("format").and_then(Value::as_str).map_or(other, ValueRequirement::Format)
            }
            ViolationKind::Range => match (limit("minimum"), limit("maximum")) {
                (Some(least), Some(most)) => ValueRequirement::Between(least, most),
                (Some(least), None) => ValueRequirement::AtLeast(least),
                (None, Some(most)) => ValueRequirement::AtMost(most),
                (None, None) => limit("exclusiveMinimum")
                    .map(ValueRequirement::MoreThan)
                    .or_else(|| limit("exclusiveMaximum").map(ValueRequirement::LessThan))
                    .or_else(|| limit("multipleOf").map(ValueRequirement::MultipleOf))
                    .unwrap_or(other),
            },
            ViolationKind::Length => {
                let length = aside.found.as_ref().and_then(Value::as_str).map_or(0, |text| text.chars().count());
                let length = u64::try_from(length).unwrap_or(u64::MAX);
                match (count("minLength"), count("maxLength")) {
                    (_, Some(most)) if length > most => ValueRequirement::NotLonger(most),
                    (Some(least), _) => ValueRequirement::NotShorter(least),
                    _ => other,
                }
            }
            ViolationKind::Pattern => ValueRequirement::OtherForm,
            _ => other,
        }
    }

    /// The choices of a slot, if there are few.
    fn choices(&self, slot: &Slot) -> Option<Vec<String>> {
        let is_few = (1..=LISTED).contains(&slot.choices.len());
        is_few.then(|| slot.choices.iter().map(|choice| self.shown(choice)).collect())
    }

    /// The author's words in the language that fits best.
    pub(crate) fn author<'w>(&self, wording: Option<&'w Wording>) -> Option<&'w str> {
        wording?.in_first(&self.languages)
    }

    pub(crate) fn shown(&self, value: &Value) -> String {
        shown(value, &|truth| self.words.truth(truth), &|of| self.words.and(of))
    }

    /// A value in the form that its listener may see.
    pub(crate) fn told(&self, function: &Function, path: &SlotPath, value: &Value) -> String {
        match (self.is_sensitive(function, path), self.listener) {
            (false, Listener::Person) => self.shown(value),
            (false, Listener::Prompt) => cut(self.shown(value), LONGEST_IN_PROMPT),
            (true, Listener::Person) => masked(value),
            (true, Listener::Prompt) => self.words.given().to_owned(),
        }
    }

    pub(crate) fn is_sensitive(&self, function: &Function, path: &SlotPath) -> bool {
        self.slot_settings(function, path).is_some_and(|own| own.sensitive)
    }

    pub(crate) fn settings(&self, function: &Function) -> Option<&'a FunctionSettings> {
        self.module.settings.functions.get(&function.name)
    }

    fn slot_settings(&self, function: &Function, path: &SlotPath) -> Option<&'a SlotSettings> {
        self.module.settings.slot(&function.name, &path.to_string())
    }
}

/// The last sentence of a text.
fn last_sentence(text: &str) -> &str {
    let text = text.trim_end();
    let inner = text.trim_end_matches(['.', '?', '!', '。', '？', '！', '\u{a0}']);
    let ends = [". ", "? ", "! ", "。", "？", "！", "\n"];
    let start = ends.iter().filter_map(|end| Some(inner.rfind(end)? + end.len())).max();
    &text[start.unwrap_or_default()..]
}

/// True if the values of a broken rule are dates or times.
fn is_time(arguments: &Value, broken: &Broken) -> bool {
    let values = broken.pointers.iter().filter_map(|pointer| arguments.pointer(pointer)?.as_str());
    values.filter_map(Temporal::parse).any(|found| !matches!(found, Temporal::Length(_)))
}
