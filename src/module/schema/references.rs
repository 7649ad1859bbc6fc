//! References within a file: each is replaced by its target, unless the target would then contain itself.

use serde_json::{Value, json};

use super::{
    super::{
        Diagnostic,
        findings::{Findings, PointerChain, kind_of},
    },
    Normaliser, Spot,
};

impl Normaliser<'_> {
    /// The target inlined, or `{"$ref": "#/$defs/..."}` if it is already being inlined.
    pub(super) fn reference(&mut self, reference: &Value, spot: Spot<'_>, findings: &mut Findings) -> Option<Value> {
        let Value::String(reference) = reference else {
            let message = format!("`$ref` is a string, found {}", kind_of(reference));
            findings.push(Diagnostic::error("bad-reference", self.file, spot.place, message));
            return None;
        };
        let pointer = self.resolve(reference, spot.place, findings)?;
        if self.stack.contains(&pointer) {
            let name = self.definition_name(pointer);
            return Some(json!({"$ref": format!("#/$defs/{name}")}));
        }
        let document = self.document;
        let target = document.pointer(&pointer)?;
        self.stack.push(pointer);
        let at = self.stack.last().cloned().unwrap_or_default();
        let normalised = self.schema(target, spot.branch(&PointerChain::Start(&at)), findings);
        self.stack.pop();
        Some(normalised)
    }

    /// The absolute pointer of a reference's target, within the function's own schema or else within the document.
    pub(in crate::module) fn resolve(
        &self,
        reference: &str,
        place: &PointerChain<'_>,
        findings: &mut Findings,
    ) -> Option<String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            findings.push(
                Diagnostic::error(
                    "external-reference",
                    self.file,
                    place,
                    format!("`{reference}` lies outside of this file; nothing is fetched"),
                )
                .hint("copy what it names into this file and refer to it as `#/...`"),
            );
            return None;
        };
        let fragment = percent_decode(fragment);
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let found = Diagnostic::error("unsupported-reference", self.file, place, "anchors are not supported");
            findings.push(found.hint("use a JSON pointer: `#/...`"));
            return None;
        }
        let own = format!("{}{fragment}", self.base);
        if self.document.pointer(&own).is_some() {
            return Some(own);
        }
        if self.document.pointer(&fragment).is_some() {
            return Some(fragment);
        }
        let hint = fragment.rsplit_once('/').and_then(|(parent, name)| {
            let siblings = [format!("{}{parent}", self.base), parent.to_owned()]
                .iter()
                .find_map(|parent| self.document.pointer(parent).and_then(Value::as_object))?;
            findings.near(name, siblings.keys().map(String::as_str))
        });
        let message = format!("`{reference}` names nothing in this file");
        findings.push(Diagnostic::error("bad-reference", self.file, place, message).hint_if(hint));
        None
    }

    fn definition_name(&mut self, pointer: String) -> String {
        if let Some((_, name)) = self.recursive.iter().find(|(known, _)| *known == pointer) {
            return name.clone();
        }
        let last = pointer.strip_prefix(self.base.as_str()).unwrap_or(&pointer).rsplit('/').next().unwrap_or_default();
        let mut name: String =
            last.chars().map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' }).collect();
        if name.is_empty() {
            name = "root".to_owned();
        }
        let taken = |name: &str| self.recursive.iter().any(|(_, known)| known == name);
        if taken(&name) {
            let free = (2..).map(|count| format!("{name}_{count}")).find(|name| !taken(name));
            name = free.unwrap_or(name);
        }
        self.recursive.push((pointer, name.clone()));
        name
    }
}

fn percent_decode(fragment: &str) -> String {
    if !fragment.contains('%') {
        return fragment.to_owned();
    }
    let hex = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let (bytes, mut decoded, mut at) = (fragment.as_bytes(), Vec::with_capacity(fragment.len()), 0);
    while at < bytes.len() {
        let pair = if bytes[at] == b'%' { hex(bytes.get(at + 1)).zip(hex(bytes.get(at + 2))) } else { None };
        if let Some((high, low)) = pair {
            decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
            at += 3;
        } else {
            decoded.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
