//! What is said when nothing is asked: in reply to a greeting, after a call, or if something is out of scope.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    call::{Call, member},
    dialogue::{
        question::{
            LISTED, Voice,
            shown::{cut, one_line, plain, spoken},
            voice::LONG,
        },
        result::{CallResult, ResultKind, bare},
    },
    language::grammar::upper_first,
    module::{Function, FunctionId, SlotPath, Wording, template},
    recognize::acts::{Courtesy, MoveKind, Moves},
};

/// The most characters of a text that came back; and of a line that is made of another value, or of a reason.
const LONGEST_TEXT: usize = 4_000;
const LONGEST_LINE: usize = 600;
const LONGEST_REASON: usize = 300;
/// The most functions whose titles are listed.
const MOST_TITLES: usize = 40;
/// How many functions a list of what can be asked for has.
const ABILITIES: usize = 5;
/// The most results that are told apart: each is compared with all others.
const MOST_APART: usize = 20;
/// The most items of a list that came back, and the most members of an item.
const ITEMS: usize = 5;
const MEMBERS: usize = 6;
/// The deepest level of a result that is reported.
const DEEPEST: usize = 4;

/// The data of a template.
#[derive(Serialize, Default)]
struct RemarkData<'a> {
    /// The function's name as words.
    function: &'a str,
    /// What it was called with, or would have been.
    slots: Map<String, Value>,
    /// What came back.
    result: Value,
    /// The result in one line; for a failure, the reason.
    told: &'a str,
    /// What is known of the conversation.
    summary: &'a str,
}

impl Voice<'_> {
    /// The remark on an utterance that means no function. `summary` describes what is open all the same, and `times`
    /// says how often in a row nothing was understood, from 1.
    pub(crate) fn remark(&self, acts: &Moves, summary: &str, times: u32) -> String {
        let (own, remark) = (&self.module.settings.replies, self.words.remarks());
        let is_cancelled = acts.rest.is_none() && acts.moves.iter().any(|one| one.kind == MoveKind::Cancel);
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
        let known = RemarkData { summary, ..RemarkData::default() };
        self.written(author.as_ref(), &known).unwrap_or(plain)
    }

    /// The reply to a courtesy while a question is open; the question is asked again behind it. Empty if nothing is to
    /// be said.
    pub(crate) fn beside_question(&self, acts: &Moves) -> String {
        match acts.courtesy {
            Some(Courtesy::Praise | Courtesy::Acknowledgement) | None => String::new(),
            Some(_) => self.remark(acts, "", 1),
        }
    }

    /// The first few things that can be asked for, each on a line.
    fn abilities(&self) -> String {
        let functions = &self.module.functions;
        let mut lines = vec![self.words.remarks().abilities.clone()];
        lines.extend(functions.iter().take(ABILITIES).map(|function| format!("- {}", self.purpose(function))));
        if functions.len() > ABILITIES {
            lines.push("- …".to_owned());
        }
        lines.join("\n")
    }

    /// The reply to something that needs no answer.
    pub(crate) fn heard(&self) -> String {
        let author = self.module.settings.replies.acknowledged.as_ref();
        self.written(author, &RemarkData::default()).unwrap_or_else(|| self.words.remarks().acknowledged.clone())
    }

    /// Says that no function does this, with the list of what can be asked for if it is short.
    fn out_of_scope(&self, times: u32) -> String {
        let (remark, plain) = (self.words.remarks(), self.words.out_of_scope(times));
        let functions = &self.module.functions;
        if functions.is_empty() || functions.len() > LISTED {
            return plain.to_owned();
        }
        let listed: Vec<String> = functions.iter().map(|function| self.purpose(function)).collect();
        let able = remark.able.fill(&[("functions", &listed.join(self.words.apart()))]);
        let told = self.words.then(plain, &able);
        // A long list was already read out the first time.
        if times > 1 && told.chars().count() > LONG { plain.to_owned() } else { told }
    }

    /// What a function is for, within a sentence.
    pub(crate) fn purpose(&self, function: &Function) -> String {
        self.deed(function).text
    }

    /// The names of the functions within a sentence, if there are few.
    pub(crate) fn titles(&self) -> Vec<String> {
        let functions = &self.module.functions;
        let few = if functions.len() > MOST_TITLES { &[] } else { functions.as_slice() };
        few.iter().map(|function| self.words.within(&self.title(function))).collect()
    }

    /// Says what was understood but is not called.
    pub(crate) fn understood(&self, calls: &[Call]) -> String {
        let what: Vec<String> = calls.iter().map(|call| self.named(call.function(), call.arguments())).collect();
        self.words.remarks().understood.fill(&[("what", &self.words.and(&what))])
    }

    /// Says what was given up, with the values that were known.
    pub(crate) fn cancelled(&self, given_up: &[(FunctionId, Map<String, Value>)]) -> String {
        let titles: Vec<String> = given_up.iter().map(|(id, _)| self.title(self.module.function(*id))).collect();
        let deeds: Vec<String> = given_up.iter().map(|(id, _)| self.purpose(self.module.function(*id))).collect();
        let (all, general) = (self.words.and(&titles), self.module.settings.replies.cancelled.as_ref());
        let (author, slots) = match given_up {
            [(id, slots)] => {
                let own = self.settings(self.module.function(*id)).and_then(|own| own.replies.cancelled.as_ref());
                (own.or(general), slots.clone())
            }
            _ => (general, Map::new()),
        };
        let known = RemarkData { function: &all, slots, ..RemarkData::default() };
        self.written(author, &known).unwrap_or_else(|| self.words.cancelled(&self.words.and(&deeds)))
    }

    /// Says that a human takes over, since the same question was asked too often.
    pub(crate) fn hand_off(&self, id: FunctionId, slots: Map<String, Value>) -> String {
        self.handed_off(Some(id), slots).unwrap_or_else(|| self.words.hand_off().to_owned())
    }

    /// Says that a human takes over, since the person asked for one; with the open function, if there is one.
    pub(crate) fn hand_over(&self, open: Option<FunctionId>, slots: Map<String, Value>) -> String {
        self.handed_off(open, slots).unwrap_or_else(|| self.words.hand_over().to_owned())
    }

    /// The same in the author's words.
    fn handed_off(&self, of: Option<FunctionId>, slots: Map<String, Value>) -> Option<String> {
        let function = of.map(|id| self.module.function(id));
        let own = function.and_then(|function| self.settings(function)?.replies.handed_off.as_ref());
        let title = function.map(|function| self.title(function)).unwrap_or_default();
        let known = RemarkData { function: &title, slots, ..RemarkData::default() };
        self.written(own.or(self.module.settings.replies.handed_off.as_ref()), &known)
    }

    /// The results of calls, one line or text for each. Several results of one function are distinguished by the
    /// arguments that differ.
    pub(crate) fn results(&self, results: &[CallResult]) -> String {
        let told = results.iter().map(|result| {
            let text = self.result(result);
            if results.len() > MOST_APART {
                return text;
            }
            match self.difference(result, results) {
                Some(what) if !text.contains(&what) => self.words.about(&what, &text),
                _ => text,
            }
        });
        told.collect::<Vec<_>>().join("\n")
    }

    /// The arguments of a call that differ from those of the other calls of its function.
    fn difference(&self, result: &CallResult, results: &[CallResult]) -> Option<String> {
        let mut alike = results.iter().filter(|other| other.function == result.function);
        let is_other = |key: &str, value: &Value| alike.clone().any(|other| other.arguments.get(key) != Some(value));
        let differs = result.arguments.iter().filter(|(key, value)| is_other(key, value));
        let name = result.function.as_deref().unwrap_or_default();
        let function = self.module.function_named(name).map(|id| self.module.function(id));
        let shown = differs.map(|(key, value)| match function {
            Some(function) => self.told(function, &SlotPath::of_pointer(&format!("/{key}")), value),
            None => self.shown(value),
        });
        let what: Vec<String> = shown.filter(|text| !text.is_empty()).collect();
        (alike.nth(1).is_some() && !what.is_empty()).then(|| self.words.and(&what))
    }

    /// Reports a call that failed, with the reason that was given, if there is one.
    pub(crate) fn failed(&self, result: &CallResult) -> String {
        let reason = match result.failure() {
            Some(reason) => reason,
            None => self.told_value(&result.value()),
        };
        let reason = if reason.trim().is_empty() { self.words.remarks().unavailable.clone() } else { reason };
        let text = serde_json::json!({ "error": reason }).to_string();
        self.result(&CallResult { text, ..result.clone() })
    }

    /// Reports a call whose result is not known.
    pub(crate) fn uncertain(&self, function: &Function) -> String {
        self.words.remarks().uncertain.fill(&[("what", &self.purpose(function))])
    }

    pub(crate) fn result(&self, result: &CallResult) -> String {
        let name = result.function.as_deref().unwrap_or_default();
        let function = self.module.function_named(name).map(|id| self.module.function(id));
        let title = function.map_or_else(|| upper_first(&spoken(name)), |function| self.title(function));
        let own = function.and_then(|function| self.settings(function));
        let (general, remark) = (&self.module.settings.replies, self.words.remarks());
        let value = result.value();
        let known = |told| RemarkData {
            function: &title,
            slots: result.arguments.clone(),
            result: value.clone(),
            told,
            summary: "",
        };
        let came = result.came();
        if came == ResultKind::Refused {
            return remark.declined.clone();
        }
        if let ResultKind::Failed(reason) = &came {
            let deed = function.map_or_else(|| title.clone(), |function| self.purpose(function));
            let reason = cut(one_line(if reason.is_empty() { &deed } else { reason }), LONGEST_REASON);
            let author = own.and_then(|own| own.replies.failed.as_ref()).or(general.failed.as_ref());
            let plain = || remark.failed.fill(&[("reason", &self.ended(&reason))]);
            return self.written(author, &known(&reason)).unwrap_or_else(plain);
        }
        let fields = own.map_or(&[][..], |own| own.result.as_slice());
        let (acts, reads) = (function.is_some_and(Function::acts), function.is_some_and(|function| !function.acts()));
        let told = match (&came, fields) {
            // `{"success": true, "errors": []}`
            (ResultKind::Nothing, _) if acts && value.is_object() => String::new(),
            (ResultKind::Nothing, _) => remark.nothing_found.clone(),
            // A function that only reads, and returns nothing, has found nothing.
            _ if is_blank(&value) && reads => remark.nothing_found.clone(),
            (_, [_, ..]) => self.fields(&value, fields),
            (ResultKind::Done, []) => String::new(),
            _ => self.told_value(&value),
        };
        let author = own.and_then(|own| own.replies.done.as_ref()).or(general.done.as_ref());
        let plain = || {
            let deed = function.map(|function| self.deed(function)).filter(|deed| deed.is_described);
            match deed {
                _ if !told.is_empty() => told.clone(),
                Some(deed) if acts => remark.done.fill(&[("what", &deed.text)]),
                _ => remark.done_plain.clone(),
            }
        };
        self.written(author, &known(&told)).unwrap_or_else(plain)
    }

    /// A result unchanged if it is a text; anything else in one line. Empty if it says nothing.
    fn told_value(&self, value: &Value) -> String {
        match &bare(value.clone()) {
            Value::String(text) => cut(text.trim().to_owned(), LONGEST_TEXT),
            other => upper_first(&cut(self.line(other, 0), LONGEST_LINE)),
        }
    }

    /// The members of a result that its author selected.
    fn fields(&self, value: &Value, fields: &[String]) -> String {
        let facts = fields.iter().filter_map(|field| {
            let found = member(value, field);
            let name = field.rsplit('.').next().unwrap_or(field);
            let shown = self.line(found?, 1);
            (!shown.is_empty()).then(|| self.words.fact(&spoken(name), &shown))
        });
        upper_first(&cut(self.words.facts(&facts.collect::<Vec<_>>()), LONGEST_LINE))
    }

    /// A value in a line; `depth` is how deep in the result it lies.
    fn line(&self, value: &Value, depth: usize) -> String {
        match value {
            Value::Array(_) | Value::Object(_) if depth > DEEPEST => String::new(),
            Value::Array(items) => self.items(items, depth),
            Value::Object(members) => self.words.facts(&self.members(members, depth)),
            scalar => self.shown(scalar),
        }
    }

    /// The first items of a list; items with members of their own are separated more clearly.
    fn items(&self, items: &[Value], depth: usize) -> String {
        let item = |item: &Value| match item {
            Value::Object(members) => self.row(members, depth + 1),
            other => self.line(other, depth + 1),
        };
        let mut told: Vec<String> = items.iter().take(ITEMS).map(item).filter(|item| !item.is_empty()).collect();
        if items.len() > ITEMS {
            told.push("…".to_owned());
        }
        let has_rows = items.iter().any(|item| item.as_object().is_some_and(|members| members.len() > 1));
        if has_rows { told.join(self.words.apart()) } else { self.words.and(&told) }
    }

    /// An item of a list: its name, with its other members.
    fn row(&self, members: &Map<String, Value>, depth: usize) -> String {
        let mut rest = members.clone();
        let named = members.iter().find(|(_, member)| member.as_str().is_some_and(|text| !text.trim().is_empty()));
        let name = named.map(|(key, _)| key.clone()).and_then(|key| rest.shift_remove(&key));
        let facts = self.words.facts(&self.members(&rest, depth));
        match name.map(|name| one_line(&plain(&name))) {
            Some(name) if facts.is_empty() => name,
            Some(name) => self.words.thing(&name, &facts),
            None => facts,
        }
    }

    /// The members of an object, each with its name. An empty list says that there are no items.
    fn members(&self, members: &Map<String, Value>, depth: usize) -> Vec<String> {
        let facts = members.iter().filter_map(|(key, member)| {
            let is_none = member.as_array().is_some_and(Vec::is_empty);
            let shown = if is_none { self.words.none().to_owned() } else { self.line(member, depth + 1) };
            (!shown.is_empty()).then(|| self.words.fact(&spoken(key), &shown))
        });
        facts.take(if depth == 0 { usize::MAX } else { MEMBERS }).collect()
    }

    /// The text with a mark at its end, so that it is a whole sentence.
    fn ended(&self, text: &str) -> String {
        match text.ends_with(['.', '!', '?', '。', '！', '？', '…']) {
            true => text.to_owned(),
            false => format!("{text}{}", self.words.stop()),
        }
    }

    /// The text of the author's template; `None` if there is none, or if it fails.
    fn written(&self, author: Option<&Wording>, known: &RemarkData<'_>) -> Option<String> {
        match template::rendered(self.author(author)?, known) {
            Ok(text) => Some(text).filter(|text| !text.is_empty()),
            Err(error) => {
                tracing::warn!(module = %self.module.name, %error, "a reply of the module is left out");
                None
            }
        }
    }
}

/// True of an empty result.
fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}
