//! Properties of merging: compared with a model that is only nested JSON, and by itself.

use std::collections::BTreeSet;

use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::Map;

use super::*;
use crate::{
    call::{SlotValue, Source},
    conversation::State,
    module::{ModuleName, SlotPath},
};

const PLAIN: [&str; 4] = ["/who/name", "/who/city", "/size", "/gift"];
const NAMES: [&str; 4] = ["pizza", "coke", "burger", "salad"];
const SIZES: [&str; 3] = ["small", "medium", "large"];
const COLORS: [&str; 4] = ["red", "blue", "green", "pink"];
const EXTRAS: [&str; 3] = ["cheese", "ice", "bacon"];

/// What a person does to an order.
#[derive(Debug, Clone)]
enum Op {
    /// With certainty, or without.
    Say {
        place: usize,
        value: u8,
        is_sure: bool,
    },
    Correct {
        place: usize,
        value: u8,
    },
    Unset {
        place: usize,
    },
    Color(usize),
    CorrectColor(usize),
    DropColor(usize),
    RuleOutColor(usize),
    Dish {
        name: usize,
        quantity: Option<u64>,
        size: Option<usize>,
        extra: Option<usize>,
    },
    Rename(usize),
    DropDish(usize),
    DropDishAt(usize),
    RuleOutDish(usize),
    /// "large", after a question about the size of this dish.
    AnswerSize {
        dish: usize,
        size: usize,
    },
    /// "large"
    Size(usize),
    /// "one of them large"
    Portion {
        count: u64,
        size: usize,
    },
    Invalid {
        place: usize,
        is_correction: bool,
    },
    Blank {
        place: usize,
    },
    Silence,
}

fn op() -> impl Strategy<Value = Op> {
    let place = || 0..PLAIN.len();
    let (name, size, color) = (|| 0..NAMES.len(), || 0..SIZES.len(), || 0..COLORS.len());
    prop_oneof![
        3 => (place(), 0..3_u8, any::<bool>()).prop_map(|(place, value, is_sure)| Op::Say { place, value, is_sure }),
        2 => (place(), 0..3_u8).prop_map(|(place, value)| Op::Correct { place, value }),
        1 => place().prop_map(|place| Op::Unset { place }),
        2 => color().prop_map(Op::Color),
        1 => color().prop_map(Op::CorrectColor),
        1 => color().prop_map(Op::DropColor),
        1 => color().prop_map(Op::RuleOutColor),
        5 => (name(), option::of(1..5_u64), option::of(size()), option::of(0..EXTRAS.len()))
            .prop_map(|(name, quantity, size, extra)| Op::Dish { name, quantity, size, extra }),
        1 => name().prop_map(Op::Rename),
        1 => name().prop_map(Op::DropDish),
        1 => (0..4_usize).prop_map(Op::DropDishAt),
        1 => name().prop_map(Op::RuleOutDish),
        2 => (0..4_usize, size()).prop_map(|(dish, size)| Op::AnswerSize { dish, size }),
        2 => size().prop_map(Op::Size),
        2 => (1..4_u64, size()).prop_map(|(count, size)| Op::Portion { count, size }),
        1 => (place(), any::<bool>()).prop_map(|(place, is_correction)| Op::Invalid { place, is_correction }),
        1 => place().prop_map(|place| Op::Blank { place }),
        1 => Just(Op::Silence),
    ]
}

/// A value for this plain place.
fn plain(place: usize, value: u8) -> Value {
    match PLAIN[place] {
        "/size" => json!(7 + value),
        "/gift" => json!(value.is_multiple_of(2)),
        _ => json!(["Jane", "Ann", "Kim"][usize::from(value) % 3]),
    }
}

fn said_of(op: &Op) -> FormUpdate {
    let value = |path: &str, value: &str| Removal::Value { path: path.to_owned(), value: value.into() };
    let removed = |removal: Removal| FormUpdate { removed: vec![removal], ..FormUpdate::default() };
    let excluded = |pointer: &str, value: &str| FormUpdate {
        excluded: vec![filled(pointer, value.into(), 0)],
        ..FormUpdate::default()
    };
    let correct = |said: FormUpdate| FormUpdate { manner: UpdateMode::Correct, ..said };
    match op {
        Op::Say { place, value, is_sure } => {
            let confidence = if *is_sure { 0.9 } else { 0.3 };
            let values = vec![SlotValue { confidence, ..filled(PLAIN[*place], plain(*place, *value), 0) }];
            FormUpdate { values, ..FormUpdate::default() }
        }
        Op::Correct { place, value } => correct(values_of(&[(PLAIN[*place], plain(*place, *value))])),
        Op::Unset { place } => removed(Removal::Place(PLAIN[*place].to_owned())),
        Op::Color(color) => values_of(&[("/colors/0", COLORS[*color].into())]),
        Op::CorrectColor(color) => correct(values_of(&[("/colors/0", COLORS[*color].into())])),
        Op::DropColor(color) => removed(value("colors[]", COLORS[*color])),
        Op::RuleOutColor(color) => excluded("/colors/0", COLORS[*color]),
        Op::Dish { name, quantity, size, extra } => {
            let mut values = vec![("/dishes/0/name", json!(NAMES[*name]))];
            values.extend(quantity.map(|quantity| ("/dishes/0/quantity", json!(quantity))));
            values.extend(size.map(|size| ("/dishes/0/size", json!(SIZES[size]))));
            values.extend(extra.map(|extra| ("/dishes/0/extras/0", json!(EXTRAS[extra]))));
            values_of(&values)
        }
        Op::Rename(name) => correct(values_of(&[("/dishes/0/name", NAMES[*name].into())])),
        Op::DropDish(name) => removed(value("dishes[].name", NAMES[*name])),
        Op::DropDishAt(dish) => removed(Removal::Place(format!("/dishes/{dish}"))),
        Op::RuleOutDish(name) => excluded("/dishes/0/name", NAMES[*name]),
        Op::AnswerSize { dish, size } => {
            let asked = vec![format!("/dishes/{dish}/size")];
            FormUpdate { asked, ..values_of(&[("/dishes/0/size", SIZES[*size].into())]) }
        }
        Op::Size(size) => values_of(&[("/dishes/0/size", SIZES[*size].into())]),
        Op::Portion { count, size } => {
            FormUpdate { portion: Some(*count), ..values_of(&[("/dishes/0/size", SIZES[*size].into())]) }
        }
        Op::Invalid { place, is_correction } => {
            let manner = if *is_correction { UpdateMode::Correct } else { UpdateMode::Fill };
            FormUpdate { invalid: vec![aside(PLAIN[*place], json!("nonsense"), 0)], manner, ..FormUpdate::default() }
        }
        Op::Blank { place } => correct(values_of(&[(PLAIN[*place], json!(" "))])),
        Op::Silence => FormUpdate::default(),
    }
}

/// The same order, by naive rules.
#[derive(Debug, Default)]
struct NaiveOrder {
    plain: Map<String, Value>,
    unsure: BTreeSet<usize>,
    colors: Vec<&'static str>,
    dishes: Vec<Dish>,
    turn: u32,
}

#[derive(Debug, Clone)]
struct Dish {
    name: &'static str,
    quantity: Option<u64>,
    size: Option<&'static str>,
    extras: Vec<&'static str>,
    touched: u32,
}

impl NaiveOrder {
    fn hear(&mut self, op: &Op) {
        self.turn += 1;
        match *op {
            Op::Say { place, value, is_sure } => {
                let known = self.plain.get(PLAIN[place]);
                let is_same = known == Some(&plain(place, value));
                if known.is_none() || is_sure || self.unsure.contains(&place) {
                    self.plain.insert(PLAIN[place].to_owned(), plain(place, value));
                    if is_sure {
                        self.unsure.remove(&place);
                    } else if !is_same {
                        self.unsure.insert(place);
                    }
                }
            }
            Op::Correct { place, value } => {
                self.plain.insert(PLAIN[place].to_owned(), plain(place, value));
                self.unsure.remove(&place);
            }
            Op::Unset { place } | Op::Invalid { place, is_correction: true } => {
                self.plain.remove(PLAIN[place]);
                self.unsure.remove(&place);
            }
            Op::CorrectColor(color) if self.colors.len() == 1 => self.colors = vec![COLORS[color]],
            Op::Color(color) | Op::CorrectColor(color) => {
                if !self.colors.contains(&COLORS[color]) {
                    self.colors.push(COLORS[color]);
                }
            }
            Op::DropColor(color) | Op::RuleOutColor(color) => self.colors.retain(|known| *known != COLORS[color]),
            Op::Dish { name, quantity, size, extra } => self.dish(NAMES[name], quantity, size, extra),
            Op::Rename(name) => match self.dishes.as_mut_slice() {
                [only] => (only.name, only.touched) = (NAMES[name], self.turn),
                _ => self.dish(NAMES[name], None, None, None),
            },
            Op::DropDish(name) | Op::RuleOutDish(name) => self.dishes.retain(|dish| dish.name != NAMES[name]),
            Op::DropDishAt(dish) => {
                if dish < self.dishes.len() {
                    self.dishes.remove(dish);
                }
            }
            Op::AnswerSize { dish, size } if dish < self.dishes.len() => {
                (self.dishes[dish].size, self.dishes[dish].touched) = (Some(SIZES[size]), self.turn);
            }
            Op::AnswerSize { .. } => unreachable!("is not asked"),
            Op::Size(size) => {
                if let Some(dish) = self.last() {
                    (self.dishes[dish].size, self.dishes[dish].touched) = (Some(SIZES[size]), self.turn);
                }
            }
            Op::Portion { count, size } => {
                if let Some(dish) = self.last() {
                    let all = self.dishes[dish].quantity;
                    let mut part = self.dishes[dish].clone();
                    let is_other = part.size != Some(SIZES[size]);
                    (part.size, part.touched) = (Some(SIZES[size]), self.turn);
                    match all {
                        Some(all) if count < all && is_other => {
                            self.dishes[dish].quantity = Some(all - count);
                            part.quantity = Some(count);
                            self.dishes.push(part);
                        }
                        _ => self.dishes[dish] = part,
                    }
                }
            }
            Op::Invalid { is_correction: false, .. } | Op::Blank { .. } | Op::Silence => {}
        }
    }

    /// Of the dishes with this name the one that agrees best, or else a new one.
    fn dish(&mut self, name: &'static str, quantity: Option<u64>, size: Option<usize>, extra: Option<usize>) {
        let size = size.map(|size| SIZES[size]);
        let fit = |dish: &Dish| {
            let compared = [
                (quantity.is_some() && dish.quantity.is_some()).then(|| quantity == dish.quantity),
                (size.is_some() && dish.size.is_some()).then(|| size == dish.size),
            ];
            let count = |is: bool| compared.iter().filter(|same| **same == Some(is)).count();
            (count(false), 2 - count(true))
        };
        let named = (0..self.dishes.len()).filter(|at| self.dishes[*at].name == name);
        let at = named.min_by_key(|at| fit(&self.dishes[*at])).unwrap_or_else(|| {
            self.dishes.push(Dish { name, quantity: None, size: None, extras: Vec::new(), touched: 0 });
            self.dishes.len() - 1
        });
        let dish = &mut self.dishes[at];
        dish.quantity = quantity.or(dish.quantity);
        dish.size = size.or(dish.size);
        dish.extras.extend(extra.map(|extra| EXTRAS[extra]).filter(|extra| !dish.extras.contains(extra)));
        dish.touched = self.turn;
    }

    /// The dish that was last spoken of, if it is a single one.
    fn last(&self) -> Option<usize> {
        let latest = self.dishes.iter().map(|dish| dish.touched).max()?;
        let mut last = (0..self.dishes.len()).filter(|at| self.dishes[*at].touched == latest);
        last.next().filter(|_| last.next().is_none())
    }

    fn arguments(&self) -> Value {
        let mut all = json!({});
        for (pointer, value) in &self.plain {
            match pointer.strip_prefix("/who/") {
                Some(key) => all["who"][key] = value.clone(),
                None => all[&pointer[1..]] = value.clone(),
            }
        }
        if !self.colors.is_empty() {
            all["colors"] = json!(self.colors);
        }
        if !self.dishes.is_empty() {
            all["dishes"] = self.dishes.iter().map(Dish::arguments).collect();
        }
        all
    }
}

impl Dish {
    fn arguments(&self) -> Value {
        let mut dish = json!({"name": self.name});
        if let Some(quantity) = self.quantity {
            dish["quantity"] = quantity.into();
        }
        if let Some(size) = self.size {
            dish["size"] = size.into();
        }
        if !self.extras.is_empty() {
            dish["extras"] = json!(self.extras);
        }
        dish
    }
}

/// Excludes operations on things that do not exist.
fn makes_sense(op: &Op, model: &NaiveOrder) -> bool {
    match op {
        Op::AnswerSize { dish, .. } => *dish < model.dishes.len(),
        Op::Size(_) | Op::Portion { .. } => !model.dishes.is_empty(),
        _ => true,
    }
}

/// A form that people can bring about.
fn form() -> impl Strategy<Value = Form> {
    vec(op(), 0..12).prop_map(|ops| {
        let mut talk = Talk::new();
        ops.iter().for_each(|op| _ = talk.hear(said_of(op)));
        talk.form
    })
}

fn pointer() -> impl Strategy<Value = String> {
    let index = || prop_oneof![4 => (0..4_usize).prop_map(|index| index.to_string()), 1 => Just("-".to_owned())];
    let member = || select(vec!["name", "quantity", "size"]);
    prop_oneof![
        6 => select(PLAIN.to_vec()).prop_map(str::to_owned),
        6 => (index(), member()).prop_map(|(item, member)| format!("/dishes/{item}/{member}")),
        3 => index().prop_map(|item| format!("/colors/{item}")),
        3 => (index(), index()).prop_map(|(item, extra)| format!("/dishes/{item}/extras/{extra}")),
        1 => index().prop_map(|item| format!("/dishes/{item}")),
        1 => select(vec!["", "/", "/dishes", "/who", "/size/0", "/size/x/-", "/dishes/x", "/dishes/0/1/2", "size", "/~2/~"])
            .prop_map(str::to_owned),
        1 => (0..100_usize).prop_map(|depth| "/0".repeat(depth)),
        1 => Just(format!("/dishes/{}/name", "9".repeat(30))),
        1 => "(/[a-c0-2~-]{0,2}){0,5}|\\PC{0,8}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => select(NAMES.to_vec()).prop_map(Value::from),
        3 => (0..4_u64).prop_map(Value::from),
        1 => select(vec![json!(null), json!(""), json!("  "), json!([]), json!({}), json!(1.0), json!(true), json!({"a": 1})]),
    ]
}

fn any_filled() -> impl Strategy<Value = SlotValue> {
    let sources = vec![
        Source::Said,
        Source::Said,
        Source::Choice,
        Source::Default,
        Source::Generated,
        Source::Carried,
        Source::Withdrawn,
    ];
    (pointer(), value(), select(sources), 0..4_u32, 0..11_u8).prop_map(|(pointer, value, from, turn, tenths)| {
        SlotValue { from, confidence: f32::from(tenths) / 10.0, ..filled(&pointer, value, turn) }
    })
}

fn any_aside() -> impl Strategy<Value = InvalidValue> {
    let kinds = vec![ViolationKind::Range, ViolationKind::Missing, ViolationKind::Length];
    (pointer(), option::of(value().prop_filter("found", |value| !value.is_null())), select(kinds))
        .prop_map(|(pointer, found, kind)| InvalidValue { kind, found, ..aside(&pointer, Value::Null, 1) })
}

fn any_manner() -> impl Strategy<Value = UpdateMode> {
    select(vec![UpdateMode::Fill, UpdateMode::Correct, UpdateMode::Add])
}

fn any_removal() -> impl Strategy<Value = Removal> {
    let paths = vec!["size", "who.name", "dishes[].name", "dishes[].size", "colors[]", "dishes[].extras[]", "no"];
    prop_oneof![
        pointer().prop_map(Removal::Place),
        (select(paths), value()).prop_map(|(path, value)| Removal::Value { path: path.to_owned(), value }),
    ]
}

fn any_said() -> impl Strategy<Value = FormUpdate> {
    let values = (vec(any_filled(), 0..6), vec(any_aside(), 0..3), vec(any_filled(), 0..3));
    let rest = (any_manner(), vec(any_removal(), 0..3), vec(pointer(), 0..3), option::of(0..4_u64));
    (values, rest).prop_map(|((values, invalid, excluded), (manner, removed, asked, portion))| FormUpdate {
        turn: 4,
        values,
        invalid,
        excluded,
        manner,
        removed,
        asked,
        portion,
        ..FormUpdate::default()
    })
}

/// Any form that a client might send.
fn any_form() -> impl Strategy<Value = Form> {
    let skipped = vec(select(vec!["size".to_owned(), "who.city".to_owned()]), 0..2);
    (vec(any_filled(), 0..8), vec(any_filled(), 0..3), vec(any_aside(), 0..3), skipped)
        .prop_map(|(slots, excluded, aside, skipped)| Form { slots, excluded, aside, skipped, ..Form::new("order", 1) })
}

/// No place occurs twice or within another, and no array has a gap.
fn assert_well(form: &Form) -> Result<(), TestCaseError> {
    let places: Vec<ArgumentPath> = form.slots.iter().filter_map(|filled| ArgumentPath::of(&filled.pointer)).collect();
    prop_assert_eq!(places.len(), form.slots.len());
    for (at, place) in places.iter().enumerate() {
        prop_assert!(!places[..at].iter().any(|other| other.bars(place)), "{} is barred", place.pointer());
        for (length, step) in place.0.iter().enumerate() {
            let ArgumentStep::Item(item) = step else { continue };
            let has = |index: usize| {
                places
                    .iter()
                    .any(|other| other.is_within(place.until(length)) && other.0[length] == ArgumentStep::Item(index))
            };
            prop_assert!(*item == 0 || has(item - 1), "{} has a gap before it", place.pointer());
        }
        prop_assert!(!place.0.contains(&ArgumentStep::New), "{} is no place", place.pointer());
    }
    Ok(())
}

/// All values by slot, independent of item numbers.
fn held(form: &Form) -> Vec<String> {
    let one = |filled: &SlotValue| format!("{}={}", SlotPath::of_pointer(&filled.pointer), filled.value);
    let mut all: Vec<String> = form.slots.iter().map(one).collect();
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Filling, correcting, removing, ruling out, and choosing the item.
    #[test]
    fn a_form_is_what_a_simple_model_says(ops in vec(op(), 1..24)) {
        let (mut talk, mut model) = (Talk::new(), NaiveOrder::default());
        for op in &ops {
            if makes_sense(op, &model) {
                let before = model.arguments();
                talk.hear(said_of(op));
                model.hear(op);
                prop_assert_eq!(arguments(&talk.form), model.arguments(), "after {:?}", op);
                prop_assert_eq!(talk.is_changed, before != model.arguments(), "after {:?}", op);
            }
        }
    }

    /// For any state and utterance: the form is well-formed, and every value comes from one of the two.
    #[test]
    fn merging_is_total_and_invents_nothing(form in any_form(), said in any_said()) {
        let Merged { form: after, declined, .. } = merged(&order(), &form, &said);
        assert_well(&after)?;
        let known: Vec<&Value> = form.slots.iter().chain(&said.values).map(|filled| &filled.value).collect();
        let counts = |value: &Value| said.portion.is_some() && value.is_u64();
        for filled in &after.slots {
            prop_assert!(known.contains(&&filled.value) || counts(&filled.value), "{} is made up", filled.value);
        }
        prop_assert!(declined.iter().all(|filled| said.values.iter().any(|value| value.value == filled.value)));
        prop_assert!(after.excluded.len() <= form.excluded.len() + said.excluded.len());
        prop_assert!(after.aside.len() <= form.aside.len() + said.invalid.len());
        // Aside and ruled-out values belong to existing items, or to none.
        let draft = Draft::of(&after, &[]);
        let pointers = |form: &Form| -> Vec<String> {
            let aside = form.aside.iter().map(|aside| aside.pointer.clone());
            aside.chain(form.excluded.iter().map(|filled| filled.pointer.clone())).collect()
        };
        prop_assert_eq!(pointers(&draft.form(&after)), pointers(&after));
    }

    #[test]
    fn silence_loses_nothing(form in form(), manner in any_manner(), asked in vec(pointer(), 0..3), blanks in vec(pointer(), 0..4)) {
        let blank = |(at, pointer): (usize, &String)| {
            filled(pointer, [json!(""), json!("  "), Value::Null, json!([]), json!({})][at % 5].clone(), 9)
        };
        let values: Vec<SlotValue> = blanks.iter().enumerate().map(blank).collect();
        let said = FormUpdate { turn: 9, excluded: values.clone(), values, manner, asked, ..FormUpdate::default() };
        let Merged { form: after, is_changed, declined } = merged(&order(), &form, &said);
        prop_assert_eq!((after, is_changed, declined), (form, false, Vec::new()));
    }

    #[test]
    fn a_certain_or_corrected_value_lands_and_nothing_else_moves(
        form in form(), place in 0..PLAIN.len(), value in 0..3_u8, is_correction in any::<bool>(),
    ) {
        let (pointer, value) = (PLAIN[place], plain(place, value));
        let confidence = if is_correction { 0.1 } else { 0.9 };
        let values = vec![SlotValue { confidence, ..filled(pointer, value.clone(), 99) }];
        let manner = if is_correction { UpdateMode::Correct } else { UpdateMode::Fill };
        let after = merged(&order(), &form, &FormUpdate { turn: 99, values, manner, ..FormUpdate::default() }).form;
        prop_assert_eq!(after.at(pointer).map(|filled| &filled.value), Some(&value));
        let others = |form: &Form| form.slots.iter().filter(|filled| filled.pointer != pointer).cloned().collect::<Vec<_>>();
        prop_assert_eq!(others(&after), others(&form));
        prop_assert!(after.aside.iter().all(|aside| aside.pointer != pointer));
    }

    #[test]
    fn an_ambiguous_value_overwrites_no_certain_one(form in form(), place in 0..PLAIN.len(), value in 0..3_u8, tenths in 0..6_u8) {
        let (pointer, value) = (PLAIN[place], plain(place, value));
        let Some(known) = form.at(pointer).filter(|known| known.confidence >= CERTAIN.score() && known.value != value) else { return Ok(()) };
        let doubtful = SlotValue { confidence: f32::from(tenths) / 10.0, ..filled(pointer, value, 99) };
        let said = FormUpdate { turn: 99, values: vec![doubtful.clone()], ..FormUpdate::default() };
        let merged = merged(&order(), &form, &said);
        prop_assert_eq!(merged.form.at(pointer), Some(known));
        prop_assert_eq!((merged.is_changed, merged.declined), (false, vec![doubtful]));
        prop_assert_eq!(merged.form, form);
    }

    #[test]
    fn what_is_removed_goes_and_nothing_else(form in form(), place in pointer()) {
        let removed = vec![Removal::Place(place.clone())];
        let Merged { form: after, is_changed, .. } = merged(&order(), &form, &FormUpdate { turn: 99, removed, ..FormUpdate::default() });
        let is_left = |filled: &&SlotValue| ArgumentPath::of(&place).is_none() || !is_within(&filled.pointer, &place);
        let left = Form { slots: form.slots.iter().filter(is_left).cloned().collect(), ..Form::new("order", 1) };
        prop_assert_eq!(held(&after), held(&left));
        prop_assert_eq!(is_changed, left.slots.len() != form.slots.len());
        assert_well(&after)?;
    }

    /// Saying something twice is like saying it once, unless it is another one. Without a name, the item may be clear
    /// only the first time.
    #[test]
    fn saying_it_again_changes_nothing(form in form(), op in op(), other in any_said()) {
        // The number may belong to another item by then, or the question is asked again.
        let is_there = |dish: usize| form.slots.iter().any(|filled| is_within(&filled.pointer, &format!("/dishes/{dish}")));
        prop_assume!(match op {
            Op::DropDishAt(_) => false,
            Op::AnswerSize { dish, .. } => is_there(dish),
            _ => true,
        });
        let mut said = FormUpdate { turn: 99, ..said_of(&op) };
        said.values.iter_mut().for_each(|filled| filled.turn = 99);
        let function = order();
        let is_single = |pointer: &str| {
            let path = SlotPath::of_pointer(pointer);
            !pointer.contains("dishes") && function.slots.iter().any(|slot| slot.path == path)
        };
        said.values.extend(other.values.into_iter().filter(|filled| is_single(&filled.pointer)));
        said.invalid.extend(other.invalid.into_iter().filter(|aside| is_single(&aside.pointer)));
        // An utterance does not give both kinds for one slot, and silent values fill every gap there is.
        let faulty: Vec<SlotPath> = said.invalid.iter().map(|aside| SlotPath::of_pointer(&aside.pointer)).collect();
        said.values.retain(|filled| {
            filled.from == Source::Said && !faulty.contains(&SlotPath::of_pointer(&filled.pointer))
        });
        let once = merged(&order(), &form, &said);
        let twice = merged(&order(), &once.form, &said);
        let sorted = |mut slots: Vec<SlotValue>| {
            slots.sort_by(|a, b| a.pointer.cmp(&b.pointer));
            slots
        };
        prop_assert_eq!(sorted(twice.form.slots), sorted(once.form.slots));
        prop_assert!(!twice.is_changed);
    }

    /// Values for different places, or for items with different names, may be said in any order.
    #[test]
    fn independent_values_come_in_any_order(
        form in form(), ops in vec((0..PLAIN.len(), 0..3_u8), 1..6), names in vec((0..NAMES.len(), 1..5_u64), 0..4), seed in any::<u64>(),
    ) {
        let places: Map<String, Value> = ops.iter().map(|(place, value)| (PLAIN[*place].to_owned(), plain(*place, *value))).collect();
        let names: std::collections::BTreeMap<usize, u64> = names.into_iter().collect();
        let mut all: Vec<FormUpdate> = places.iter().map(|(pointer, value)| values_of(&[(pointer, value.clone())])).collect();
        all.extend(names.iter().map(|(name, quantity)| {
            values_of(&[("/dishes/0/name", NAMES[*name].into()), ("/dishes/0/quantity", (*quantity).into())])
        }));
        let hear = |order_of: &[FormUpdate]| {
            let mut talk = Talk { form: form.clone(), turn: 50, ..Talk::new() };
            order_of.iter().for_each(|said| _ = talk.hear(said.clone()));
            held(&talk.form)
        };
        let first = hear(&all);
        fastrand::Rng::with_seed(seed).shuffle(&mut all);
        prop_assert_eq!(hear(&all), first);
    }

    #[test]
    fn a_state_survives_as_json(form in any_form(), said in any_said()) {
        let form = merged(&order(), &form, &said).form;
        let mut state = State::new(&ModuleName::new("food").expect("a name"));
        state.forms.push(form);
        let written = serde_json::to_string(&state).expect("a state is JSON");
        prop_assert_eq!(serde_json::from_str::<State>(&written).expect("it reads"), state);
    }
}
