//! Converts JSON pointers to lines and columns, only for the few places that have a finding.
//!
//! The pointers make a tree, and one walk over the text follows it; values without findings are skipped. A pointer to
//! something that isn't there (a missing `description`) gets the place of what should contain it.

use std::{borrow::Cow, collections::HashMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};

use crate::module::Diagnostic;

/// Line and column, both from 1; columns count characters.
pub(in crate::module) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.bytes().filter(|&byte| byte == b'\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Completes the findings about `file` that have no line yet.
pub(in crate::module) fn complete(findings: &mut [Diagnostic], file: &str, text: &str) {
    let mut wanted = PointerTree::default();
    let open: Vec<&mut Diagnostic> =
        findings.iter_mut().filter(|found| found.file == file && found.line.is_none()).collect();
    for found in &open {
        if !found.pointer.is_empty() {
            wanted.add(&found.pointer);
        }
    }
    if wanted.below.is_empty() {
        return;
    }
    if file.ends_with(".toml") {
        if let Ok(table) = toml::de::DeTable::parse(text) {
            toml_table(table.get_ref(), &mut wanted);
        }
    } else if file.ends_with(".yaml") || file.ends_with(".yml") {
        if let Ok(root) = super::read_yaml::<Node>(text) {
            yaml_node(&root, &mut wanted);
        }
    } else {
        let mut scanner = Scanner { text: text.as_bytes(), at: 0 };
        scanner.value(Some(&mut wanted), 0);
    }
    let mut lines = Lines { text, starts: None };
    for found in open {
        match wanted.place(&found.pointer) {
            Some(SourcePosition::Offset(offset)) => {
                let (line, column) = lines.at(offset);
                (found.line, found.column) = (Some(line), Some(column));
            }
            Some(SourcePosition::Line(line, column)) => (found.line, found.column) = (Some(line), Some(column)),
            None => {}
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum SourcePosition {
    Offset(usize),
    Line(usize, usize),
}

/// The tree of the pointers that are looked for.
#[derive(Debug, Default)]
struct PointerTree {
    below: HashMap<String, PointerTree>,
    found: Option<SourcePosition>,
}

fn steps(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(|step| {
        if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { Cow::Borrowed(step) }
    })
}

impl PointerTree {
    fn add(&mut self, pointer: &str) {
        let mut node = self;
        for step in steps(pointer) {
            node = node.below.entry(step.into_owned()).or_default();
        }
    }

    /// The place of the deepest step that exists.
    fn place(&self, pointer: &str) -> Option<SourcePosition> {
        let mut node = self;
        let mut deepest = None;
        for step in steps(pointer) {
            let Some(next) = node.below.get(step.as_ref()) else { break };
            if next.found.is_none() {
                break;
            }
            deepest = next.found;
            node = next;
        }
        deepest
    }
}

/// Offsets of line starts, computed when first needed.
struct Lines<'a> {
    text: &'a str,
    starts: Option<Vec<usize>>,
}

impl Lines<'_> {
    fn at(&mut self, offset: usize) -> (usize, usize) {
        let text = self.text;
        let starts = self.starts.get_or_insert_with(|| {
            std::iter::once(0)
                .chain(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1))
                .collect()
        });
        let line = starts.partition_point(|&start| start <= offset);
        let start = starts[line.saturating_sub(1)];
        (line, text.get(start..offset).map_or(0, |before| before.chars().count()) + 1)
    }
}

/// Walks JSON that a parser has already accepted; on anything else it stops early, and places stay unknown.
struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// The raw bytes between the quotes.
    fn string(&mut self) -> Option<&[u8]> {
        if !self.eat(b'"') {
            return None;
        }
        let start = self.at;
        loop {
            match self.text.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.text.get(start..self.at - 1)
    }

    fn value(&mut self, mut wanted: Option<&mut PointerTree>, depth: usize) -> Option<()> {
        // The parser accepted at most 128 levels.
        if depth > 200 {
            return None;
        }
        self.space();
        match self.text.get(self.at)? {
            b'{' => {
                self.at += 1;
                if self.eat(b'}') {
                    return Some(());
                }
                loop {
                    self.space();
                    let key_at = self.at;
                    let raw = self.string()?;
                    let mut next = wanted.as_deref_mut().and_then(|wanted| {
                        let key: Cow<'_, str> = if raw.contains(&b'\\') {
                            let quoted = [b"\"", raw, b"\""].concat();
                            serde_json::from_slice::<String>(&quoted).ok()?.into()
                        } else {
                            std::str::from_utf8(raw).ok()?.into()
                        };
                        wanted.below.get_mut(key.as_ref())
                    });
                    if let Some(next) = next.as_deref_mut() {
                        next.found = Some(SourcePosition::Offset(key_at));
                    }
                    if !self.eat(b':') {
                        return None;
                    }
                    self.value(next, depth + 1)?;
                    if !self.eat(b',') {
                        return self.eat(b'}').then_some(());
                    }
                }
            }
            b'[' => {
                self.at += 1;
                if self.eat(b']') {
                    return Some(());
                }
                let mut index = 0_usize;
                loop {
                    self.space();
                    let item_at = self.at;
                    let mut next =
                        wanted.as_deref_mut().and_then(|wanted| wanted.below.get_mut(index.to_string().as_str()));
                    if let Some(next) = next.as_deref_mut() {
                        next.found = Some(SourcePosition::Offset(item_at));
                    }
                    self.value(next, depth + 1)?;
                    index += 1;
                    if !self.eat(b',') {
                        return self.eat(b']').then_some(());
                    }
                }
            }
            b'"' => self.string().map(|_| ()),
            _ => {
                while self.text.get(self.at).is_some_and(|byte| !b",]}".contains(byte) && !byte.is_ascii_whitespace()) {
                    self.at += 1;
                }
                Some(())
            }
        }
    }
}

fn toml_table(table: &toml::de::DeTable<'_>, wanted: &mut PointerTree) {
    for (key, value) in table {
        if let Some(next) = wanted.below.get_mut(key.get_ref().as_ref()) {
            next.found = Some(SourcePosition::Offset(key.span().start));
            toml_value(value.get_ref(), next);
        }
    }
}

fn toml_value(value: &toml::de::DeValue<'_>, wanted: &mut PointerTree) {
    if let Some(table) = value.as_table() {
        toml_table(table, wanted);
    } else if let Some(items) = value.as_array() {
        for (index, item) in items.iter().enumerate() {
            if let Some(next) = wanted.below.get_mut(index.to_string().as_str()) {
                next.found = Some(SourcePosition::Offset(item.span().start));
                toml_value(item.get_ref(), next);
            }
        }
    }
}

/// YAML with the places of its values.
enum Node {
    Map(Vec<(String, serde_saphyr::Spanned<Node>)>),
    List(Vec<serde_saphyr::Spanned<Node>>),
    Leaf,
}

fn yaml_node(node: &Node, wanted: &mut PointerTree) {
    let mut enter = |key: &str, child: &serde_saphyr::Spanned<Node>| {
        if let Some(next) = wanted.below.get_mut(key) {
            let at = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
            let place = child.referenced;
            if place.line() > 0 {
                next.found = Some(SourcePosition::Line(at(place.line()), at(place.column())));
            }
            yaml_node(&child.value, next);
        }
    };
    match node {
        Node::Map(members) => members.iter().for_each(|(key, child)| enter(key, child)),
        Node::List(items) => items.iter().enumerate().for_each(|(index, child)| enter(&index.to_string(), child)),
        Node::Leaf => {}
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;

        impl<'de> Visitor<'de> for NodeVisitor {
            type Value = Node;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value")
            }

            fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
                Ok(Node::Leaf)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
                Ok(Node::Leaf)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
                Ok(Node::Leaf)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
                Ok(Node::Leaf)
            }

            fn visit_str<E>(self, _: &str) -> Result<Node, E> {
                Ok(Node::Leaf)
            }

            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Leaf)
            }

            fn visit_none<E>(self) -> Result<Node, E> {
                Ok(Node::Leaf)
            }

            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
                Node::deserialize(deserializer)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(Node::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Node, A::Error> {
                let mut map = Vec::new();
                while let Some(member) = members.next_entry()? {
                    map.push(member);
                }
                Ok(Node::Map(map))
            }
        }

        deserializer.deserialize_any(NodeVisitor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(file: &str, text: &str, pointer: &str) -> Option<(usize, usize)> {
        let mut findings = [Diagnostic::error("e", file, pointer, "e")];
        complete(&mut findings, file, text);
        findings[0].line.zip(findings[0].column)
    }

    #[test]
    fn json_places() {
        let text = "[\n  {\"näme\": \"a\", \"b/c\": [1,\n   22]},\n  {\"x\": {}}\n]";
        assert_eq!(place("a.json", text, "/0"), Some((2, 3)));
        assert_eq!(place("a.json", text, "/0/b~1c"), Some((2, 17)));
        assert_eq!(place("a.json", text, "/0/b~1c/1"), Some((3, 4)));
        assert_eq!(place("a.json", text, "/1/x/missing/deeper"), Some((4, 4)));
        assert_eq!(place("a.json", text, "/7"), None);
    }

    #[test]
    fn toml_places() {
        let text = "language = 'en'\n[functions.book.slots]\ncity = { question = 'Where?' }\n";
        assert_eq!(place("module.toml", text, "/functions/book/slots/city"), Some((3, 1)));
    }

    #[test]
    fn yaml_places() {
        let text =
            "openapi: 3.1.0\npaths:\n  /pets:\n    get:\n      parameters:\n        - name: x\n          in: query\n";
        assert_eq!(place("a.yaml", text, "/paths/~1pets/get/parameters/0").map(|(line, _)| line), Some(6));
    }

    proptest! {
        #[test]
        fn scanning_anything_never_panics(text in "[\\[\\]{}\",:a0\\\\ ]{0,40}") {
            place("a.json", &text, "/a/0");
        }
    }
}
