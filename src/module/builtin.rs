//! The built-in recognizers: everything about them except how they read.

use serde::{Deserialize, Serialize};

use super::squeeze;

/// The values that Uptake recognizes by itself, each with its canonical JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Builtin {
    /// `3`
    Integer,
    /// `2.5`
    Number,
    /// `2` for "second" and "2nd"
    Ordinal,
    /// `{"amount": 5, "currency": "USD"}`; the currency is null if it was not said
    Money,
    /// `5` for "5%"
    Percent,
    /// `"2026-03-01"`
    Date,
    /// `"15:30:00"`
    Time,
    /// `"2026-03-01T15:30:00"`, local to the module's time zone
    DateTime,
    /// ISO 8601: `"PT30M"`, `"P3D"`
    Duration,
    /// the address as written
    Email,
    /// E.164 where the country is known, the digits otherwise
    Phone,
    /// the URL as written
    Url,
    /// `true` for "yes", "with"; `false` for "no", "without"
    Boolean,
}

impl Builtin {
    pub const ALL: [Self; 13] = [
        Self::Integer,
        Self::Number,
        Self::Ordinal,
        Self::Money,
        Self::Percent,
        Self::Date,
        Self::Time,
        Self::DateTime,
        Self::Duration,
        Self::Email,
        Self::Phone,
        Self::Url,
        Self::Boolean,
    ];

    /// The name that `recognizers.json` and answers use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Ordinal => "ordinal",
            Self::Money => "money",
            Self::Percent => "percent",
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "datetime",
            Self::Duration => "duration",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Url => "url",
            Self::Boolean => "boolean",
        }
    }

    /// The built-in recognizer with this name (already passed through `squeeze`) or another usual name (`int`,
    /// `date-time`, `uri`, `tel`).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let squeezed = squeeze(name);
        Self::ALL.into_iter().find(|builtin| builtin.name() == squeezed).or(match squeezed.as_str() {
            "int" => Some(Self::Integer),
            "float" | "double" | "decimal" => Some(Self::Number),
            "currency" | "amountofmoney" => Some(Self::Money),
            "percentage" => Some(Self::Percent),
            "uri" => Some(Self::Url),
            "tel" | "telephone" | "phonenumber" => Some(Self::Phone),
            "bool" => Some(Self::Boolean),
            "emailaddress" => Some(Self::Email),
            _ => None,
        })
    }

    /// Typical words for its values. Most are digits, so that they are found in any language; the recognizer itself
    /// reads each of them, and those that it does not find are skipped.
    #[must_use]
    pub const fn typical_words(self) -> &'static [&'static str] {
        match self {
            Self::Integer => &["2", "3", "4", "6", "12", "25"],
            Self::Number => &["2", "7", "12", "40", "2.5"],
            Self::Ordinal => &["2nd", "3rd", "5th", "second", "2."],
            Self::Money => &["$20", "$5", "35 EUR", "120 USD", "€8"],
            Self::Percent => &["15%", "20 %", "50%"],
            Self::Date => &["2027-03-14", "2026-12-05", "March 14, 2027", "5 June 2027", "14.3.2027"],
            Self::Time => &["7:30 pm", "10:15", "18:00", "9 am", "20:45"],
            Self::DateTime => &["2027-03-14 19:30", "2026-12-05 10:15", "2027-06-01T18:00:00"],
            Self::Duration => &["20 minutes", "2 hours", "3 days", "45 min", "90 s"],
            Self::Email => &["kim@example.org", "info@example.com"],
            Self::Phone => &["+41 44 668 18 00", "+1 415 555 2671", "+49 30 901820"],
            Self::Url => &["https://example.org/a", "https://www.example.com"],
            Self::Boolean => &["yes", "no", "ja", "oui", "sí"],
        }
    }

    /// An example of its values, if they are texts; else `None`.
    #[must_use]
    pub const fn sample(self) -> Option<&'static str> {
        match self {
            Self::Date => Some("2026-03-01"),
            Self::Time => Some("15:30:00"),
            Self::DateTime => Some("2026-03-01T15:30:00"),
            Self::Duration => Some("PT30M"),
            Self::Email => Some("jane@example.com"),
            Self::Phone => Some("+4930123456"),
            Self::Url => Some("https://example.com/"),
            Self::Integer | Self::Number | Self::Ordinal | Self::Money | Self::Percent | Self::Boolean => None,
        }
    }

    /// The group of slots under which figures count its values.
    #[must_use]
    pub const fn group(self) -> SlotGroup {
        match self {
            Self::Integer | Self::Number | Self::Ordinal | Self::Percent => SlotGroup::Number,
            Self::Money => SlotGroup::Money,
            Self::Date => SlotGroup::Date,
            Self::Time | Self::DateTime => SlotGroup::Time,
            Self::Duration => SlotGroup::Duration,
            Self::Email | Self::Phone | Self::Url => SlotGroup::Contact,
            Self::Boolean => SlotGroup::Boolean,
        }
    }
}

/// Groups of slots by what they take, for figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotGroup {
    /// Free text: no recognizer finds it.
    Text,
    /// One of a list or of the schema's choices.
    List,
    /// Matched by a regular expression of the author's.
    Pattern,
    Number,
    Money,
    Date,
    Time,
    Duration,
    /// Phone, mail, web.
    Contact,
    Boolean,
}

impl SlotGroup {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::List => "list",
            Self::Pattern => "pattern",
            Self::Number => "number",
            Self::Money => "money",
            Self::Date => "date",
            Self::Time => "time",
            Self::Duration => "duration",
            Self::Contact => "contact",
            Self::Boolean => "boolean",
        }
    }
}
