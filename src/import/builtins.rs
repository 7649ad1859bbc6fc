//! Maps built-in entities of other tools to our built-in recognizers.

use crate::module::{Builtin, squeeze};

/// The mapping of a built-in entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapped {
    /// Best first; empty means free text.
    pub(super) builtins: &'static [Builtin],
    /// How the two differ.
    pub(super) note: Option<&'static str>,
}

const MOMENT: &[Builtin] = &[Builtin::DateTime, Builtin::Date, Builtin::Time];
const PERIOD: &str = "a period is found as one moment";
const UNIT: &str = "the number is found, its unit is not";
const FREE: &str = "found by its neighbours in the examples: there is no list of such values here";
const CURRENCY: &str = "the amount is kept, the currency is not";

/// Looks up the last part of the name, without case and separators: `@sys.date-time`, `AMAZON.Date`,
/// `snips/amountOfMoney`, `Quantity.Age`, `phone-number`.
pub(super) fn find(name: &str) -> Mapped {
    let last = name.rsplit(['.', '/', '@', ':']).next().unwrap_or(name);
    let (builtins, note): (&'static [Builtin], _) = match squeeze(last).as_str() {
        "datetime" | "datetimeperiod" | "datetimev2" => (MOMENT, None),
        "date" => (&[Builtin::Date], None),
        "dateperiod" => (&[Builtin::Date], Some(PERIOD)),
        "time" => (&[Builtin::Time], None),
        "timeperiod" => (&[Builtin::Time], Some(PERIOD)),
        "duration" => (&[Builtin::Duration], None),
        "number" | "float" => (&[Builtin::Number], None),
        "cardinal" | "numberinteger" | "integer" => (&[Builtin::Integer], None),
        "ordinal" | "ordinalv2" => (&[Builtin::Ordinal], None),
        "percentage" | "percent" => (&[Builtin::Percent], None),
        "unitcurrency" | "amountofmoney" | "currency" | "money" => (&[Builtin::Money], Some(CURRENCY)),
        "age" => (&[Builtin::Integer], Some(UNIT)),
        "temperature" | "dimension" | "distance" | "volume" | "quantity" | "weight" | "speed" | "information"
        | "unitarea" | "unitlength" | "unitspeed" | "unitvolume" | "unitweight" | "unitinformation" => {
            (&[Builtin::Number], Some(UNIT))
        }
        "email" | "emailaddress" => (&[Builtin::Email], None),
        "phonenumber" | "phone" => (&[Builtin::Phone], None),
        "url" => (&[Builtin::Url], None),
        "boolean" | "confirmation" => (&[Builtin::Boolean], None),
        "any" | "freeforminput" => (&[], None),
        _ => (&[], Some(FREE)),
    };
    Mapped { builtins, note }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_tool_are_known() {
        for (name, builtin) in [
            ("@sys.date-time", Builtin::DateTime),
            ("sys.number-integer", Builtin::Integer),
            ("AMAZON.EmailAddress", Builtin::Email),
            ("snips/amountOfMoney", Builtin::Money),
            ("Quantity.Age", Builtin::Integer),
            ("phone-number", Builtin::Phone),
            ("Choice.Boolean", Builtin::Boolean),
        ] {
            assert_eq!(find(name).builtins.first(), Some(&builtin), "{name}");
        }
        assert!(find("AMAZON.City").builtins.is_empty() && find("AMAZON.City").note.is_some());
        assert_eq!(find("@sys.any"), Mapped { builtins: &[], note: None });
    }
}
