//! The input of a turn, and the parsing of what requests say in words.

use jiff::{Timestamp, Zoned, fmt::temporal::Pieces, tz::TimeZone};

use crate::{
    assist::{history::HistoryMessage, ledger::BudgetOverrides},
    decide::expected::{Expected, Hint},
    module::{FunctionId, Module, settings::StrategyName},
    shares::Owner,
};

/// One utterance to understand.
#[derive(Debug, Clone, Default)]
pub struct TurnRequest {
    pub utterance: String,
    pub strategy: Option<StrategyName>,
    /// The reference moment for words like "tomorrow"; now, in the module's time zone, if absent.
    pub now: Option<jiff::Zoned>,
    /// Only these functions may be chosen; all if `None`.
    pub among: Option<Vec<FunctionId>>,
    /// Functions with priority: the others are used only if none of these is meant.
    pub first: Option<Vec<FunctionId>>,
    /// What this turn may spend on a model server; never more than the server and the module allow.
    pub budget: BudgetOverrides,
    /// The function is known, and only its slots are searched; then nothing is out of scope.
    pub given: Option<FunctionId>,
    /// What was just asked for, if the utterance may be an answer.
    pub expected: Expected,
    /// What the client's own recognizers found.
    pub hints: Vec<Hint>,
    /// The conversation before, oldest first.
    pub history: Vec<HistoryMessage>,
    /// The client developer's instructions to a model server, in addition to the module's.
    pub instructions: Option<String>,
    pub demand: Demand,
    /// The utterance is about one thing: it is not split into several requests.
    pub single: bool,
    /// BCP 47 language in which questions are worded; the module's if `None`.
    pub language: Option<String>,
    /// The owner of the work.
    pub owner: Owner,
    /// No client waits for it: it gives way to others.
    pub in_background: bool,
    /// Explain everything that the answer is based on, at the cost of some extra work.
    pub explain: bool,
}

impl TurnRequest {
    /// The request limited to the functions with priority, and to all; `None` if there is no difference.
    pub(crate) fn in_order(&self) -> Option<(Self, Self)> {
        let first =
            self.first.as_ref().filter(|_| self.given.is_none() && !matches!(self.demand, Demand::Function(_)))?;
        let among = self.among.as_ref();
        let own = first.iter().copied().filter(|id| among.is_none_or(|among| among.contains(id))).collect();
        let all = Self { first: None, ..self.clone() };
        Some((Self { among: Some(own), ..all.clone() }, all))
    }
}

/// Whether there must be a call. Missing values are asked for in any case: nothing is made up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Demand {
    /// Only if a function is meant.
    #[default]
    Auto,
    /// A function is meant: if it is unclear which, that is a question.
    Required,
    /// Exactly this function is meant.
    Function(FunctionId),
}

/// Why a request cannot be read. `Display` says what would be right, and names the member as in [`Self::member`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error("`now` is no moment in time ({0}): write `2026-03-01T09:00:00-08:00[America/Los_Angeles]`")]
    Moment(String),
    #[error("`functions` is empty, so nothing could be chosen: leave it out to choose among all")]
    NoFunctions,
    #[error("module `{module}` has no function `{name}`")]
    UnknownFunction { index: usize, name: String, module: String },
}

impl RequestError {
    /// The member of the request that it is about: `now`, `functions` or `functions[1]`.
    #[must_use]
    pub fn member(&self) -> String {
        match self {
            Self::Moment(_) => "now".to_owned(),
            Self::NoFunctions => "functions".to_owned(),
            Self::UnknownFunction { index, .. } => format!("functions[{index}]"),
        }
    }
}

/// The zone of a moment without one: the module's, or else `usual`. Names were checked with the module and the
/// configuration.
#[must_use]
pub fn time_zone(module: &Module, usual: &str) -> TimeZone {
    let name = module.settings.time_zone.as_deref().unwrap_or(usual);
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

/// A moment in which a module's exemplars are read: always the same one.
pub(crate) fn midday(module: &Module) -> Zoned {
    let noon = jiff::civil::date(2026, 3, 2).at(12, 0, 0, 0);
    noon.to_zoned(time_zone(module, "UTC")).unwrap_or_else(|_| Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC))
}

/// Reads RFC 9557 (`...[Europe/Zurich]`), or else RFC 3339; `Z` gives the instant but not the place, so `home` is used.
///
/// # Errors
/// If it is neither.
pub fn moment(text: &str, home: &TimeZone) -> Result<Zoned, RequestError> {
    let zoned = || -> Result<Zoned, jiff::Error> {
        let pieces = Pieces::parse(text)?;
        if pieces.time_zone_annotation().is_some() {
            return text.parse();
        }
        let instant: Timestamp = text.parse()?;
        let place = match pieces.to_numeric_offset() {
            Some(offset) if !text.trim_end().ends_with(['Z', 'z']) => TimeZone::fixed(offset),
            _ => home.clone(),
        };
        Ok(instant.to_zoned(place))
    };
    zoned().map_err(|error| RequestError::Moment(error.to_string()))
}

/// The functions with these names, without duplicates, in the order of their first mention.
///
/// # Errors
/// If there is none, or a name that the module does not have.
pub fn functions(module: &Module, names: &[String]) -> Result<Vec<FunctionId>, RequestError> {
    if names.is_empty() {
        return Err(RequestError::NoFunctions);
    }
    let mut ids = Vec::with_capacity(names.len().min(module.functions.len()));
    let mut seen = vec![false; module.functions.len()];
    for (index, name) in names.iter().enumerate() {
        let Some(id) = module.function_named(name) else {
            let (name, module) = (name.clone(), module.name.to_string());
            return Err(RequestError::UnknownFunction { index, name, module });
        };
        if !std::mem::replace(&mut seen[id.index()], true) {
            ids.push(id);
        }
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::fixture;

    #[test]
    fn a_moment_with_z_is_read_at_home() {
        let home = TimeZone::get("Asia/Tokyo").expect("bundled");
        let read = |text: &str| moment(text, &home).map(|moment| moment.to_string());
        assert_eq!(read("2026-03-01T09:00:00Z").unwrap(), "2026-03-01T18:00:00+09:00[Asia/Tokyo]");
        assert_eq!(read("2026-03-01T09:00:00.5+02:00").unwrap(), "2026-03-01T09:00:00.5+02:00[+02:00]");
        let zurich = "2026-03-01T09:00:00+01:00[Europe/Zurich]";
        assert_eq!(read(zurich).unwrap(), zurich);
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        let long = "9".repeat(10_000);
        for text in ["", "tomorrow", "2026-03-01", "2026-03-01T09:00:00", "2026-13-01T00:00:00Z", "\u{0}", &long] {
            let error = moment(text, &TimeZone::UTC).unwrap_err();
            assert_eq!(error.member(), "now", "{text:?}");
        }
    }

    #[test]
    fn the_zone_is_the_modules_else_the_usual_one() {
        let mut module = fixture::module();
        assert_eq!(time_zone(&module, "Asia/Tokyo").iana_name(), Some("Asia/Tokyo"));
        module.settings.time_zone = Some("Europe/Zurich".into());
        assert_eq!(time_zone(&module, "Asia/Tokyo").iana_name(), Some("Europe/Zurich"));
    }

    #[test]
    fn functions_are_found_by_name_once() {
        let module = fixture::module();
        let names = |names: &[&str]| functions(&module, &names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names(&["get_current_weather"; 3]).unwrap(), [FunctionId::from_index(0)]);
        assert_eq!(names(&[]).unwrap_err().member(), "functions");
        let unknown = names(&["get_current_weather", "sing"]).unwrap_err();
        assert_eq!(unknown.to_string(), "module `weather` has no function `sing`");
        assert_eq!(unknown.member(), "functions[1]");
    }
}
