//! Prepares other programs' texts (from clients and called services) for people and logs.

use std::{borrow::Cow, collections::HashSet, fmt};

/// Most characters that are shown of another program's error, and that are examined for that.
const LONGEST: usize = 300;
const LOOKED_AT: usize = 16 * LONGEST;
/// This many consecutive characters of a secret reveal it. Shorter secrets would match any text.
const GIVES_AWAY: usize = 6;
/// Shorter words of letters only would match any text, and so would shorter numbers.
const SHORTEST: usize = 3;
const SHORTEST_NUMBER: usize = 4;
const HIDDEN: &str = "***";

/// Another program's error message in a form fit for a log or a reply: on one line, short, without terminal escapes,
/// and without apparent credentials. An error that contains one can be logged as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Foreign(Cow<'static, str>);

impl Foreign {
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut discreet = without_credentials(&shown(text, LOOKED_AT));
        if let Some((cut, _)) = discreet.char_indices().nth(LONGEST) {
            // Only whole words are shown: a cut word might be the beginning of a secret that is no longer recognisable.
            let whole = discreet[..cut].rfind(' ').unwrap_or(cut);
            discreet.truncate(whole);
        }
        Self(discreet.into())
    }

    /// The same text without each word that contains a part of one of these secrets, in any case.
    #[must_use]
    pub fn without<'s>(&self, secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let pieces: HashSet<Vec<u8>> = secrets
            .into_iter()
            .flat_map(|secret| {
                secret.to_ascii_lowercase().as_bytes().windows(GIVES_AWAY).map(<[u8]>::to_vec).collect::<Vec<_>>()
            })
            .collect();
        let gives_away =
            |word: &str| word.to_ascii_lowercase().as_bytes().windows(GIVES_AWAY).any(|part| pieces.contains(part));
        let ends = |c: char| {
            c.is_whitespace()
                || matches!(c, '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '<' | '>' | '[' | ']' | '{' | '}')
        };
        Self(replaced(&self.0, |c| !ends(c), gives_away).into())
    }

    /// The same text, or an empty one if a word of it may come from one of these texts.
    #[must_use]
    pub fn unless_said<'s>(self, said: impl IntoIterator<Item = &'s str>) -> Self {
        let told: HashSet<String> = parts(&self.0).collect();
        // Digits are grouped in many ways.
        let numbers: Vec<&String> = told
            .iter()
            .filter(|word| word.len() >= SHORTEST_NUMBER && word.bytes().any(|byte| byte.is_ascii_digit()))
            .collect();
        let joined =
            |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
        let has_number = |text: String| numbers.iter().any(|number| text.contains(number.as_str()));
        let repeats = |text: &str| parts(text).any(|part| told.contains(&part)) || has_number(joined(text));
        if said.into_iter().any(repeats) { Self::from("what it says may repeat what was said") } else { self }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Our own words.
impl From<&'static str> for Foreign {
    fn from(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The text without credentials: user names and passwords in addresses, text after the name of an authentication
/// scheme, and random strings.
fn without_credentials(text: &str) -> String {
    let mut words = Vec::new();
    let mut is_announced = false;
    for word in text.split_whitespace() {
        let name = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_word = word.chars().all(|c| c.is_lowercase() || c.is_ascii_punctuation());
        words.push(match word.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split_once('@')?))) {
            _ if is_announced && !is_word => HIDDEN.to_owned(),
            Some((scheme, (_, host))) => format!("{scheme}://{HIDDEN}@{host}"),
            None => {
                replaced(word, is_of_token, |token| token.split(|c: char| !c.is_ascii_alphanumeric()).any(is_random))
            }
        });
        is_announced = name.eq_ignore_ascii_case("bearer");
    }
    words.join(" ")
}

const fn is_of_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '=')
}

/// Whether a run of letters and digits is longer than words, numbers and version names are.
fn is_random(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let most = match run.len() - digits {
        0 => 11,
        _ if digits > 0 => 15,
        _ => 31,
    };
    run.len() > most
}

/// The text with every run of such characters replaced that `is_hidden` selects.
fn replaced(text: &str, is_of_run: impl Fn(char) -> bool, is_hidden: impl Fn(&str) -> bool) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(&is_of_run) {
        let (before, from) = rest.split_at(start);
        let (run, after) = from.split_at(from.find(|c: char| !is_of_run(c)).unwrap_or(from.len()));
        made.push_str(before);
        made.push_str(if is_hidden(run) { HIDDEN } else { run });
        rest = after;
    }
    made.push_str(rest);
    made
}

/// Words in lower case; for scripts that may lack spaces, pairs of characters.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|character: char| !character.is_alphanumeric()).map(str::to_lowercase);
    words.flat_map(|word| {
        if word.is_ascii() {
            let counts = word.len() >= SHORTEST || word.bytes().any(|byte| byte.is_ascii_digit());
            return if counts { vec![word] } else { Vec::new() };
        }
        let characters: Vec<char> = word.chars().collect();
        characters.windows(2.min(characters.len())).map(|pair| pair.iter().collect()).collect()
    })
}

/// At most `most` characters of the text, without anything that a terminal or a page would act on: control characters
/// and those that change the writing direction are removed; line breaks and tabs become spaces.
#[must_use]
pub fn shown(text: &str, most: usize) -> String {
    let plain = harmless(text).map(|c| if c.is_whitespace() { ' ' } else { c });
    plain.take(most).collect()
}

/// The same for a multi-line text, without a limit.
#[must_use]
pub fn lines(text: &str) -> String {
    harmless(text).collect()
}

fn harmless(text: &str) -> impl Iterator<Item = char> {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let turns = |c: char| matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(move |c| !acts(*c) && !turns(*c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_is_shown() {
        let text = "a\u{1b}[31m\u{202e}b\u{7}\nc\r\td\u{9b}é日本";
        assert_eq!(shown(text, 99), "a[31mb c dé日本");
        assert_eq!(shown(text, 3), "a[3");
        assert_eq!(lines(text), "a[31mb\nc\tdé日本");
        assert_eq!(Foreign::new(text).as_str(), "a[31mb c dé日本");
    }

    #[test]
    fn what_looks_like_a_credential_is_hidden() {
        for (text, expected) in [
            ("Incorrect API key provided: sk-SECRETKEY1234567890.", "Incorrect API key provided: ***."),
            ("bad key sk-proj-ab12_Cd34-secretkey1234567890", "bad key ***"),
            ("{\"key\":\"c2stU0VDUkVUS0VZMTIzNDU2Nzg5MA==\"}", "{\"key\":\"***\"}"),
            ("Authorization: Bearer abC rejected", "Authorization: Bearer *** rejected"),
            ("the bearer token is missing", "the bearer token is missing"),
            ("no route to http://me:pass@host:1/x", "no route to http://***@host:1/x"),
            ("token 4929123456789012 not allowed", "token *** not allowed"),
            ("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "***"),
        ] {
            assert_eq!(Foreign::new(text).as_str(), expected);
        }
        for told in [
            "model `gpt-4o-mini-2024-07-18` not found",
            "context length 131072 exceeded at 1732732800",
            "request 550e8400-e29b-41d4-a716-44665544abcd failed",
            "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf: no such file",
            "HTTPConnectionPoolTimeoutError in max_completion_tokens",
        ] {
            assert_eq!(Foreign::new(told).as_str(), told);
        }
    }

    #[test]
    fn what_is_long_is_cut_between_words() {
        let text = format!("{}sk-secret", "and ".repeat(LONGEST / 4 - 1));
        let told = Foreign::new(&text);
        assert!(told.as_str().ends_with("and"), "{told}");
        assert!(Foreign::new(&"and ".repeat(9_000)).as_str().chars().count() <= LONGEST);
    }

    #[test]
    fn a_part_of_a_secret_gives_it_away() {
        for (text, expected) in [
            ("bad key sk-secretly", "bad key ***"),
            ("bad key \"sk-SECRETLY\"", "bad key \"***\""),
            ("bad key SECRET***", "bad key ***"),
            ("bad key sk%2Dsecretly, sorry", "bad key ***, sorry"),
            ("bad key se", "bad key se"),
        ] {
            assert_eq!(Foreign::new(text).without(["sk-secretly", "ab"]).as_str(), expected);
        }
    }

    #[test]
    fn words_that_were_said_are_hidden_and_others_are_told() {
        let said = ["Zürich, 5 pm: 電気", "my number is 0171 23 45 67"];
        for message in ["model `x` not found", "context length 4096 exceeded", "invalid api key"] {
            assert_eq!(Foreign::new(message).unless_said(said).as_str(), message);
        }
        for message in
            ["bad prompt: ... zürich ...", "at 5", "電気をつけて", "[\"Zürich, 5 pm\"]", "near 0171234567", "near 2345"]
        {
            let told = Foreign::new(message).unless_said(said);
            assert!(!told.as_str().contains(message), "{told}");
        }
    }
}
