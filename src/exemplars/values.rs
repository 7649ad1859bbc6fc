//! Words for values of the built-in recognizers. Mostly digits, so that they are found in any language; each is read by
//! the recognizer itself, and what it does not find is passed over.

use crate::module::Builtin;

pub(crate) const fn words(builtin: Builtin) -> &'static [&'static str] {
    match builtin {
        Builtin::Integer => &["2", "3", "4", "6", "12", "25"],
        Builtin::Number => &["2", "7", "12", "40", "2.5"],
        Builtin::Ordinal => &["2nd", "3rd", "5th", "second", "2."],
        Builtin::Money => &["$20", "$5", "35 EUR", "120 USD", "€8"],
        Builtin::Percent => &["15%", "20 %", "50%"],
        Builtin::Date => &["2027-03-14", "2026-12-05", "March 14, 2027", "5 June 2027", "14.3.2027"],
        Builtin::Time => &["7:30 pm", "10:15", "18:00", "9 am", "20:45"],
        Builtin::DateTime => &["2027-03-14 19:30", "2026-12-05 10:15", "2027-06-01T18:00:00"],
        Builtin::Duration => &["20 minutes", "2 hours", "3 days", "45 min", "90 s"],
        Builtin::Email => &["kim@example.org", "info@example.com"],
        Builtin::Phone => &["+41 44 668 18 00", "+1 415 555 2671", "+49 30 901820"],
        Builtin::Url => &["https://example.org/a", "https://www.example.com"],
        Builtin::Boolean => &["yes", "no", "ja", "oui", "sí"],
    }
}
