use crate::{
    dialogue::question::words::{Line, Relation, Wanted, Words, joined},
    module::rule::{Comparison, Shift, Unit},
};

pub(crate) struct Japanese;

impl Words for Japanese {
    fn then(&self, first: &str, second: &str) -> String {
        // Words of another script are followed by a space.
        let gap = if first.ends_with(|last: char| last.is_ascii()) { " " } else { "" };
        format!("{first}{gap}{second}")
    }

    fn and(&self, of: &[String]) -> String {
        joined(of, "、", "と")
    }

    fn or(&self, of: &[String]) -> String {
        of.join("、")
    }

    fn facts(&self, of: &[String]) -> String {
        of.join("、")
    }

    fn truth(&self, truth: bool) -> &'static str {
        if truth { "はい" } else { "いいえ" }
    }

    fn ask(&self, name: &str, description: &str, choices: &str) -> String {
        let choices = if choices.is_empty() { String::new() } else { format!("（{choices}）") };
        if description.is_empty() {
            format!("「{name}」を教えてください{choices}。")
        } else {
            format!("「{name}」を教えてください。{description}{choices}。")
        }
    }

    fn ask_all(&self, names: &str, object: Option<&str>) -> String {
        match object {
            None => format!("次の項目を教えてください：{names}。"),
            Some(object) => format!("「{object}」について、次の項目を教えてください：{names}。"),
        }
    }

    fn with_choices(&self, name: &str, choices: &str) -> String {
        format!("{name}（{choices}）")
    }

    fn numbered(&self, name: &str, number: usize) -> String {
        format!("{number}番目の{name}")
    }

    fn about(&self, thing: &str, question: &str) -> String {
        format!("「{thing}」について：{question}")
    }

    fn again(&self, question: &str, repeated: u32) -> String {
        match repeated {
            0 => question.to_owned(),
            1 => format!("恐れ入りますが、もう一度お願いします。{question}"),
            _ => format!("申し訳ありませんが、こちらがわからないと先に進めません。{question}"),
        }
    }

    fn needed(&self, name: &str, question: &str) -> String {
        format!("恐れ入りますが、「{name}」は必須の項目です。{question}")
    }

    fn refused(&self, found: Option<&str>, name: &str, wanted: &str) -> String {
        match found {
            Some(found) => format!("「{found}」は「{name}」には使えません。{wanted}でお願いします。"),
            None => format!("「{name}」は{wanted}でお願いします。"),
        }
    }

    fn wanted(&self, wanted: &Wanted<'_>) -> String {
        match wanted {
            Wanted::Choice(choices) => format!("{choices}のいずれか"),
            Wanted::WholeNumber => "整数".to_owned(),
            Wanted::Number => "数値".to_owned(),
            Wanted::YesOrNo => "「はい」か「いいえ」".to_owned(),
            Wanted::Text => "文字".to_owned(),
            Wanted::Format(format) => self::format(format).to_owned(),
            Wanted::AtLeast(limit) => format!("{limit}以上"),
            Wanted::AtMost(limit) => format!("{limit}以下"),
            Wanted::Between(least, most) => format!("{least}から{most}までの値"),
            Wanted::MoreThan(limit) => format!("{limit}より大きい値"),
            Wanted::LessThan(limit) => format!("{limit}より小さい値"),
            Wanted::MultipleOf(number) => format!("{number}の倍数"),
            Wanted::NotShorter(count) => format!("{count}文字以上"),
            Wanted::NotLonger(count) => format!("{count}文字以内"),
            Wanted::OtherForm => "別の形式".to_owned(),
            Wanted::Other(_) => "別の値".to_owned(),
        }
    }

    fn slot(&self, name: &str) -> String {
        format!("「{name}」")
    }

    fn rule(&self, left: &str, relation: Relation, right: &str, values: &str) -> String {
        let must = match (relation.comparison, relation.is_time) {
            (Comparison::Less, true) => format!("{right}より前"),
            (Comparison::AtMost, true) => format!("{right}以前"),
            (Comparison::AtLeast, true) => format!("{right}以降"),
            (Comparison::Greater, true) => format!("{right}より後"),
            (Comparison::Less, false) => format!("{right}より小さい値"),
            (Comparison::AtMost, false) => format!("{right}以下"),
            (Comparison::AtLeast, false) => format!("{right}以上"),
            (Comparison::Greater, false) => format!("{right}より大きい値"),
            (Comparison::Equal, _) => format!("{right}と同じ値"),
            (Comparison::NotEqual, _) => format!("{right}とは別の値"),
        };
        format!("{left}は{must}でなければなりません。現在は、{values}となっています。どこを変更しますか。")
    }

    fn today(&self) -> &'static str {
        "今日"
    }

    fn now(&self) -> &'static str {
        "現在"
    }

    fn moved(&self, moment: &str, shift: Shift) -> String {
        let unit = match shift.unit {
            Unit::Minute => "分",
            Unit::Hour => "時間",
            Unit::Day => "日",
            Unit::Week => "週間",
            Unit::Month => "か月",
            Unit::Year => "年",
        };
        let side = if shift.amount < 0 { "前" } else { "後" };
        format!("{moment}の{}{unit}{side}", shift.amount.unsigned_abs())
    }

    fn confirm(&self, what: &str, details: &str) -> String {
        if details.is_empty() {
            format!("「{what}」でよろしいですか。")
        } else {
            format!("「{what}」の内容は、{details}です。こちらでよろしいですか。")
        }
    }

    fn fact(&self, name: &str, value: &str) -> String {
        format!("{name}：{value}")
    }

    fn thing(&self, name: &str, facts: &str) -> String {
        format!("{name}（{facts}）")
    }

    fn which(&self, options: &[String]) -> String {
        format!("{}のどちらですか。", self.or(options))
    }

    fn which_half(&self, clock: &str, is_evening: bool) -> String {
        let half = if is_evening { "夜" } else { "午後" };
        format!("朝の{clock}ですか、{half}の{clock}ですか。")
    }

    fn change(&self) -> &'static str {
        "どこを変更しますか。"
    }

    fn tie(&self, options: &[String]) -> String {
        match options {
            [one] => format!("「{one}」のことでしょうか。"),
            several => format!("「{}」のことでしょうか。", several.join("」、それとも「")),
        }
    }

    fn with(&self, option: &str, names: &str) -> String {
        format!("{option}（{names}を指定）")
    }

    fn without(&self, option: &str, names: &str) -> String {
        format!("{option}（{names}の指定なし）")
    }

    fn cancelled(&self, what: &str) -> String {
        format!("かしこまりました。「{what}」を取り消しました。")
    }

    fn hand_off(&self) -> &'static str {
        "申し訳ありませんが、こちらでは対応しきれません。担当者におつなぎします。"
    }

    fn restarted(&self) -> &'static str {
        "かしこまりました。最初からやり直しましょう。"
    }

    fn not_understood(&self) -> &'static str {
        "申し訳ありません。うまく理解できませんでした。"
    }

    fn line(&self, line: Line, content: &str) -> String {
        match line {
            Line::Known => format!("入力済み：{content}"),
            Line::Missing => format!("未入力：{content}"),
            Line::NotValid => format!("無効：{content}"),
            Line::Unconfirmed => "すべて入力済み、確認待ち".to_owned(),
        }
    }

    fn given(&self) -> &'static str {
        "（入力済み）"
    }
}

fn format(name: &str) -> &'static str {
    match name {
        "date" => "日付",
        "time" => "時刻",
        "date-time" => "日付と時刻",
        "duration" => "時間の長さ",
        "email" | "idn-email" => "メールアドレス",
        "phone" => "電話番号",
        "uri" | "iri" | "url" => "ウェブサイトのアドレス",
        _ => "別の形式",
    }
}
