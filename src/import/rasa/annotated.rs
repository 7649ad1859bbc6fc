//! Rasa's annotated text: `to [Rome](city)`, `[NYC]{"entity": "city", "role": "to", "value": "New York"}`,
//! `[large](size:L)`.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum AnnotatedPiece {
    Text(String),
    Entity(Annotation),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Annotation {
    pub(super) text: String,
    pub(super) entity: String,
    pub(super) role: Option<String>,
    pub(super) group: Option<String>,
    pub(super) value: Option<String>,
    /// The words have further annotations, which are ignored.
    pub(super) has_others: bool,
}

/// # Errors
/// The problem with an annotation.
pub(super) fn parse(text: &str) -> Result<Vec<AnnotatedPiece>, String> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let after = &rest[open + 1..];
        // Brackets before anything else are text.
        let annotated = after.find(']').and_then(|close| {
            let follows = after[close + 1..].chars().next();
            matches!(follows, Some('(' | '{' | '[')).then(|| (&after[..close], &after[close + 1..]))
        });
        let Some((said, note)) = annotated else {
            plain.push_str(&rest[..=open]);
            rest = after;
            continue;
        };
        if note.starts_with('[') && !note.starts_with("[{") {
            plain.push_str(&rest[..=open]);
            rest = after;
            continue;
        }
        plain.push_str(&rest[..open]);
        let (mut annotation, length) = read(note).map_err(|reason| format!("the annotation of `{said}` {reason}"))?;
        if said.trim().is_empty() {
            return Err(format!("the entity `{}` is annotated around nothing", annotation.entity));
        }
        said.clone_into(&mut annotation.text);
        if !plain.is_empty() {
            pieces.push(AnnotatedPiece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(AnnotatedPiece::Entity(annotation));
        rest = &note[length..];
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(AnnotatedPiece::Text(plain));
    }
    Ok(pieces)
}

/// The annotation after the words, and its length in bytes.
fn read(note: &str) -> Result<(Annotation, usize), String> {
    if let Some(inner) = note.strip_prefix('(') {
        let end = inner.find(')').ok_or("has no end")?;
        let (entity, value) = match inner[..end].split_once(':') {
            Some((entity, value)) => (entity, Some(value.trim().to_owned())),
            None => (&inner[..end], None),
        };
        if entity.trim().is_empty() {
            return Err("names no entity".to_owned());
        }
        let annotation = Annotation { entity: entity.trim().to_owned(), value, ..Annotation::default() };
        return Ok((annotation, end + 2));
    }
    let mut values = serde_json::Deserializer::from_str(note).into_iter::<Value>();
    let value = values.next().ok_or_else(|| "is empty".to_owned())?.map_err(|error| format!("is not JSON: {error}"))?;
    let length = values.byte_offset();
    let (first, has_others) = match &value {
        Value::Array(all) => (all.first().ok_or("is an empty list")?, all.len() > 1),
        one => (one, false),
    };
    let member = |key: &str| first.get(key).and_then(super::super::reader::scalar).filter(|text| !text.is_empty());
    let entity = member("entity").ok_or("names no entity")?;
    let annotation = Annotation {
        text: String::new(),
        entity,
        role: member("role"),
        group: member("group"),
        value: member("value"),
        has_others,
    };
    Ok((annotation, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        match parse(text) {
            Err(reason) => format!("error: {reason}"),
            Ok(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    AnnotatedPiece::Text(text) => text.clone(),
                    AnnotatedPiece::Entity(one) => {
                        let parts = [&one.role, &one.group, &one.value].map(|part| part.clone().unwrap_or_default());
                        format!("<{}|{}|{}>", one.text, one.entity, parts.join("|"))
                    }
                })
                .collect(),
        }
    }

    #[test]
    fn every_way_to_annotate_is_read() {
        for (text, expected) in [
            ("to [Rome](city) now", "to <Rome|city|||> now"),
            ("[big](size:L)", "<big|size|||L>"),
            ("[NYC]{\"entity\": \"city\", \"role\": \"to\", \"value\": \"New York\"}!", "<NYC|city|to||New York>!"),
            ("[M]{\"entity\":\"size\",\"group\":1}", "<M|size||1|>"),
            ("[x][{\"entity\":\"a\"},{\"entity\":\"b\"}]", "<x|a|||>"),
            ("see [1] and [2][3]", "see [1] and [2][3]"),
            ("a [b", "a [b"),
            (
                "[x]{\"entity\": ",
                "error: the annotation of `x` is not JSON: EOF while parsing a value at line 1 column 11",
            ),
            ("[x](", "error: the annotation of `x` has no end"),
            ("[x]()", "error: the annotation of `x` names no entity"),
            ("[](city)", "error: the entity `city` is annotated around nothing"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_text_without_brackets_stays(text in "[\\[\\](){}\":a é,]{0,30}") {
            let read = parse(&text);
            if !text.contains('[') && !text.is_empty() {
                prop_assert_eq!(read, Ok(vec![AnnotatedPiece::Text(text)]));
            }
        }
    }
}
