//! Names of a module's files.

/// Names that a schema file may have; exactly one of them may exist.
pub(super) const SCHEMA_FILES: [&str; 6] =
    ["schema.json", "schemas.json", "schema.yaml", "schemas.yaml", "schema.yml", "schemas.yml"];
pub(super) const EXEMPLARS_FILE: &str = "exemplars.json";
pub(super) const RECOGNIZERS_FILE: &str = "recognizers.json";
pub(super) const SETTINGS_FILE: &str = "module.toml";
/// The directory of [`PROMPT_FILES`].
pub(super) const PROMPTS: &str = "prompts";
/// Prompts that a module may replace, by the name under which [`super::Module::prompts`] keeps them.
pub(super) const PROMPT_FILES: [(&str, &str); 12] = [
    ("system", "prompts/system.jinja"),
    ("structured", "prompts/structured.jinja"),
    ("choice", "prompts/choice.jinja"),
    ("each", "prompts/each.jinja"),
    ("vote", "prompts/vote.jinja"),
    ("fill", "prompts/fill.jinja"),
    ("slot", "prompts/slot.jinja"),
    ("yes_no", "prompts/yes_no.jinja"),
    ("wording", "prompts/wording.jinja"),
    ("front", "prompts/front.jinja"),
    ("user", "prompts/user.jinja"),
    ("retry", "prompts/retry.jinja"),
];
