//! The words of random conversations.

use super::world::Entry;

/// Functions, and how people wish for them.
pub(super) const WISHES: [(&str, &str); 8] = [
    ("order_shoes", "order shoes"),
    ("book_cabin", "book a cabin"),
    ("rent_bicycle", "rent a bicycle"),
    ("send_parcel", "send a parcel"),
    ("hire_band", "hire a band"),
    ("print_poster", "print a poster"),
    ("repair_clock", "repair a clock"),
    ("plan_party", "plan a party"),
];

/// In their order.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) const COLORS: &[Entry] =
    &[("red", &["crimson"]), ("blue", &["navy"]), ("green", &["emerald"]), ("black", &[]), ("yellow", &["mustard"])];
pub(super) const STYLES: &[Entry] =
    &[("classic", &["old school"]), ("modern", &["contemporary"]), ("rustic", &[]), ("sporty", &["athletic"])];
pub(super) const MATERIALS: &[Entry] =
    &[("leather", &["cowhide"]), ("cotton", &[]), ("steel", &["metal"]), ("oak", &[])];
pub(super) const TOWNS: &[Entry] =
    &[("Oslo", &["Kristiania"]), ("Rome", &["the eternal town"]), ("Lima", &[]), ("Kyoto", &[]), ("Porto", &[])];
pub(super) const TOPPINGS: &[Entry] =
    &[("cheese", &["cheddar"]), ("olives", &[]), ("onions", &[]), ("bacon", &[]), ("basil", &["herbs"])];
pub(super) const ITEMS: &[Entry] =
    &[("lamp", &["lantern"]), ("chair", &["stool"]), ("mirror", &[]), ("carpet", &["rug"]), ("vase", &[])];

/// Utterances without meaning.
pub(super) const NOISE: &[&str] = &[
    "hmm",
    "what?",
    "so",
    "let me think",
    "uh",
    "well",
    "...",
    "sorry, what do you mean?",
    "blah blah",
    "wait a moment",
    "xyzzy",
    "the weather is nice",
];

const NUMBERS: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

pub(super) fn number_word(number: i64) -> Option<&'static str> {
    usize::try_from(number).ok().and_then(|number| NUMBERS.get(number)).copied()
}

/// Other words for a value of one of the lists.
pub(super) fn expressions(label: &str) -> &'static [&'static str] {
    let lists = [COLORS, STYLES, MATERIALS, TOWNS, TOPPINGS, ITEMS];
    let found = lists.into_iter().flatten().find(|(known, _)| *known == label);
    found.map_or(&[], |(_, others)| *others)
}
