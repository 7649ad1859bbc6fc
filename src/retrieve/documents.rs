//! The searchable parts of a module: each function's description, and each of its exemplars.

use serde_json::Value;

use super::{DocumentSource, IndexDocument, values};
use crate::{
    exemplars::Sentences,
    language::facts::is_unspaced_language,
    module::{Exemplar, ExemplarId, Function, Module, PathStep, Slot, SlotPath},
    text::{in_words, plain::first_sentence},
};

/// Most choices of one slot that its function's description repeats; more would drown the rest.
const CHOICES: usize = 12;

/// From this length on, in characters, the first sentence of a description is also a document of its own.
const LONG: usize = 120;

/// One or more descriptions and every exemplar of each function, in the order of the module.
///
/// A description has a short form (name, description, names of parameters) and, if there is more to say, a full one
/// (with descriptions and choices of the parameters). Both are embedded, and the nearer one counts: terse functions are
/// found better by the short form, families of similar ones by the full. BM25 sees the short form only if there is no
/// full one. An operation of an `OpenAPI` document with a long description also has its first sentence as a document,
/// which serves as the operation's title.
///
/// An exemplar is embedded as it is `said`. BM25 sees the sentence that its author kept, or else its template with the
/// words of the slots' names; in a language without spaces the template, with [`values`] for slots.
#[must_use]
pub fn documents(module: &Module, said: &Sentences) -> Vec<IndexDocument> {
    let mut documents = Vec::new();
    let is_unspaced = is_unspaced_language(module.language());
    for id in module.function_ids() {
        let function = module.function(id);
        let short = described(function, |_| String::new());
        let full = described(function, explained);
        let document = |lexical: String, dense: String| IndexDocument {
            function: id,
            source: DocumentSource::Description,
            lexical,
            dense: vec![dense],
        };
        if short == full {
            documents.push(document(full.clone(), full));
        } else {
            documents.push(document(full.clone(), full));
            documents.push(document(String::new(), short));
        }
        if function.request.is_some() && function.description.chars().count() > LONG {
            let gist = first_sentence(&function.description);
            documents.push(document(format!("{}. {gist}", in_words(&function.name)), gist));
        }
        for (index, exemplar) in function.exemplars.iter().enumerate() {
            let of = ExemplarId::from_index(index);
            documents.push(IndexDocument {
                function: id,
                source: DocumentSource::Exemplar { id: of, mode: exemplar.mode },
                lexical: if is_unspaced { values::of_template(function, exemplar) } else { spoken(exemplar) },
                dense: said.of(id, of).iter().map(|one| one.sentence.text.clone()).collect(),
            });
        }
    }
    documents
}

fn described(function: &Function, explain: impl Fn(&Slot) -> String) -> String {
    let name = in_words(&function.name);
    let description = function.description.trim();
    let mut text = name.clone();
    // A description that only repeats the name adds nothing, and repetition measured worse.
    if !description.is_empty() && in_words(description) != name {
        text.push_str(". ");
        text.push_str(description);
    }
    for (index, slot) in function.slots.iter().enumerate() {
        text.push_str(if index == 0 { ". " } else { "; " });
        text.push_str(&path_words(&slot.path));
        text.push_str(&explain(slot));
    }
    text
}

fn explained(slot: &Slot) -> String {
    let mut text = String::new();
    let description = slot.description.trim();
    if !description.is_empty() && in_words(description) != in_words(slot.label()) {
        text.push_str(": ");
        text.push_str(description);
    }
    if !slot.choices.is_empty() {
        let choices: Vec<String> = slot.choices.iter().take(CHOICES).map(shown).collect();
        text.push_str(" (");
        text.push_str(&choices.join(", "));
        text.push(')');
    }
    text
}

fn shown(choice: &Value) -> String {
    choice.as_str().map_or_else(|| choice.to_string(), |text| text.replace('_', " "))
}

fn spoken(exemplar: &Exemplar) -> String {
    match exemplar.utterance.as_deref().map(str::trim) {
        Some(utterance) if !utterance.is_empty() => utterance.to_owned(),
        _ => exemplar.rendered(in_words),
    }
}

fn path_words(path: &SlotPath) -> String {
    let keys = path.0.iter().filter_map(|step| match step {
        PathStep::Key(key) => Some(in_words(key)),
        PathStep::Each => None,
    });
    keys.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::module::{Counting, FunctionId, ModuleName, OwnerMode, Settings, SlotKind, TemplatePiece};

    fn slot(keys: &[&str], description: &str, choices: Vec<Value>) -> Slot {
        Slot {
            path: SlotPath(
                keys.iter().map(|&key| if key == "[]" { PathStep::Each } else { PathStep::Key(key.into()) }).collect(),
            ),
            description: description.to_owned(),
            kind: SlotKind::String,
            schema: json!({}),
            required: false,
            default: None,
            choices,
            recognizers: Vec::new(),
            question: None,
            counting: Counting::No,
        }
    }

    fn exemplar(pieces: &[TemplatePiece], utterance: Option<&str>, mode: OwnerMode) -> Exemplar {
        Exemplar {
            template: String::new(),
            pieces: pieces.to_vec(),
            mode,
            label: None,
            context_frame: None,
            context_slot: None,
            utterance: utterance.map(str::to_owned),
            arguments: None,
        }
    }

    fn module(functions: Vec<Function>) -> Module {
        Module {
            name: ModuleName::new("test").expect("a name"),
            version: String::new(),
            functions,
            recognizers: Vec::new(),
            settings: Settings::default(),
            prompts: std::collections::BTreeMap::default(),
            warnings: Vec::new(),
        }
    }

    fn function(name: &str, description: &str, slots: Vec<Slot>, exemplars: Vec<Exemplar>) -> Function {
        Function {
            name: name.to_owned(),
            wire_name: name.to_owned(),
            description: description.to_owned(),
            parameters: json!({}),
            slots,
            exemplars,
            operation: None,
            request: None,
            endpoint: None,
            effect: crate::module::KnownEffect::default(),
        }
    }

    fn found(functions: Vec<Function>) -> Vec<IndexDocument> {
        let module = module(functions);
        documents(&module, &Sentences::new(&module, &[]))
    }

    #[test]
    fn names_are_split_into_words() {
        for (name, words) in [
            ("get_n_day_weather_forecast", "get n day weather forecast"),
            ("OrderFood", "order food"),
            ("Banks_2-CheckBalance", "banks 2 check balance"),
            ("parseHTMLPage2Go", "parse html page2 go"),
            ("  __x--y ", "x y"),
            ("料理_注文", "料理 注文"),
            ("", ""),
        ] {
            assert_eq!(in_words(name), words);
        }
    }

    #[test]
    fn a_description_has_a_short_and_a_full_form() {
        let slots = vec![
            slot(&["dishes", "[]", "name"], "What to cook", vec![]),
            slot(&["size"], "size", vec![json!("extra_large"), json!(2)]),
        ];
        let found = found(vec![function("orderFood", "Order a meal.", slots, vec![])]);
        let full = "order food. Order a meal.. dishes name: What to cook; size (extra large, 2)";
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].lexical.as_str(), found[0].dense[0].as_str()), (full, full));
        assert_eq!(
            (found[1].lexical.as_str(), found[1].dense[0].as_str()),
            ("", "order food. Order a meal.. dishes name; size")
        );
    }

    #[test]
    fn an_operation_with_much_to_say_is_found_by_what_it_is_called() {
        let told = format!("Create an issue. {}", "Any user with pull access may. ".repeat(10));
        let request = crate::module::endpoint::Operation {
            method: crate::module::endpoint::Method::Post,
            server: None,
            path: "/issues".to_owned(),
            headers: Vec::new(),
            parts: Vec::new(),
            body: crate::module::endpoint::BodyKind::None,
        };
        let of = |description: &str| Function {
            request: Some(request.clone()),
            ..function("issues/create", description, vec![], vec![])
        };
        let long = found(vec![of(&told)]);
        assert_eq!(long.last().map(|last| last.dense[0].as_str()), Some("Create an issue"));
        assert_eq!(long.last().map(|last| last.lexical.as_str()), Some("issues create. Create an issue"));
        assert_eq!(found(vec![of("Create an issue.")]).len(), long.len() - 1);
    }

    #[test]
    fn a_bare_name_is_said_once() {
        let found = found(vec![function("account_blocked", "account blocked", vec![], vec![])]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].dense, ["account blocked"]);
    }

    #[test]
    fn an_exemplar_is_its_sentence_or_its_template_in_words() {
        let template =
            [TemplatePiece::Text("fly to ".to_owned()), TemplatePiece::Slot { label: "toCity".to_owned(), slot: None }];
        let exemplars = vec![
            exemplar(&template, None, OwnerMode::Normal),
            exemplar(&template, Some("fly to Rome"), OwnerMode::Negative),
        ];
        let found = found(vec![function("fly", "", vec![], exemplars)]);
        assert_eq!(
            (found[1].lexical.as_str(), &found[1].dense[..]),
            ("fly to to city", &["fly to to city".to_owned()][..])
        );
        assert_eq!(found[2].lexical, "fly to Rome");
        assert_eq!(found[2].function, FunctionId::from_index(0));
        assert_eq!(
            found[2].source,
            DocumentSource::Exemplar { id: ExemplarId::from_index(1), mode: OwnerMode::Negative }
        );
    }

    proptest! {
        #[test]
        fn words_of_words_are_the_same(name in "\\PC{0,30}") {
            let words = in_words(&name);
            prop_assert!(!words.starts_with(' ') && !words.ends_with(' '));
            prop_assert!(!words.contains("  "));
        }
    }
}
