//! How a span lies in the sentence as it is written: whether it cuts a name or a quotation, and what kinds of words it
//! has.

use crate::{
    decide::{features::flag, templates::words::is_carrier},
    language::Language,
    text::{Span, Utterance},
};

/// The most words that join the parts of a name: "de la".
const JOINT: usize = 2;
/// The most articles and numbers before an item: "the two chairs".
const DETERMINERS: usize = 2;
/// Pairs of quotation marks: the opening and the closing one.
const QUOTES: [(char, char); 9] =
    [('`', '`'), ('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』'), ('‘', '’'), ('\'', '\'')];

/// The words of an utterance as they are written.
pub(super) struct Surface {
    words: Vec<SurfaceWord>,
    /// What stands between quotation marks.
    quotations: Vec<Span>,
    /// Something in the utterance is written with a capital letter.
    is_cased: bool,
}

struct SurfaceWord {
    span: Span,
    /// Its first letter is a capital, and it is not "I", which is not a name; or it begins with a digit.
    is_capital: bool,
    is_number: bool,
    /// It is a word like "the" or "for".
    is_carrier: bool,
    /// It is the first word of a sentence, where a capital letter says nothing.
    is_first: bool,
    /// A single space stands between it and the word before; a sign that ends a sentence or a part of one does.
    is_spaced: bool,
    is_broken: bool,
    /// It may stand before an item as its article or its number.
    is_determiner: bool,
    /// It joins the items of an enumeration, as "and" does; a sign like a comma before it does.
    is_conjunction: bool,
    is_divided: bool,
}

/// How a span lies in an enumeration.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Enumerated {
    /// How many of its two sides border on another item: two for "lamp" of "a rug, a lamp and two chairs".
    pub listed: f32,
    /// 1 if it holds more than one item: "rug, a lamp".
    pub joined: f32,
}

/// What is known about a span.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SpanShape {
    /// How many of its two ends cut through a run of capitalized words: "French Cooking" of "The Art of French
    /// Cooking".
    pub cut: f32,
    /// 1 if it lies in a quotation and is not all of it.
    pub quoted: f32,
    /// Share of its words that begin with a capital letter or a digit; 0.5 if no word of the utterance does.
    pub capitals: f32,
    /// 1 if it contains a sign that separates sentences or parts of one.
    pub broken: f32,
    /// Share of its words that are like "the" or "for".
    pub empty: f32,
    /// 1 if such a word stands right before it.
    pub led: f32,
}

impl Surface {
    pub(super) fn new(utterance: &Utterance, language: &str) -> Self {
        let language = Language::or_english(language);
        let mut before = utterance.words().first().map_or(0, |first| first.start);
        let written = |(index, (span, folded)): (usize, (&Span, &str))| {
            let (word, gap) = (utterance.slice(*span), utterance.slice(Span::new(before, span.start)));
            before = span.end;
            let first = word.chars().next().unwrap_or_default();
            let sign = gap.strip_suffix(char::is_whitespace).and_then(|gap| gap.trim_end().chars().next_back());
            SurfaceWord {
                span: *span,
                is_capital: first.is_uppercase() && !is_i(folded),
                is_number: first.is_numeric(),
                is_carrier: is_carrier(folded, language),
                is_first: index == 0 || matches!(sign, Some('.' | '!' | '?')),
                is_spaced: gap == " ",
                is_broken: matches!(sign, Some('.' | '!' | '?' | ';' | ':' | ','))
                    || matches!(gap, " / " | " | " | " – " | " — "),
                is_determiner: first.is_numeric()
                    || is_carrier(folded, language)
                    || language.words.is_number(folded)
                    || language.sentences.grammar.is_article(folded),
                is_conjunction: language.words.joints.conjunctions.iter().any(|joint| joint == folded),
                is_divided: matches!(gap.trim(), "," | ";" | "/" | "&" | "+"),
            }
        };
        let words: Vec<SurfaceWord> =
            utterance.words().iter().zip(utterance.folded_words()).enumerate().map(written).collect();
        let is_cased = utterance.words().iter().any(|word| utterance.slice(*word).starts_with(char::is_uppercase));
        Self { words, quotations: quotations(utterance.text()), is_cased }
    }

    pub(super) fn quotations(&self) -> &[Span] {
        &self.quotations
    }

    pub(super) fn shape(&self, span: Span) -> SpanShape {
        let first = self.words.partition_point(|word| word.span.end <= span.start);
        let behind = self.words.partition_point(|word| word.span.start < span.end);
        if first >= behind {
            return SpanShape::default();
        }
        let within = &self.words[first..behind];
        let share = |is: &dyn Fn(&SurfaceWord) -> bool| {
            within.iter().filter(|word| is(word)).count() as f32 / within.len() as f32
        };
        let is_part = |quotation: &Span| quotation.contains(span) && *quotation != span;
        SpanShape {
            cut: flag(self.is_cut_before(first)) + flag(self.is_cut_behind(behind)),
            quoted: flag(self.quotations.iter().any(is_part)),
            capitals: if self.is_cased { share(&|word| word.is_capital || word.is_number) } else { 0.5 },
            broken: flag(within[1..].iter().any(|word| word.is_broken)),
            empty: share(&|word| word.is_carrier),
            led: flag(first > 0 && self.words[first - 1].is_carrier),
        }
    }

    /// Articles and numbers before the span belong to its item: "the two" of "the two chairs".
    pub(super) fn enumerated(&self, span: Span) -> Enumerated {
        let first = self.words.partition_point(|word| word.span.end <= span.start);
        let behind = self.words.partition_point(|word| word.span.start < span.end);
        if first >= behind {
            return Enumerated::default();
        }
        let is_conjunction = |at: usize| self.words[at].is_conjunction && at > 0 && at + 1 < self.words.len();
        let joins = |at: usize| at < self.words.len() && (self.words[at].is_divided || is_conjunction(at));
        let determines = |at: &usize| {
            let word = &self.words[*at - 1];
            word.is_determiner && !word.is_conjunction && !self.words[*at].is_divided
        };
        let count = (1..=first).rev().take(DETERMINERS).take_while(determines).count();
        let start = first - count;
        let is_led = start > 0 && (self.words[start].is_divided || is_conjunction(start - 1));
        Enumerated { listed: flag(is_led) + flag(joins(behind)), joined: flag((first + 1..behind).any(joins)) }
    }

    /// A name goes on to the left of the word `first`: "Art of | French Cooking".
    fn is_cut_before(&self, first: usize) -> bool {
        let word = |back: usize| first.checked_sub(back).and_then(|at| self.words.get(at));
        let Some((own, one)) = word(0).zip(word(1)) else { return false };
        let is_name = |word: &SurfaceWord| word.is_capital && !word.is_first;
        // "Avenida de la | Constitución"
        let joint =
            (1..=JOINT).take_while(|back| word(*back).is_some_and(|one| one.is_carrier && one.is_spaced)).count();
        own.is_capital && own.is_spaced && (is_name(one) || joint > 0 && word(joint + 1).is_some_and(is_name))
    }

    /// A name goes on to the right, before the word `behind`: "Nintendo | Switch 2".
    fn is_cut_behind(&self, behind: usize) -> bool {
        let is_name = |word: &SurfaceWord| word.is_spaced && (word.is_capital || word.is_number);
        let Some((own, one)) = self.words.get(behind - 1).zip(self.words.get(behind)) else { return false };
        let goes_on = || one.is_carrier && one.is_spaced && self.words.get(behind + 1).is_some_and(is_name);
        own.is_capital && (is_name(one) || goes_on())
    }
}

/// "I", "I'm", "I’d".
fn is_i(folded: &str) -> bool {
    folded.split(['\'', '’']).next() == Some("i")
}

/// The spans between quotation marks, without the marks.
pub(crate) fn quotations(text: &str) -> Vec<Span> {
    let (mut found, mut open) = (Vec::new(), None);
    let mut before = ' ';
    let mut marks = text.chars().enumerate().peekable();
    while let Some((at, mark)) = marks.next() {
        let behind = marks.peek().map_or(' ', |(_, next)| *next);
        // An apostrophe has a letter before it, or behind it where it closes.
        let is_apostrophe = |beside: char| matches!(mark, '\'' | '’' | '‘') && beside.is_alphanumeric();
        match open {
            Some((from, closing)) if mark == closing && !is_apostrophe(behind) => {
                if at > from {
                    found.push(Span::new(from, at));
                }
                open = None;
            }
            None if !is_apostrophe(before) => {
                open = QUOTES.iter().find(|(opening, _)| *opening == mark).map(|(_, closing)| (at + 1, *closing));
            }
            _ => {}
        }
        before = mark;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str, part: &str) -> SpanShape {
        let from = text.find(part).expect("a part of the text");
        let from = text[..from].chars().count();
        Surface::new(&Utterance::new(text), "en").shape(Span::new(from, from + part.chars().count()))
    }

    #[test]
    fn an_apostrophe_quotes_nothing() {
        let quoted = |text: &str| {
            let utterance = Utterance::new(text);
            quotations(text).into_iter().map(|span| utterance.slice(span).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(quoted("say 'it won't start' to O'Brien's boss"), ["it won't start"]);
        assert_eq!(quoted("the boys' room, rock 'n' roll and \"Don't Panic\""), ["n", "Don't Panic"]);
        assert_eq!(quoted("it's “half open and ‘Emma’"), Vec::<String>::new());
        assert_eq!(quoted("\"\" and „Nathan der Weise“"), ["Nathan der Weise"]);
    }

    #[test]
    fn names_and_quotations_are_cut() {
        let text = "please find The Art of French Cooking for me";
        let cut = |part| shape(text, part).cut;
        assert_eq!(
            [cut("The Art of French Cooking"), cut("French Cooking"), cut("Art"), cut("The Art")],
            [0.0, 1.0, 2.0, 1.0]
        );
        // The first word of a sentence has a capital letter anyway.
        assert_eq!(shape("Hold Emma", "Emma").cut, 0.0);
        // Nor is "I" part of a name.
        assert_eq!(shape("hello, I'm Ann Lee and I'd like sandals", "Ann Lee").cut, 0.0);
        let quoted = |part| shape("file \"Add 2FA to the panel\" as a bug", part).quoted;
        assert_eq!([quoted("Add 2FA to the panel"), quoted("2FA to the panel"), quoted("bug")], [0.0, 1.0, 0.0]);
    }

    #[test]
    fn the_items_of_an_enumeration_border_on_each_other() {
        let enumerated = |text: &str, language: &str, part: &str| {
            let at = text.find(part).expect("a part of the text");
            let at = text[..at].chars().count();
            let span = Span::new(at, at + part.chars().count());
            let Enumerated { listed, joined } = Surface::new(&Utterance::new(text), language).enumerated(span);
            (listed, joined)
        };
        let english = |part: &str| enumerated("send me a rug, the two lamps and an oil filter", "en", part);
        assert_eq!([english("rug"), english("lamps"), english("oil filter")], [(1.0, 0.0), (2.0, 0.0), (1.0, 0.0)]);
        assert_eq!([english("filter"), english("send me")], [(0.0, 0.0); 2]);
        assert_eq!(english("rug, the two lamps"), (1.0, 1.0));
        let german = |part: &str| enumerated("ein Sofa und einen Teppich verschenken", "de", part);
        assert_eq!([german("Sofa"), german("Teppich"), german("verschenken")], [(1.0, 0.0), (1.0, 0.0), (0.0, 0.0)]);
        assert_eq!(enumerated("y dos sillas", "es", "sillas"), (0.0, 0.0));
    }

    #[test]
    fn what_a_span_is_made_of() {
        let shape = |part| shape("my brakes squeal. I can leave the Golf", part);
        let whole = shape("brakes squeal. I can");
        assert_eq!((whole.broken, whole.capitals, whole.empty, whole.led), (1.0, 0.0, 0.5, 1.0));
        assert_eq!((shape("Golf").broken, shape("Golf").capitals, shape("Golf").empty), (0.0, 1.0, 0.0));
        assert_eq!(Surface::new(&Utterance::new("a b"), "en").shape(Span::new(0, 1)).capitals, 0.5);
    }
}
