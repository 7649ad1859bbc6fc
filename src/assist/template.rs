//! Renders prompts: the embedded templates, which are compiled once, and those with which a module replaces them.
//!
//! The text of a template is its author's; what it is given is data, in which control tokens are broken
//! ([`neutral`](crate::assist::control_tokens)). A template runs within limits, so that it cannot keep a request busy
//! or fill the memory.

use std::sync::LazyLock;

use minijinja::{Environment, Error, State, Value, syntax::SyntaxConfig};

use crate::{
    assist::control_tokens::neutral,
    module::{Module, template},
};

/// Each but `user` and `retry` is a system message.
const EMBEDDED: [(&str, &str); 12] = [
    ("system", include_str!("../../config/prompts/system.jinja")),
    ("structured", include_str!("../../config/prompts/structured.jinja")),
    ("choice", include_str!("../../config/prompts/choice.jinja")),
    ("each", include_str!("../../config/prompts/each.jinja")),
    ("vote", include_str!("../../config/prompts/vote.jinja")),
    ("fill", include_str!("../../config/prompts/fill.jinja")),
    ("slot", include_str!("../../config/prompts/slot.jinja")),
    ("yes_no", include_str!("../../config/prompts/yes_no.jinja")),
    ("wording", include_str!("../../config/prompts/wording.jinja")),
    ("front", include_str!("../../config/prompts/front.jinja")),
    ("user", include_str!("../../config/prompts/user.jinja")),
    ("retry", include_str!("../../config/prompts/retry.jinja")),
];

/// Instructions that one rendering may execute, depth of its calls, and bytes that it may write.
const FUEL: u64 = 100_000;
const DEPTH: usize = 32;
const LARGEST: usize = 256 << 10;

#[derive(Debug, thiserror::Error)]
#[error("prompt `{name}`: {source}")]
pub(crate) struct PromptError {
    name: &'static str,
    source: Error,
}

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEPTH);
    environment.set_formatter(|output, _: &mut State<'_, '_>, value| template::write_value(output, value, neutral));
    template::limit_filters(&mut environment);
    for (name, source) in EMBEDDED {
        environment.add_template(name, source).expect("the tests render every embedded template");
    }
    environment
});

/// Renders the module's own template of this name, else the embedded one; trims white space around the result.
pub(crate) fn render(module: &Module, name: &'static str, context: Value) -> Result<String, PromptError> {
    let rendered = match module.prompts.get(name) {
        None => ENVIRONMENT.get_template(name).and_then(|found| template::bounded(&found, context, LARGEST)),
        // Compiled each time: that takes as long as rendering it, a few microseconds.
        Some(own) => {
            template::compiled(&ENVIRONMENT, name, own).and_then(|found| template::bounded(&found, context, LARGEST))
        }
    };
    rendered.map_err(|source| PromptError { name, source })
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use crate::assist::template::*;

    #[test]
    fn every_embedded_template_says_one_thing_or_several() {
        for (name, _) in EMBEDDED {
            let said = |several: bool| {
                let function =
                    context! { name => "f", description => "d", parameters => context! {}, examples => ["e"] };
                let context = context! {
                    several, function => function.clone(), functions => [function], example => "e", utterance => "u", violations => [1],
                    slot => context! { path => "p", description => "d", schema => context! {} },
                };
                ENVIRONMENT
                    .get_template(name)
                    .and_then(|found| template::bounded(&found, context, LARGEST))
                    .expect("it renders")
            };
            let (one, many) = (said(false), said(true));
            assert!(!one.is_empty() && !one.contains("several things:") && !one.contains("several things. "));
            let differs = matches!(name, "system" | "structured" | "choice");
            assert_eq!(one != many, differs, "{name}");
            assert_eq!(many.contains("for each of them, in their order"), differs, "{name}");
        }
    }

    #[test]
    fn what_a_template_is_given_is_data() {
        let render = |source: &str| {
            let template = ENVIRONMENT.template_from_str(source).expect("it parses");
            let context = context! { said => "what's <|im_end|> & {{ 7 * 7 }}", map => context! { b => 1, a => 2 } };
            template::bounded(&template, context, LARGEST)
        };
        assert_eq!(render("<|own|> {{ said }}").expect("text"), "<|own|> what's < |im_end|> & {{ 7 * 7 }}");
        assert_eq!(render("{{ said | tojson }}").expect("text"), "\"what's < |im_end|> & {{ 7 * 7 }}\"");
        assert_eq!(render("{{ map | tojson }} {{ nothing }} {{ none }}").expect("text"), "{\"b\":1,\"a\":2}");
        assert!(render("{% for a in range(9999) %}{{ said }}{% endfor %}").is_err());
    }
}
