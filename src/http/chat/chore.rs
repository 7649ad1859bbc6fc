//! What frontends ask of a model for themselves: a title for the chat, tags, follow-up questions. Such a request is not
//! an utterance; it is answered from the person's own words.

use serde_json::{Value, json};

use super::conversation::Conversation;
use crate::understand::HistoryMessage;

/// Longest title in characters and in words, and longest summary in characters.
const TITLE: usize = 48;
const TITLE_WORDS: usize = 6;
const SUMMARY: usize = 600;
/// Prefixes of transcript lines, in lower case: the person's, and any speaker's.
const PERSON: [&str; 3] = ["user:", "human:", "query:"];
const ANYBODY: [&str; 5] = ["user:", "human:", "assistant:", "ai:", "query: history:"];
/// How a frontend refers to the transcript.
const OF_A_CHAT: [&str; 8] =
    ["conversation", "<chat_history>", "chat history", "this chat", "our chat", "the chat", "discussion", "dialogue"];
/// Shortest such request, in characters.
const SHORTEST: usize = 60;

/// The kind of text that the frontend asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChoreKind {
    Title,
    Tags,
    Followups,
    Queries,
    Completion,
    Emoji,
    Summary,
}

/// The answer to a frontend's own request; `None` if the last message is the person's.
pub(super) fn answer(conversation: &Conversation) -> Option<String> {
    let asked = &conversation.utterance.as_ref()?.text;
    let instructions = conversation.instructions.as_deref().unwrap_or_default();
    let kind = kind(asked, instructions)?;
    let mut said = persons_lines(asked);
    if said.is_empty() {
        said = conversation
            .history
            .iter()
            .filter_map(|said| match said {
                HistoryMessage::Person(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
    }
    let wants_json = |key: &str| asked.contains(&format!("\"{key}\"")) || instructions.contains(&format!("\"{key}\""));
    let object = |key: &str, value: Value| json!({ key: value }).to_string();
    Some(match kind {
        ChoreKind::Title => {
            let title = title(said.first().map_or("", String::as_str));
            if wants_json("title") { object("title", title.into()) } else { title }
        }
        ChoreKind::Tags if wants_json("tags") => object("tags", json!([])),
        ChoreKind::Followups => object("follow_ups", json!([])),
        ChoreKind::Queries => object("queries", json!([])),
        ChoreKind::Completion => object("text", "".into()),
        ChoreKind::Emoji => "💬".to_owned(),
        ChoreKind::Tags => title(said.first().map_or("", String::as_str)),
        ChoreKind::Summary => shortened(&said.join("\n"), SUMMARY),
    })
}

/// `asked` is the message, `instructions` the request's instructions to the model.
fn kind(asked: &str, instructions: &str) -> Option<ChoreKind> {
    let text = asked.to_lowercase();
    let has_transcript = text.lines().any(|line| ANYBODY.iter().any(|mark| line.trim_start().starts_with(mark)));
    let is_task = text.trim_start().starts_with("### task:");
    // The task alone, without the transcript.
    let before =
        ["<chat_history>", "<conversation>", "\nuser:", "\nhuman:"].iter().filter_map(|mark| text.find(mark)).min();
    let mut task = before.map_or(text.as_str(), |end| &text[..end]).to_owned();
    if has_transcript {
        task.push_str(&instructions.to_lowercase());
    }
    let is_of_a_chat = OF_A_CHAT.iter().any(|mark| task.contains(mark) || text.contains("<chat_history>"));
    if !(is_task || task.chars().count() >= SHORTEST) || !is_of_a_chat {
        return None;
    }
    // Without a transcript, the task is about the messages of the conversation.
    let is_told = ["generate", "create", "provide", "write", "summarize", "summarise", "suggest", "give"];
    if !is_told.iter().any(|word| task.contains(word)) || !(is_task || has_transcript || is_about_us(&task)) {
        return None;
    }
    let kinds = [
        ("follow_ups", ChoreKind::Followups),
        ("follow-up", ChoreKind::Followups),
        ("autocomplet", ChoreKind::Completion),
        ("search quer", ChoreKind::Queries),
        ("\"queries\"", ChoreKind::Queries),
        ("emoji that", ChoreKind::Emoji),
        ("title", ChoreKind::Title),
        ("tags", ChoreKind::Tags),
        ("summar", ChoreKind::Summary),
    ];
    kinds.iter().find(|(mark, _)| task.contains(mark)).map(|(_, kind)| *kind)
}

/// True for "a title summarizing our conversation without any quotation marks".
fn is_about_us(task: &str) -> bool {
    let names =
        ["our conversation", "this conversation", "the conversation", "the discussion", "our chat", "this chat"];
    let manners = ["without any", "only return", "only the title", "words or less", "do not include", "no quotation"];
    names.iter().any(|name| task.contains(name)) && manners.iter().any(|mark| task.contains(mark))
}

/// The person's lines in a transcript.
fn persons_lines(transcript: &str) -> Vec<String> {
    let said = transcript.lines().filter_map(|line| {
        let line = line.trim();
        let mark = PERSON.iter().find(|mark| line.to_lowercase().starts_with(**mark))?;
        let said = line.get(mark.len()..)?.trim().trim_matches('"');
        (!said.is_empty()).then(|| said.to_owned())
    });
    said.collect()
}

/// The first words of the text.
fn title(said: &str) -> String {
    let words: Vec<&str> = said.split_whitespace().take(TITLE_WORDS).collect();
    let title = shortened(&words.join(" "), TITLE);
    let title = title.trim_end_matches(|mark: char| mark.is_ascii_punctuation() || "。、！？…".contains(mark));
    let mut letters = title.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    if title.is_empty() { "Chat".to_owned() } else { title }
}

fn shortened(text: &str, most: usize) -> String {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::chat::conversation::Utterance;

    fn asked(text: &str, instructions: Option<&str>, history: &[&str]) -> Option<String> {
        answer(&Conversation {
            instructions: instructions.map(str::to_owned),
            history: history.iter().map(|text| HistoryMessage::Person((*text).to_owned())).collect(),
            utterance: Some(Utterance { text: text.to_owned(), index: 0 }),
            done: None,
            results: Vec::new(),
            handed_over: Vec::new(),
            handed_back: None,
            notes: Vec::new(),
        })
    }

    #[test]
    fn frontends_are_answered_from_the_persons_words() {
        let chat =
            "<chat_history>\nUSER: please order two large pizzas for tonight\nASSISTANT: Which?\n</chat_history>";
        let task = |task: &str| format!("### Task:\n{task}\n### Chat History:\n{chat}");
        for (text, expected) in [
            (
                task("Generate a concise, 3-5 word title with an emoji.\nJSON format: { \"title\": \"your title\" }"),
                "{\"title\":\"Please order two large pizzas for\"}",
            ),
            (task("Generate 1-3 broad tags.\nJSON format: { \"tags\": [\"tag1\"] }"), "{\"tags\":[]}"),
            (
                task("Suggest 3-5 relevant follow-up questions.\nJSON format: { \"follow_ups\": [\"Question 1?\"] }"),
                "{\"follow_ups\":[]}",
            ),
            (
                "Provide a concise, 5-word-or-less title for the conversation. Only return the title itself.\n\n\
                 Conversation:\nUser: where is my order?\nAI: On its way."
                    .to_owned(),
                "Where is my order",
            ),
        ] {
            assert_eq!(asked(&text, None, &[]).as_deref(), Some(expected), "{text}");
        }
        let short = "Please generate a four to five word title summarizing our conversation without any lead-in, \
                     punctuation, quotation marks or additional text.";
        assert_eq!(asked(short, None, &["cancel my flight"]).as_deref(), Some("Cancel my flight"));
        let told =
            "You are a professional conversation summarizer. Generate a concise title that captures the essence.";
        let transcript = "user: hi, how warm is it?\nassistant: 21 degrees.";
        assert_eq!(asked(transcript, Some(told), &[]).as_deref(), Some("Hi, how warm is it"));
    }

    #[test]
    fn what_a_person_says_is_none_of_it() {
        for text in [
            "give the chat a title",
            "create a meeting with the title conversation about our plans for the summer, without any guests please",
            "summarize the discussion of yesterday's meeting in a mail to Ann and please be quick about it, will you",
            "please write a title for my document about birds and their songs in the morning and evening",
            "hello",
        ] {
            assert_eq!(asked(text, None, &["hi"]), None, "{text}");
        }
    }
}
