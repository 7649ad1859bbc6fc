//! What is said where nothing is asked: to a greeting, after a call, of what is out of scope.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    call::Call,
    dialogue::{
        question::{
            LISTED, Voice,
            shown::{cut, one_line, plain, spoken, upper_first},
        },
        result::{CallResult, bare},
    },
    module::{Function, FunctionId, Wording, template},
    recognize::acts::{Courtesy, Kind, Moves},
    text::plain::first_sentence,
};

/// Characters of a text that came back, of a line made of anything else, and of a reason.
const LONGEST_TEXT: usize = 4_000;
const LONGEST_LINE: usize = 600;
const LONGEST_REASON: usize = 300;
/// Characters of a description that stands for a function.
const LONGEST_PURPOSE: usize = 80;
/// Functions that are told of at most.
const MOST_TITLES: usize = 40;
/// Functions that a list of what can be asked for has.
const ABILITIES: usize = 5;
/// Items of a list that came back.
const ITEMS: usize = 5;

/// What a template knows.
#[derive(Serialize, Default)]
struct Known<'a> {
    /// The function's name as words.
    function: &'a str,
    /// What it was, or would have been, called with.
    slots: Map<String, Value>,
    /// What came back.
    result: Value,
    /// The same in one line; of a failure, why.
    told: &'a str,
    /// What is known of the conversation.
    summary: &'a str,
}

impl Voice<'_> {
    /// Of an utterance that no function is meant by. `summary` is that of what is open all the same, and `times` says how
    /// often in a row nothing was understood, from 1.
    pub(crate) fn remark(&self, acts: &Moves, summary: &str, times: u32) -> String {
        let (own, remark) = (&self.module.settings.replies, self.words.remarks());
        let is_cancelled = acts.rest.is_none() && acts.moves.iter().any(|one| one.kind == Kind::Cancel);
        let (author, plain) = match acts.courtesy {
            Some(Courtesy::Greeting | Courtesy::Introduction) => (&own.greeting, remark.greeting.clone()),
            Some(Courtesy::Thanks) => (&own.thanks, remark.thanks.clone()),
            Some(Courtesy::Farewell) => (&own.farewell, remark.farewell.clone()),
            Some(Courtesy::Acknowledgement | Courtesy::Praise) => (&own.acknowledged, remark.acknowledged.clone()),
            Some(Courtesy::Waiting | Courtesy::Thinking | Courtesy::Interjection) => return remark.waiting.clone(),
            Some(Courtesy::Apology) => return remark.apology.clone(),
            Some(Courtesy::Complaint) => return remark.complaint.clone(),
            Some(Courtesy::Help | Courtesy::Puzzled | Courtesy::Purpose) => return self.abilities(),
            Some(Courtesy::Person) => return self.hand_over(None, Map::new()),
            None if is_cancelled => return remark.nothing_open.clone(),
            None => (&own.out_of_scope, self.out_of_scope(times)),
        };
        let known = Known { summary, ..Known::default() };
        self.written(author.as_ref(), &known).unwrap_or(plain)
    }

    /// The word to a courtesy beside a question, which is asked again behind it; empty where nothing is to be said.
    pub(crate) fn beside_question(&self, acts: &Moves) -> String {
        match acts.courtesy {
            Some(Courtesy::Praise | Courtesy::Acknowledgement) | None => String::new(),
            Some(_) => self.remark(acts, "", 1),
        }
    }

    /// What can be asked for, the first few of it, each in a line.
    fn abilities(&self) -> String {
        let functions = &self.module.functions;
        let mut lines = vec![self.words.remarks().abilities.clone()];
        lines.extend(functions.iter().take(ABILITIES).map(|function| format!("- {}", self.purpose(function))));
        if functions.len() > ABILITIES {
            lines.push("- …".to_owned());
        }
        lines.join("\n")
    }

    /// Where there is nothing to answer.
    pub(crate) fn heard(&self) -> String {
        let author = self.module.settings.replies.acknowledged.as_ref();
        self.written(author, &Known::default()).unwrap_or_else(|| self.words.remarks().acknowledged.clone())
    }

    /// With what can be asked for, if that is little.
    fn out_of_scope(&self, times: u32) -> String {
        let (remark, plain) = (self.words.remarks(), self.words.out_of_scope(times));
        let functions = &self.module.functions;
        if functions.is_empty() || functions.len() > LISTED {
            return plain.to_owned();
        }
        let listed: Vec<String> = functions.iter().map(|function| self.purpose(function)).collect();
        let able = remark.able.fill(&[("functions", &listed.join(self.words.apart()))]);
        self.words.then(plain, &able)
    }

    /// What a function is for: its description says more than its name, where it is short.
    pub(crate) fn purpose(&self, function: &Function) -> String {
        let summary = first_sentence(&function.description);
        let is_short = (1..=LONGEST_PURPOSE).contains(&summary.chars().count());
        self.words.within(&if is_short { summary } else { self.title(function) })
    }

    /// What the functions are called within a sentence, if there are few.
    pub(crate) fn titles(&self) -> Vec<String> {
        let functions = &self.module.functions;
        let few = if functions.len() > MOST_TITLES { &[] } else { functions.as_slice() };
        few.iter().map(|function| self.words.within(&self.title(function))).collect()
    }

    /// Of what was understood and is not called.
    pub(crate) fn understood(&self, calls: &[Call]) -> String {
        let what: Vec<String> = calls.iter().map(|call| self.named(call.function(), call.arguments())).collect();
        self.words.remarks().understood.fill(&[("what", &self.words.and(&what))])
    }

    /// Of what was given up, with what was known of it.
    pub(crate) fn cancelled(&self, given_up: &[(FunctionId, Map<String, Value>)]) -> String {
        let titles: Vec<String> = given_up.iter().map(|(id, _)| self.title(self.module.function(*id))).collect();
        let within: Vec<String> = titles.iter().map(|title| self.words.within(title)).collect();
        let (all, general) = (self.words.and(&titles), self.module.settings.replies.cancelled.as_ref());
        let (author, slots) = match given_up {
            [(id, slots)] => {
                let own = self.settings(self.module.function(*id)).and_then(|own| own.replies.cancelled.as_ref());
                (own.or(general), slots.clone())
            }
            _ => (general, Map::new()),
        };
        let known = Known { function: &all, slots, ..Known::default() };
        self.written(author, &known).unwrap_or_else(|| self.words.cancelled(&self.words.and(&within)))
    }

    /// Says that a person takes over, since the same was asked too often.
    pub(crate) fn hand_off(&self, id: FunctionId, slots: Map<String, Value>) -> String {
        self.handed_off(Some(id), slots).unwrap_or_else(|| self.words.hand_off().to_owned())
    }

    /// The same, since the person asked for one; of what is open, if anything is.
    pub(crate) fn hand_over(&self, open: Option<FunctionId>, slots: Map<String, Value>) -> String {
        self.handed_off(open, slots).unwrap_or_else(|| self.words.hand_over().to_owned())
    }

    /// In the author's words.
    fn handed_off(&self, of: Option<FunctionId>, slots: Map<String, Value>) -> Option<String> {
        let function = of.map(|id| self.module.function(id));
        let own = function.and_then(|function| self.settings(function)?.replies.handed_off.as_ref());
        let title = function.map(|function| self.title(function)).unwrap_or_default();
        let known = Known { function: &title, slots, ..Known::default() };
        self.written(own.or(self.module.settings.replies.handed_off.as_ref()), &known)
    }

    /// What calls came to, one line or text for each.
    pub(crate) fn results(&self, results: &[CallResult]) -> String {
        let told: Vec<String> = results.iter().map(|result| self.result(result)).collect();
        told.join("\n")
    }

    /// Of a call that came to nothing, in the words of whoever refused it, if they have any.
    pub(crate) fn failed(&self, result: &CallResult) -> String {
        let reason = match result.failure() {
            Some(reason) => reason,
            None => self.told_result(&result.value()),
        };
        let reason = if reason.trim().is_empty() { self.words.remarks().unavailable.clone() } else { reason };
        let text = serde_json::json!({ "error": reason }).to_string();
        self.result(&CallResult { text, ..result.clone() })
    }

    /// Of a call of which nobody knows what it came to.
    pub(crate) fn uncertain(&self, function: &Function) -> String {
        self.words.remarks().uncertain.fill(&[("what", &self.words.within(&self.title(function)))])
    }

    pub(crate) fn result(&self, result: &CallResult) -> String {
        let name = result.function.as_deref().unwrap_or_default();
        let function = self.module.function_named(name).map(|id| self.module.function(id));
        let title = function.map_or_else(|| upper_first(&spoken(name)), |function| self.title(function));
        let own = function.and_then(|function| self.settings(function));
        let (general, remark) = (&self.module.settings.replies, self.words.remarks());
        let value = result.value();
        let known = |told| Known {
            function: &title,
            slots: result.arguments.clone(),
            result: value.clone(),
            told,
            summary: "",
        };
        if let Some(reason) = result.failure() {
            let reason = cut(one_line(if reason.is_empty() { &title } else { &reason }), LONGEST_REASON);
            let author = own.and_then(|own| own.replies.failed.as_ref()).or(general.failed.as_ref());
            let plain = || remark.failed.fill(&[("reason", &self.ended(&reason))]);
            return self.written(author, &known(&reason)).unwrap_or_else(plain);
        }
        let fields = own.map_or(&[][..], |own| own.result.as_slice());
        let told = if fields.is_empty() { self.told_result(&value) } else { self.fields(&value, fields) };
        let author = own.and_then(|own| own.replies.done.as_ref()).or(general.done.as_ref());
        let plain = || {
            if told.is_empty() { remark.done.fill(&[("what", &self.words.within(&title))]) } else { told.clone() }
        };
        self.written(author, &known(&told)).unwrap_or_else(plain)
    }

    /// A result as it is if it is a text; anything else in one line. Empty if it says nothing.
    fn told_result(&self, value: &Value) -> String {
        match &bare(value.clone()) {
            Value::String(text) => cut(text.trim().to_owned(), LONGEST_TEXT),
            Value::Bool(true) => String::new(),
            other => upper_first(&cut(self.line(other, 0), LONGEST_LINE)),
        }
    }

    /// The members of a result that its author wants told.
    fn fields(&self, value: &Value, fields: &[String]) -> String {
        let facts = fields.iter().filter_map(|field| {
            let found = field.split('.').try_fold(value, |value, key| match value {
                Value::Array(items) => items.get(key.parse::<usize>().ok()?),
                other => other.get(key),
            });
            let name = field.rsplit('.').next().unwrap_or(field);
            let shown = self.line(found?, 1);
            (!shown.is_empty()).then(|| self.words.fact(&spoken(name), &shown))
        });
        upper_first(&cut(self.words.facts(&facts.collect::<Vec<_>>()), LONGEST_LINE))
    }

    /// A value in a line; `depth` is how deep in the result it lies, and nothing is told of what is deeper than an item
    /// of a list in a member.
    fn line(&self, value: &Value, depth: usize) -> String {
        match value {
            Value::Array(items) => {
                let mut told: Vec<String> = items.iter().take(ITEMS).map(|item| self.line(item, depth + 1)).collect();
                told.retain(|item| !item.is_empty());
                if items.len() > ITEMS {
                    told.push("…".to_owned());
                }
                self.words.and(&told)
            }
            Value::Object(_) if depth > 2 => String::new(),
            // Of an item, its name alone.
            Value::Object(members) if depth == 2 => members
                .values()
                .find(|member| member.is_string())
                .map(|name| one_line(&plain(name)))
                .unwrap_or_default(),
            Value::Object(members) => {
                let facts = members.iter().filter_map(|(key, member)| {
                    let shown = self.line(member, depth + 1);
                    (!shown.is_empty()).then(|| self.words.fact(&spoken(key), &shown))
                });
                self.words.facts(&facts.collect::<Vec<_>>())
            }
            scalar => self.shown(scalar),
        }
    }

    /// The text as the end of a sentence.
    fn ended(&self, text: &str) -> String {
        match text.ends_with(['.', '!', '?', '。', '！', '？', '…']) {
            true => text.to_owned(),
            false => format!("{text}{}", self.words.stop()),
        }
    }

    /// What the author's template says; `None` without one, and where it fails.
    fn written(&self, author: Option<&Wording>, known: &Known<'_>) -> Option<String> {
        match template::rendered(self.author(author)?, known) {
            Ok(text) => Some(text).filter(|text| !text.is_empty()),
            Err(error) => {
                tracing::warn!(module = %self.module.name, %error, "a reply of the module is left out");
                None
            }
        }
    }
}
