//! The results of dialogues, as lines for a terminal.

use super::{
    super::share::{percent, plural, share},
    DialogueCounts, Dialogues, WrongDialogue,
};

/// One line for each kind of dialogue that occurs: (name, text).
pub(in crate::eval) fn summary(dialogues: &Dialogues) -> Vec<(&'static str, String)> {
    let plain = ("dialogues", dialogues.plain, "");
    let scripted = ("scripted", dialogues.scripted, "; with the answers of a model server that they bring");
    [plain, scripted]
        .into_iter()
        .filter(|(_, counted, _)| counted.dialogues > 0)
        .map(|(name, counted, note)| (name, line(counted) + note))
        .collect()
}

fn line(counted: DialogueCounts) -> String {
    let DialogueCounts { dialogues, right, turns, turns_right } = counted;
    format!(
        "{right} of {dialogues} right ({}), {turns_right} of {} ({})",
        percent(share(right, dialogues)),
        plural(turns, "turn"),
        percent(share(turns_right, turns))
    )
}

/// The dialogue so far, the expectation for its last turn, and what is wrong with it.
pub(in crate::eval) fn describe(wrong: &WrongDialogue, lines: &mut Vec<String>) {
    let id = wrong.id.as_ref().map(|id| format!("{id}, ")).unwrap_or_default();
    let note = if wrong.is_scripted { ", scripted" } else { "" };
    lines.push(String::new());
    lines.push(format!("{}  {id}turn {}{note}", wrong.place, wrong.turn));
    for exchange in &wrong.so_far {
        lines.push(format!("  > {}", exchange.user));
        lines.push(format!("    {}", exchange.answer));
    }
    lines.push(format!("  expected {}", wrong.expected));
    lines.extend(wrong.differences.iter().map(|difference| format!("  {difference}")));
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{
        super::{super::CaseLocation, Difference, TranscriptTurn},
        *,
    };

    #[test]
    fn the_two_kinds_are_told_apart() {
        let plain = DialogueCounts { dialogues: 8, right: 6, turns: 40, turns_right: 30 };
        let scripted = DialogueCounts { dialogues: 1, right: 1, turns: 1, turns_right: 1 };
        let both = Dialogues { plain, scripted, wrong: Vec::new() };
        let texts: Vec<String> = summary(&both).into_iter().map(|(name, text)| format!("{name}: {text}")).collect();
        assert_eq!(
            texts,
            [
                "dialogues: 6 of 8 right (75.0 %), 30 of 40 turns (75.0 %)",
                "scripted: 1 of 1 right (100.0 %), 1 of 1 turn (100.0 %); with the answers of a model server that they bring",
            ]
        );
        assert_eq!(summary(&Dialogues { plain, ..Dialogues::default() }).len(), 1);
        assert_eq!(summary(&Dialogues::default()), []);
    }

    #[test]
    fn a_wrong_dialogue_is_shown_up_to_its_first_wrong_turn() {
        let said = |user: &str, answer: &str| TranscriptTurn { user: user.into(), answer: answer.into() };
        let wrong = WrongDialogue {
            place: CaseLocation { file: Arc::from("dialogues.jsonl"), line: 4 },
            id: Some("size".into()),
            is_scripted: true,
            turn: 2,
            expected: json!({"outcome": "call"}),
            differences: vec![
                Difference::new("outcome", "call", "ask"),
                Difference::new("arguments: item.size", 9, Value::Null),
            ],
            so_far: vec![said("shoes", "ask order item.size \"Which size?\""), said("9", "no_match")],
        };
        let mut lines = Vec::new();
        describe(&wrong, &mut lines);
        insta::assert_snapshot!(lines.join("\n"), @r#"

        dialogues.jsonl:4  size, turn 2, scripted
          > shoes
            ask order item.size "Which size?"
          > 9
            no_match
          expected {"outcome":"call"}
          outcome: ask instead of call
          arguments: item.size: nothing instead of 9
        "#);
    }
}
