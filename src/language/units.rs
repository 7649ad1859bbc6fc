//! Units of counted and measured quantities.

use serde::{Deserialize, Serialize};

/// A unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Seconds,
    Minutes,
    Hours,
    Days,
    Weeks,
    Months,
    Years,
    Milligrams,
    Grams,
    Kilograms,
    Tonnes,
    Ounces,
    Pounds,
    Millimetres,
    Centimetres,
    Metres,
    Kilometres,
    Inches,
    Feet,
    Yards,
    Miles,
    Millilitres,
    Centilitres,
    Litres,
    Cents,
}

/// The kind of quantity that units measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimension {
    /// Of a fixed length, in seconds.
    Time,
    /// Of the calendar, in months.
    Calendar,
    /// In milligrams.
    Mass,
    /// In tenths of a millimetre.
    Length,
    /// In millilitres.
    Volume,
    /// In cents.
    Money,
}

impl Unit {
    pub const ALL: [Self; 25] = [
        Self::Seconds,
        Self::Minutes,
        Self::Hours,
        Self::Days,
        Self::Weeks,
        Self::Months,
        Self::Years,
        Self::Milligrams,
        Self::Grams,
        Self::Kilograms,
        Self::Tonnes,
        Self::Ounces,
        Self::Pounds,
        Self::Millimetres,
        Self::Centimetres,
        Self::Metres,
        Self::Kilometres,
        Self::Inches,
        Self::Feet,
        Self::Yards,
        Self::Miles,
        Self::Millilitres,
        Self::Centilitres,
        Self::Litres,
        Self::Cents,
    ];

    /// The name in `module.toml`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.table().0
    }

    #[must_use]
    pub const fn dimension(self) -> Dimension {
        self.table().1
    }

    /// The size of one unit, in the base unit of its dimension.
    #[must_use]
    pub const fn size(self) -> f64 {
        self.table().2
    }

    const fn table(self) -> (&'static str, Dimension, f64) {
        match self {
            Self::Seconds => ("seconds", Dimension::Time, 1.0),
            Self::Minutes => ("minutes", Dimension::Time, 60.0),
            Self::Hours => ("hours", Dimension::Time, 3_600.0),
            Self::Days => ("days", Dimension::Time, 86_400.0),
            Self::Weeks => ("weeks", Dimension::Time, 604_800.0),
            Self::Months => ("months", Dimension::Calendar, 1.0),
            Self::Years => ("years", Dimension::Calendar, 12.0),
            Self::Milligrams => ("milligrams", Dimension::Mass, 1.0),
            Self::Grams => ("grams", Dimension::Mass, 1_000.0),
            Self::Kilograms => ("kilograms", Dimension::Mass, 1_000_000.0),
            Self::Tonnes => ("tonnes", Dimension::Mass, 1_000_000_000.0),
            Self::Ounces => ("ounces", Dimension::Mass, 28_349.523_125),
            Self::Pounds => ("pounds", Dimension::Mass, 453_592.37),
            Self::Millimetres => ("millimetres", Dimension::Length, 10.0),
            Self::Centimetres => ("centimetres", Dimension::Length, 100.0),
            Self::Metres => ("metres", Dimension::Length, 10_000.0),
            Self::Kilometres => ("kilometres", Dimension::Length, 10_000_000.0),
            Self::Inches => ("inches", Dimension::Length, 254.0),
            Self::Feet => ("feet", Dimension::Length, 3_048.0),
            Self::Yards => ("yards", Dimension::Length, 9_144.0),
            Self::Miles => ("miles", Dimension::Length, 16_093_440.0),
            Self::Millilitres => ("millilitres", Dimension::Volume, 1.0),
            Self::Centilitres => ("centilitres", Dimension::Volume, 10.0),
            Self::Litres => ("litres", Dimension::Volume, 1_000.0),
            Self::Cents => ("cents", Dimension::Money, 1.0),
        }
    }

    /// `amount` of this unit in `other`; `None` if the two measure different things.
    #[must_use]
    pub fn convert(self, amount: f64, other: Self) -> Option<f64> {
        (self.dimension() == other.dimension()).then(|| {
            let exact = amount * self.size() / other.size();
            // Rounding errors of these quotients are smaller than this.
            let rounded = (exact * 1e6).round() / 1e6;
            if rounded.is_finite() { rounded } else { exact }
        })
    }
}
