//! Texts that authors write as Jinja templates, for a person to read. A template runs within limits, so that it cannot
//! keep a request busy or fill the memory.

mod allowed;

use std::{borrow::Cow, fmt::Write, io, sync::LazyLock};

use allowed::{Short, too_long};
pub(crate) use allowed::{compiled, limit_filters};
use minijinja::{Environment, Error, ErrorKind, Output, State, Template, UndefinedBehavior, Value, value::Serde};
use serde::Serialize;

/// Instructions that one rendering may execute, depth of its calls, and bytes that it may write.
const FUEL: u64 = 5_000;
const DEPTH: usize = 16;
const LARGEST: usize = 16 << 10;
/// How errors call a text.
const NAME: &str = "template";

/// Why a template gives no text: for notes and logs.
#[derive(Debug, thiserror::Error)]
#[error("the template fails: {0}")]
pub struct TemplateError(#[from] Error);

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEPTH);
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    limit_filters(&mut environment);
    // Never escaped: the text is not a web page. An absent value is an error, so that no sentence has a hole.
    environment.set_formatter(|output, _: &mut State<'_, '_>, value| {
        if value.is_none() || value.is_undefined() {
            return Err(Error::new(ErrorKind::UndefinedError, "a value that it names is not there"));
        }
        write_value(output, value, unchanged)
    });
    environment
});

/// Checks that a text is a template of what is [allowed].
pub(super) fn check(text: &str) -> Result<(), Error> {
    compiled(&ENVIRONMENT, NAME, text).map(|_| ())
}

/// The members of `root` that a template names, sorted: `id` and `place.city` for `{{ result.id }}` and
/// `{% if result.place.city %}`.
pub(super) fn members(text: &str, root: &str) -> Vec<String> {
    let named = compiled(&ENVIRONMENT, NAME, text).map(|template| template.undeclared_variables(true));
    let inside = |name: &String| name.strip_prefix(root)?.strip_prefix('.').map(str::to_owned);
    let mut members: Vec<String> = named.unwrap_or_default().iter().filter_map(inside).collect();
    members.sort_unstable();
    members
}

/// The rendered text with the values of `known`.
///
/// # Errors
/// If the template cannot be parsed, does something forbidden, or would write an absent value.
pub fn rendered(text: &str, known: &impl Serialize) -> Result<String, TemplateError> {
    // Compiled each time: that takes as long as rendering it, a few microseconds.
    let template = compiled(&ENVIRONMENT, NAME, text)?;
    Ok(bounded(&template, Value::from(Serde(known)), LARGEST)?)
}

/// The text that a template writes, without surrounding white space.
///
/// # Errors
/// If the template does something forbidden, or writes more than `largest` bytes.
pub(crate) fn bounded(template: &Template<'_, '_>, context: Value, largest: usize) -> Result<String, Error> {
    let mut page = Page { written: Vec::new(), largest };
    template.render_captured_to(context, &mut page)?;
    Ok(String::from_utf8_lossy(&page.written).trim().to_owned())
}

/// Writes a value that a template names, changed by `change`; writes nothing for a missing value.
pub(crate) fn write_value(
    output: &mut Output<'_>,
    value: &Value,
    change: fn(&str) -> Cow<'_, str>,
) -> Result<(), Error> {
    if value.is_none() || value.is_undefined() {
        return Ok(());
    }
    let text = match value.as_str() {
        Some(text) => Cow::Borrowed(text),
        None => {
            let mut text = Short::default();
            write!(text, "{value}").map_err(too_long)?;
            Cow::Owned(text.0)
        }
    };
    output.write_str(&change(&text)).map_err(Error::from)
}

const fn unchanged(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// Text of a bounded length, in bytes.
struct Page {
    written: Vec<u8>,
    largest: usize,
}

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written.len() + bytes.len() > self.largest {
            return Err(io::Error::other(format!("it writes more than {} bytes", self.largest)));
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_known_is_filled_in() {
        let known = json!({"result": {"id": 7, "name": "A & <b>", "note": null}, "slots": {"size": 9.5}});
        let render = |text: &str| rendered(text, &known).expect("it renders");
        assert_eq!(render("{{ result.id }}, {{ result.name }}, {{ slots.size }}"), "7, A & <b>, 9.5");
        assert_eq!(render("{% if result.id %}yes{% endif %}{% if result.a.b %}no{% endif %}!"), "yes!");
        assert_eq!(render("{{ result.note or 'none' }}, {{ nothing | default('nothing') }}"), "none, nothing");
    }

    #[test]
    fn a_text_with_a_hole_is_none() {
        let known = json!({"result": {"id": 7, "note": null}});
        for text in ["{{ result.note }}!", "{{ result.a.b }}!", "It is {{ nothing }}."] {
            assert!(rendered(text, &known).is_err(), "{text}");
        }
        let text = "{{ result.id }} {% if result.place.city %}{{ slots.size }}{% endif %}";
        assert_eq!(members(text, "result"), ["id", "place.city"]);
        assert!(members("{{ result.id }}{{ [1] * 30000000 }}", "result").is_empty(), "it is not compiled");
    }

    #[test]
    fn a_template_has_bounds() {
        for text in [
            "{% for a in range(100000) %}{% endfor %}",
            "{% for a in range(2000) %}0123456789{% endfor %}",
            "{{ 'x' | nothing }}",
        ] {
            assert!(rendered(text, &json!({})).is_err(), "{text}");
        }
        assert!(check("{{ a }}").is_ok() && check("{{ a").is_err() && check("{% if %}").is_err());
    }
}
