//! Texts that a regular expression matches.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::recognize::pattern::value_group;

/// Greatest number of repetitions beyond the lower bound of something without an upper bound.
const MORE: u32 = 3;

/// Greatest length; no value that a person says is longer.
const MOST_BYTES: usize = 200;

/// A text that the pattern's `value` group matches, or the whole pattern if it has no such group. The context that the
/// pattern requires is ignored. `None` if the pattern is invalid, or its texts are very long.
#[must_use]
pub fn matching(pattern: &str, random: &mut fastrand::Rng) -> Option<String> {
    let parsed = regex_syntax::parse(pattern).ok()?;
    let mut text = String::new();
    write(value_group(&parsed).unwrap_or(&parsed), random, &mut text)?;
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}

fn write(hir: &Hir, random: &mut fastrand::Rng, text: &mut String) -> Option<()> {
    if text.len() > MOST_BYTES {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(member(class, random)?),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX).min(repetition.min.saturating_add(MORE));
            for _ in 0..random.u32(repetition.min..=most) {
                write(&repetition.sub, random, text)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, random, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write(part, random, text))?,
        HirKind::Alternation(parts) => write(&parts[random.usize(..parts.len())], random, text)?,
    }
    Some(())
}

/// A digit or a capital letter if the class has one, as in codes; else its first character.
fn member(class: &Class, random: &mut fastrand::Rng) -> Option<char> {
    let has = |wanted: char| match class {
        Class::Unicode(class) => class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&wanted)),
        Class::Bytes(class) => u8::try_from(wanted)
            .is_ok_and(|wanted| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&wanted))),
    };
    let usual: Vec<char> = ('0'..='9').chain('A'..='Z').filter(|wanted| has(*wanted)).collect();
    if !usual.is_empty() {
        return Some(usual[random.usize(..usual.len())]);
    }
    (' '..='~').find(|wanted| has(*wanted)).or_else(|| match class {
        Class::Unicode(class) => class.ranges().first().map(regex_syntax::hir::ClassUnicodeRange::start),
        Class::Bytes(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_matches() {
        let mut random = fastrand::Rng::with_seed(7);
        for pattern in [
            r"(?i)\b(?P<value>[a-z]{2}[- ]?\d{6})\b",
            r"#(?P<value>\d{4,8})\b",
            r"(?P<value>[0-9]{3}[-‐−ー]?[0-9]{4})",
            r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b",
            r"(?:red|green)+\w*",
        ] {
            let whole = regex::Regex::new(pattern).unwrap();
            for _ in 0..50 {
                let text = matching(pattern, &mut random).expect(pattern);
                let found =
                    whole.captures(&text).or_else(|| whole.captures(Box::leak(format!("#{text}").into_boxed_str())));
                let found = found.unwrap_or_else(|| panic!("{pattern}: {text}"));
                let value = found.name("value").unwrap_or_else(|| found.get(0).unwrap());
                assert_eq!(value.as_str(), text, "{pattern}");
            }
        }
        assert_eq!(matching("(", &mut random), None);
        assert_eq!(matching(r"\bx{5000}\b", &mut random), None);
    }
}
