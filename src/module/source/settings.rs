//! `module.toml`: every member is checked against one table of what is allowed, so that all errors are found at once.

use serde_json::{Map, Value, json};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    super::{
        FunctionEffect, Settings,
        endpoint::Method,
        files::SETTINGS_FILE,
        settings::{StrategyName, ThresholdSettings},
        template,
    },
    Diagnostic, Findings, PointerChain,
    locate::line_and_column,
};
use crate::language::units::Unit;

/// The kind of value that a member may have.
enum Expect {
    Text,
    Bool,
    /// 0 to 1.
    Share,
    /// 0 to 2.
    Temperature,
    /// From 0.
    Count,
    /// From 1.
    Positive,
    /// Any whole number.
    Whole,
    OneOf(&'static [&'static str]),
    /// A text, or a table of texts by language.
    Wording,
    /// A [template](super::super::template), or a table of them by language.
    Template,
    /// A list of texts.
    Texts,
    /// A list of checks, each a text or a table.
    Rules,
    /// A JSON value.
    Any,
    /// One of these words, or a value of the other kind.
    WordOr(&'static [&'static str], &'static Expect),
    Table(&'static [(&'static str, Expect)]),
    /// A table with names that the author chooses.
    Named(&'static Expect),
}

/// The names of [`Unit`], for messages.
const UNITS: [&str; Unit::ALL.len()] = {
    let mut names = [""; Unit::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = Unit::ALL[index].name();
        index += 1;
    }
    names
};

const ASK: Expect = Expect::OneOf(&["one", "group"]);

/// One of the rules, if it is a table.
const RULE: Expect = Expect::Table(&[("check", Expect::Text), ("message", Expect::Wording)]);

/// See [`Endpoint`](super::super::endpoint::EndpointSettings).
const ENDPOINT: Expect = Expect::Table(&[
    ("openapi", Expect::Bool),
    ("server", Expect::Text),
    ("method", Expect::OneOf(&Method::NAMES)),
    ("url", Expect::Text),
    ("mcp", Expect::Text),
    ("tool", Expect::Text),
    ("headers", Expect::Named(&Expect::Text)),
    ("secrets", Expect::Named(&Expect::Text)),
    ("timeout_ms", Expect::Positive),
    ("retries", Expect::Count),
    ("idempotent", Expect::Bool),
    ("idempotency_header", Expect::Text),
    ("answer", Expect::Any),
]);

const SETTINGS: Expect = Expect::Table(&[
    ("description", Expect::Text),
    ("language", Expect::Text),
    ("date_order", Expect::OneOf(&["day_first", "month_first"])),
    ("time_zone", Expect::Text),
    ("instructions", Expect::Text),
    ("strategy", Expect::OneOf(&StrategyName::NAMES)),
    (
        "staged",
        Expect::Table(&[
            ("detect", Expect::OneOf(&["choice", "each", "vote"])),
            ("fill", Expect::OneOf(&["whole", "slots"])),
        ]),
    ),
    ("thresholds", Expect::Table(&[("sure", Expect::Share), ("in_scope", Expect::Share)])),
    (
        "llm",
        Expect::Table(&[
            ("model", Expect::Text),
            ("temperature", Expect::Temperature),
            ("max_tokens", Expect::Positive),
            ("candidates", Expect::Positive),
            ("shots", Expect::Count),
            ("retries", Expect::Count),
            ("deadline_ms", Expect::Positive),
            ("tokens", Expect::Positive),
        ]),
    ),
    (
        "conversation",
        Expect::Table(&[
            ("ask", ASK),
            ("tries", Expect::Positive),
            ("carry", Expect::Bool),
            ("wording", Expect::OneOf(&["module", "model"])),
        ]),
    ),
    (
        "chat",
        Expect::Table(&[
            ("tools", Expect::OneOf(&["ignore", "add", "replace"])),
            ("front", Expect::Bool),
            ("calls", Expect::OneOf(&["offered", "always"])),
        ]),
    ),
    (
        "replies",
        Expect::Table(&[
            ("greeting", Expect::Template),
            ("thanks", Expect::Template),
            ("farewell", Expect::Template),
            ("acknowledged", Expect::Template),
            ("out_of_scope", Expect::Template),
            ("done", Expect::Template),
            ("failed", Expect::Template),
            ("cancelled", Expect::Template),
            ("handed_off", Expect::Template),
        ]),
    ),
    (
        "functions",
        Expect::Named(&Expect::Table(&[
            ("effect", Expect::OneOf(&FunctionEffect::NAMES)),
            ("changes", Expect::Text),
            ("repeats", Expect::Bool),
            ("confirm", Expect::Bool),
            ("confirmation", Expect::Wording),
            ("ask", ASK),
            (
                "replies",
                Expect::Table(&[
                    ("done", Expect::Template),
                    ("failed", Expect::Template),
                    ("cancelled", Expect::Template),
                    ("handed_off", Expect::Template),
                ]),
            ),
            ("result", Expect::Texts),
            ("shares", Expect::Named(&Expect::Text)),
            ("endpoint", Expect::WordOr(&["openapi"], &ENDPOINT)),
            ("rules", Expect::Rules),
            ("sure", Expect::Share),
            (
                "slots",
                Expect::Named(&Expect::Table(&[
                    ("question", Expect::Wording),
                    ("invalid", Expect::Wording),
                    ("priority", Expect::Whole),
                    ("ask", Expect::Bool),
                    ("shared", Expect::Text),
                    ("sensitive", Expect::Bool),
                    ("recognizer", Expect::Text),
                    ("grounding", Expect::OneOf(&["strict", "free"])),
                    ("part_of_day", Expect::OneOf(&["ask", "morning", "afternoon", "day", "nearest"])),
                    ("direction", Expect::OneOf(&["past", "future", "any"])),
                    ("unit", Expect::OneOf(&UNITS)),
                ])),
            ),
        ])),
    ),
]);

/// The JSON Schema of `module.toml`, for editors.
pub(in crate::module) fn json_schema() -> Value {
    SETTINGS.json_schema()
}

impl Expect {
    fn json_schema(&self) -> Value {
        let by_language =
            json!({"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]});
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Bool => json!({"type": "boolean"}),
            Self::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
            Self::Temperature => json!({"type": "number", "minimum": 0, "maximum": 2}),
            Self::Count => json!({"type": "integer", "minimum": 0}),
            Self::Positive => json!({"type": "integer", "minimum": 1}),
            Self::Whole => json!({"type": "integer"}),
            Self::OneOf(words) => json!({ "enum": words }),
            Self::Wording | Self::Template => by_language,
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Rules => json!({"type": "array", "items": {"oneOf": [{"type": "string"}, RULE.json_schema()]}}),
            Self::Any => json!({}),
            Self::WordOr(words, inner) => json!({"oneOf": [{"enum": words}, inner.json_schema()]}),
            Self::Table(members) => {
                let properties = members.iter().map(|(name, inner)| ((*name).to_owned(), inner.json_schema()));
                json!({"type": "object", "properties": properties.collect::<Map<_, _>>(), "additionalProperties": false})
            }
            Self::Named(inner) => json!({"type": "object", "additionalProperties": inner.json_schema()}),
        }
    }
}

/// The settings as written; names in them are not yet looked up.
pub(in crate::module) fn read(text: &str, findings: &mut Findings) -> Option<Settings> {
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let message = format!("this is not TOML: {}", error.message());
            let found = Diagnostic::error("syntax", SETTINGS_FILE, "", message);
            findings.push(match error.span() {
                Some(span) => {
                    let (line, column) = line_and_column(text, span.start);
                    found.at(line, column)
                }
                None => found,
            });
            return None;
        }
    };
    let mut bad: Vec<Vec<String>> = Vec::new();
    check_table(table.get_ref(), &SETTINGS, &PointerChain::ROOT, &mut Vec::new(), &mut bad, findings);
    // Wrong members are reported and removed, so that the rest can be checked as well.
    let read = toml::from_str::<toml::Table>(text).and_then(|mut table| {
        for path in &bad {
            remove(&mut table, path);
        }
        table.try_into::<Settings>()
    });
    match read {
        Ok(settings) => {
            check_values(&settings, findings);
            Some(settings)
        }
        Err(error) => {
            findings.push(Diagnostic::error("bad-setting", SETTINGS_FILE, "", error.message()));
            None
        }
    }
}

fn remove(table: &mut toml::Table, path: &[String]) {
    match path {
        [] => {}
        [last] => {
            table.remove(last);
        }
        [first, rest @ ..] => {
            if let Some(toml::Value::Table(inner)) = table.get_mut(first) {
                remove(inner, rest);
            }
        }
    }
}

/// `path` is the present place; `bad` collects what must be removed.
fn check_table(
    table: &DeTable<'_>,
    expected: &Expect,
    place: &PointerChain<'_>,
    path: &mut Vec<String>,
    bad: &mut Vec<Vec<String>>,
    findings: &mut Findings,
) {
    for (key, value) in table {
        let key: &str = key.get_ref();
        let at = place.key(key);
        let expected = match expected {
            Expect::Named(inner) => Some(*inner),
            Expect::Table(members) => members.iter().find(|(name, _)| *name == key).map(|(_, inner)| inner),
            _ => None,
        };
        path.push(key.to_owned());
        let fits = match (expected, value.get_ref().as_table()) {
            (Some(Expect::Any), _) => true,
            (Some(Expect::WordOr(_, inner)), Some(table)) => {
                check_table(table, inner, &at, path, bad, findings);
                true
            }
            (Some(expected @ (Expect::Table(_) | Expect::Named(_))), Some(table)) => {
                check_table(table, expected, &at, path, bad, findings);
                true
            }
            (Some(inner @ (Expect::Wording | Expect::Template)), Some(texts)) => {
                check_wording(texts, inner, &at, findings)
            }
            (Some(Expect::Rules), _) => check_rules(value.get_ref(), &at, findings),
            (Some(expected), _) => check_value(value.get_ref(), expected, &at, findings),
            (None, _) => {
                unknown(key, &at, place, findings);
                false
            }
        };
        if !fits {
            bad.push(path.clone());
        }
        path.pop();
    }
}

/// Checks texts by language.
fn check_wording(texts: &DeTable<'_>, expected: &Expect, place: &PointerChain<'_>, findings: &mut Findings) -> bool {
    let mut fits = true;
    for (language, text) in texts {
        let language: &str = language.get_ref();
        let at = place.key(language);
        if !is_language(language) {
            let message = format!("`{language}` is not a BCP 47 language tag");
            let hint = "a text, or one by language: `{ en = \"Which size?\", de = \"Welche Größe?\" }`";
            findings.push(Diagnostic::error("bad-setting", SETTINGS_FILE, at, message).hint(hint));
            fits = false;
        }
        let inner = if matches!(expected, Expect::Template) { &Expect::Template } else { &Expect::Text };
        fits &= check_value(text.get_ref(), inner, &at, findings);
    }
    fits
}

/// A list with one wrong rule is removed as a whole.
fn check_rules(value: &DeValue<'_>, place: &PointerChain<'_>, findings: &mut Findings) -> bool {
    let Some(rules) = value.as_array() else { return check_value(value, &Expect::Rules, place, findings) };
    let before = findings.errors();
    for (index, rule) in rules.iter().enumerate() {
        let at = place.index(index);
        match rule.get_ref() {
            DeValue::String(_) => {}
            DeValue::Table(table) => {
                check_table(table, &RULE, &at, &mut Vec::new(), &mut Vec::new(), findings);
                if table.get("check").is_none() {
                    let message = "the rule has no `check`";
                    findings.push(Diagnostic::error("bad-setting", SETTINGS_FILE, at, message));
                }
            }
            other => {
                check_value(other, &Expect::Rules, &at, findings);
            }
        }
    }
    findings.errors() == before
}

/// Names that are allowed at `place`, for a hint.
fn members_of(place: &PointerChain<'_>) -> Vec<&'static str> {
    let pointer = place.to_string();
    let mut expected = &SETTINGS;
    for step in pointer.split('/').skip(1) {
        expected = match expected {
            Expect::Named(inner) => inner,
            // The step is the position in the list.
            Expect::Rules => &RULE,
            Expect::Table(members) | Expect::WordOr(_, Expect::Table(members)) => {
                match members.iter().find(|(name, _)| *name == step) {
                    Some((_, inner)) => inner,
                    None => return Vec::new(),
                }
            }
            _ => return Vec::new(),
        };
    }
    match expected {
        Expect::Table(members) | Expect::WordOr(_, Expect::Table(members)) => {
            members.iter().map(|(name, _)| *name).collect()
        }
        _ => Vec::new(),
    }
}

fn unknown(key: &str, at: &PointerChain<'_>, place: &PointerChain<'_>, findings: &mut Findings) {
    let members = members_of(place);
    let hint = if matches!(key, "api_key" | "base_url") {
        Some("keys and addresses belong to who runs the service, never to a module".to_owned())
    } else {
        findings.near(key, members.iter().copied()).or_else(|| Some(format!("known here: {}", members.join(", "))))
    };
    let message = format!("`{key}` is not a setting");
    findings.push(Diagnostic::error("unknown-setting", SETTINGS_FILE, at, message).hint_if(hint));
}

fn check_value(value: &DeValue<'_>, expected: &Expect, at: &PointerChain<'_>, findings: &mut Findings) -> bool {
    let number = || match value {
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number as f64)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
        _ => None,
    };
    let wanted = match expected {
        Expect::Text => (!value.is_str()).then(|| "a text".to_owned()),
        Expect::Bool => (!value.is_bool()).then(|| "true or false".to_owned()),
        Expect::Share => {
            number().is_none_or(|share| !(0.0..=1.0).contains(&share)).then(|| "a number from 0 to 1".to_owned())
        }
        Expect::Temperature => {
            number().is_none_or(|number| !(0.0..=2.0).contains(&number)).then(|| "a number from 0 to 2".to_owned())
        }
        Expect::Count | Expect::Positive => {
            let least = if matches!(expected, Expect::Positive) { 1 } else { 0 };
            let range = f64::from(least)..=f64::from(u32::MAX);
            let fits = value.is_integer() && number().is_some_and(|count| range.contains(&count));
            (!fits).then(|| format!("a whole number from {least}"))
        }
        Expect::OneOf(names) => {
            let fits = value.as_str().is_some_and(|name| names.contains(&name));
            (!fits).then(|| format!("one of `{}`", names.join("`, `")))
        }
        Expect::Whole => {
            let range = f64::from(i32::MIN)..=f64::from(i32::MAX);
            let fits = value.is_integer() && number().is_some_and(|count| range.contains(&count));
            (!fits).then(|| "a whole number".to_owned())
        }
        Expect::Template => match value.as_str().map(template::check) {
            None => Some("a text, or a table of texts by language".to_owned()),
            Some(Ok(())) => None,
            Some(Err(reason)) => {
                let message = format!("the template cannot be read: {reason}");
                let found = Diagnostic::error("bad-template", SETTINGS_FILE, at, message);
                findings
                    .push(found.hint("replies are Jinja templates, such as `Your order {{ result.id }} is placed.`"));
                return false;
            }
        },
        Expect::Texts => {
            let is_text = |item: &Spanned<DeValue<'_>>| item.get_ref().is_str();
            let fits = value.as_array().is_some_and(|items| items.iter().all(is_text));
            (!fits).then(|| "a list of texts".to_owned())
        }
        Expect::Wording => (!value.is_str()).then(|| "a text, or a table of texts by language".to_owned()),
        Expect::Rules => Some("a list of rules, each a text or a table with `check`".to_owned()),
        Expect::Any => None,
        Expect::WordOr(words, _) => {
            let fits = value.as_str().is_some_and(|word| words.contains(&word));
            (!fits).then(|| format!("`{}` or a table", words.join("`, `")))
        }
        Expect::Table(_) | Expect::Named(_) => Some("a table".to_owned()),
    };
    let Some(wanted) = wanted else { return true };
    let found = match value {
        DeValue::String(text) => format!("`{text}`"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        other => other.type_str().to_owned(),
    };
    let message = format!("expected {wanted}, found {found}");
    findings.push(Diagnostic::error("bad-setting", SETTINGS_FILE, at, message));
    false
}

fn check_values(settings: &Settings, findings: &mut Findings) {
    if let Some(language) = &settings.language
        && !is_language(language)
    {
        let message = format!("`{language}` is not a BCP 47 language tag");
        let at = PointerChain::ROOT.key("language");
        findings.push(
            Diagnostic::error("bad-setting", SETTINGS_FILE, at, message).hint("for example `en`, `de` or `pt-BR`"),
        );
    }
    if let Some(zone) = &settings.time_zone
        && jiff::tz::TimeZone::get(zone).is_err()
    {
        let names: Vec<String> = jiff::tz::db().available().map(|name| name.as_str().to_owned()).collect();
        let hint = findings.near(zone, names.iter().map(String::as_str));
        let message = format!("`{zone}` is not an IANA time zone");
        let at = PointerChain::ROOT.key("time_zone");
        let hint = hint.unwrap_or_else(|| "for example `Europe/Berlin`".to_owned());
        findings.push(Diagnostic::error("bad-setting", SETTINGS_FILE, at, message).hint(hint));
    }
    let ThresholdSettings { sure, in_scope } = settings.thresholds;
    if let (Some(sure), Some(in_scope)) = (sure, in_scope)
        && sure < in_scope
    {
        let message = format!("`sure` = {sure} is below `in_scope` = {in_scope}: everything in scope would be sure");
        let at = PointerChain::Start("/thresholds/sure");
        findings.push(Diagnostic::warning("bad-setting", SETTINGS_FILE, at, message));
    }
}

/// The shape of a BCP 47 tag: a language of 2 or 3 letters, then subtags of 1 to 8 letters or digits.
fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    (2..=3).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> (Option<Settings>, Vec<Diagnostic>) {
        let mut findings = Findings::new();
        let settings = read(text, &mut findings);
        (settings, findings.finish(&[]).0)
    }

    /// The table and serde know the same members.
    #[test]
    fn the_table_is_what_serde_reads() {
        let full = "description = 'd'\nlanguage = 'pt-BR'\ntime_zone = 'Europe/Berlin'\ninstructions = 'i'\nstrategy = 'tools'\n\
            [thresholds]\nsure = 0.8\nin_scope = 0\n[staged]\ndetect = 'vote'\nfill = 'slots'\n[llm]\nmodel = 'm'\ntemperature = 0.1\nmax_tokens = 5\ncandidates = 3\nshots = 2\n\
            retries = 1\ndeadline_ms = 500\ntokens = 900\n\
            [conversation]\nask = 'group'\ntries = 3\ncarry = false\nwording = 'model'\n[chat]\ntools = 'add'\nfront = true\ncalls = 'always'\n[replies]\ngreeting = 'g'\nthanks = 't'\nfarewell = 'f'\nacknowledged = 'a'\n\
            out_of_scope = 'o'\ndone = 'd'\nfailed = 'f'\ncancelled = 'c'\nhanded_off = 'h'\n\
            [functions.f]\neffect = 'acts'\nchanges = 'g'\nrepeats = true\nconfirm = false\nask = 'one'\nresult = ['id']\n[functions.f.confirmation]\nen = 'c'\n[[functions.f.rules]]\ncheck = 'a < b'\nmessage = 'm'\n[functions.f.replies]\ndone = 'd'\nfailed = 'f'\ncancelled = 'c'\nhanded_off = 'h'\n\
            [functions.f.slots.s]\nquestion = 'q'\ninvalid = 'i'\npriority = -1\nask = true\nshared = 's'\nsensitive = true\nrecognizer = 'r'\ngrounding = 'free'\n";
        let (settings, found) = read_all(full);
        assert_eq!(found, []);
        let settings = settings.expect("read");
        let written = toml::to_string(&settings).expect("serializes");
        let count = |text: &str| text.lines().filter(|line| line.contains('=')).count();
        assert_eq!(count(&written), count(full), "{written}");
        assert_eq!(
            settings.functions["f"].slots["s"].question.as_ref().and_then(|wording| wording.in_language("en")),
            Some("q")
        );
    }

    #[test]
    fn all_faults_come_at_once() {
        let (settings, found) = read_all(
            "langage = 'en'\nstrategy = 'magic'\n[thresholds]\nsure = 1.5\n[llm]\napi_key = 'x'\nshots = -1\n[functions.f]\nconfirm = 'yes'\n",
        );
        assert!(settings.is_some_and(|settings| settings.functions.contains_key("f")));
        let codes: Vec<(&str, &str)> = found.iter().map(|found| (found.code, found.pointer.as_str())).collect();
        assert_eq!(
            codes,
            [
                ("bad-setting", "/functions/f/confirm"),
                ("unknown-setting", "/langage"),
                ("unknown-setting", "/llm/api_key"),
                ("bad-setting", "/llm/shots"),
                ("bad-setting", "/strategy"),
                ("bad-setting", "/thresholds/sure")
            ]
        );
        assert_eq!(found[1].hint.as_deref(), Some("did you mean `language`?"));
    }

    #[test]
    fn languages_and_zones_are_checked() {
        let (_, found) = read_all(
            "language = 'english please'\ntime_zone = 'Europe/Berln'\n[functions.f]\nconfirmation = { english = 'c' }\n",
        );
        let codes: Vec<&str> = found.iter().map(|found| found.code).collect();
        assert_eq!(codes, ["bad-setting"; 3]);
        assert_eq!(found[0].pointer, "/functions/f/confirmation/english");
        assert_eq!(found[2].hint.as_deref(), Some("did you mean `Europe/Berlin`?"));
        assert_eq!(read_all("[a\n").1[0].line, Some(1));
    }

    #[test]
    fn a_reply_that_is_no_template_is_named() {
        let (settings, found) = read_all(
            "[replies]\ngreeting = 'Hi {{ name'\n[functions.f]\nresult = 'id'\n[functions.f.replies]\ngreeting = 'x'\n\
             [functions.f.replies.done]\nen = 'ok'\nde = '{% if %}'\n",
        );
        let codes: Vec<(&str, &str)> = found.iter().map(|found| (found.code, found.pointer.as_str())).collect();
        assert_eq!(
            codes,
            [
                ("bad-template", "/functions/f/replies/done/de"),
                ("unknown-setting", "/functions/f/replies/greeting"),
                ("bad-setting", "/functions/f/result"),
                ("bad-template", "/replies/greeting"),
            ]
        );
        assert!(settings.is_some_and(|settings| settings.replies.greeting.is_none()));
    }

    #[test]
    fn rules_are_texts_and_tables() {
        let both = "[functions.f]\nrules = ['a < b', { check = 'c > 1', message = { de = 'Mehr als eins.' } }]\n";
        let (settings, found) = read_all(both);
        assert_eq!(found, []);
        let rules = &settings.expect("read").functions["f"].rules;
        assert_eq!(rules.iter().map(|rule| rule.check.as_str()).collect::<Vec<_>>(), ["a < b", "c > 1"]);
        assert_eq!(rules[1].message.as_ref().and_then(|message| message.in_language("de")), Some("Mehr als eins."));

        let (settings, found) = read_all(
            "[functions.f]\nconfirm = true\nrules = ['a < b', 3, { chek = 'x' }, { check = 'y', message = 4 }]\n",
        );
        let codes: Vec<(&str, &str)> = found.iter().map(|found| (found.code, found.pointer.as_str())).collect();
        assert_eq!(
            codes,
            [
                ("bad-setting", "/functions/f/rules/1"),
                ("unknown-setting", "/functions/f/rules/2/chek"),
                ("bad-setting", "/functions/f/rules/2"),
                ("bad-setting", "/functions/f/rules/3/message"),
            ]
        );
        assert_eq!(found[1].hint.as_deref(), Some("did you mean `check`?"));
        assert!(settings.is_some_and(|settings| settings.functions["f"].confirm));
        assert_eq!(read_all("[functions.f]\nrules = 'a < b'\n").1.len(), 1);
        assert_eq!(read_all("[functions.f.slots.s]\npriority = 1.5\n").1.len(), 1);
    }
}
