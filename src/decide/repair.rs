//! Corrections within one utterance: "Lisbon, no wait, Porto". The last value counts.

use crate::{
    ablation,
    recognize::{
        ARTICLE, Mention,
        acts::{ACTS, Move, MoveKind, Moves, read},
        reply::{self, says_nothing},
    },
    text::{Span, Utterance},
};

/// The most words between what is taken back and the words that take it back.
const NEAR: usize = 6;
/// The most words of a text that replaces another one.
const FEW: usize = 3;
/// The most words of a "no" between two values, or of a cue beside another one; and the most characters of them.
const DENIAL: usize = 2;
const SHORT: usize = 16;
/// The most characters of any other aside between two values, with its marks: ", Entschuldigung ".
const ASIDE: usize = 24;

/// Marks that stand before a correction.
const MARKS: [char; 8] = [',', ';', '、', '，', '…', '-', '–', '—'];

/// An utterance without the words that its speaker takes back.
pub(crate) struct Repaired {
    pub utterance: Utterance,
    /// Where those words stood.
    pub retracted: Span,
}

/// The utterance without what its speaker takes back, and without the words that take it back; `None` if nothing is
/// taken back. Blanks replace both, so that spans stay valid.
///
/// The last words replace a value of their own kind that a recognizer knows. Otherwise they replace the words from
/// their own first word on, if that was said before ("to Lisbon, no wait, to Porto"). Otherwise they replace the same
/// number of words, if no recognizer knows the old or the new ones.
pub(crate) fn repaired(language: &str, utterance: &Utterance, mentions: &[Mention], acts: &Moves) -> Option<Repaired> {
    let moves = acts.moves.iter().filter(|one| one.kind == MoveKind::Correct && one.confidence >= ACTS);
    let mut moves: Vec<Span> = moves.map(|one| one.cue).collect();
    moves.sort_unstable();
    let denials = denials(language, utterance).into_iter().filter(|_| ablation::holds("repair.denials", true));
    let asides = asides(language, utterance, mentions).into_iter().filter(|_| ablation::holds("repair.asides", true));
    let cues: Vec<Span> = moves.into_iter().chain(denials).chain(asides).collect();
    let mut found = cues.iter().filter_map(|cue| {
        let cue = ablation::made("repair.joined", *cue, joined(language, utterance, &cues, *cue));
        let words = Around::new(language, utterance, cue)?;
        let retracted = ablation::found("repair.by_kind", words.by_kind(mentions))
            .or_else(|| ablation::found("repair.by_beginning", words.by_beginning()))
            .or_else(|| ablation::found("repair.by_length", words.by_length(mentions)))?;
        Some((retracted, cue))
    });
    let (retracted, cue) = ablation::found("repair", found.next())?;
    let is_between = |word: &Span| retracted.end <= word.start && word.end <= cue.start;
    let is_said = |word: &&Span| is_between(word) && !says_nothing(language, &utterance.meant(**word));
    // The words between the two stay, except the "no" of "no, sorry".
    let between = Span::new(retracted.end, cue.start.max(retracted.end));
    let is_denial = reply::read(language, None, utterance.slice(between)).is_bare_no();
    let stays = !is_denial && utterance.words().iter().any(|word| is_said(&word));
    let stays = ablation::holds("repair.between_stays", stays);
    let gap = if stays { retracted.end } else { cue.start };
    let after = utterance.words().iter().find(|word| word.start >= cue.end)?.start;
    let is_blank = |at: usize| retracted.start <= at && at < gap.max(retracted.end) || cue.start <= at && at < after;
    Some(Repaired { utterance: utterance.keeping(|at| !is_blank(at)), retracted })
}

/// What is left of free text whose speaker takes the first words back: "The Lake House Years" of "Lake House, no wait,
/// The Lake House Years". `is_own` is true of words in the module's own templates: "put a hold on <title>" corrects
/// nothing.
pub(crate) fn last_word(utterance: &Utterance, acts: &Moves, is_own: &dyn Fn(&str) -> bool, text: Span) -> Span {
    let place = |cue: Span| utterance.words().partition_point(|word| word.end <= cue.start);
    let corrects = |one: &&Move| {
        let is_inside = text.start < one.cue.start && one.cue.end < text.end;
        is_inside && one.kind == MoveKind::Correct && one.confidence >= ACTS && is_parted(utterance, place(one.cue))
    };
    let cues = acts.moves.iter().filter(corrects).map(|one| one.cue).filter(|cue| !is_own(utterance.slice(*cue)));
    let last = cues.max_by_key(|cue| cue.end);
    let first = last.and_then(|cue| utterance.words().iter().find(|word| word.start >= cue.end));
    let last = first.filter(|word| word.end <= text.end).map_or(text, |word| Span::new(word.start, text.end));
    ablation::made("repair.last_word", text, last)
}

/// The cue with further cues right beside it: "no wait, rather", "wait, make that".
fn joined(language: &str, utterance: &Utterance, cues: &[Span], cue: Span) -> Span {
    let words = utterance.words();
    // The length of the cue with which a text begins.
    let opening = |text: &str| {
        let corrects = |one: &&Move| one.kind == MoveKind::Correct && one.confidence >= ACTS && one.cue.start == 0;
        read(language, text).moves.iter().find(corrects).map(|one| one.cue.end)
    };
    // A cue is short, so only a short text is read for one.
    let rest = |from: usize| utterance.slice(Span::new(from, utterance.len().min(from + ASIDE)));
    let follows = |end: usize| {
        let next = words.iter().find(|word| word.start >= end)?.start;
        cues.iter()
            .find(|other| other.start == next)
            .copied()
            .or_else(|| Some(Span::new(next, next + opening(rest(next))?)))
    };
    let last = std::iter::successors(Some(cue), |cue| follows(cue.end)).last().unwrap_or(cue);
    // The words of the clause before it: "wait,".
    let at = words.partition_point(|word| word.end <= cue.start);
    let first = (at.saturating_sub(DENIAL)..at).rev().find(|first| is_parted(utterance, *first));
    let clause = first.map(|first| words[first].start);
    let alone = |start: &usize| {
        let clause = utterance.slice(Span::new(*start, cue.start));
        opening(&format!("{clause}{}", rest(last.end).trim_start())).is_some_and(|end| *start + end <= cue.start)
    };
    Span::new(clause.filter(alone).unwrap_or(cue.start), last.end)
}

/// A mark stands before the word.
fn is_parted(utterance: &Utterance, at: usize) -> bool {
    let words = utterance.words();
    let before = at.checked_sub(1).and_then(|before| words.get(before)).zip(words.get(at));
    before.is_some_and(|(before, word)| utterance.slice(Span::new(before.end, word.start)).contains(MARKS))
}

/// A "no" between two commas: "Lisbon, no, Porto".
fn denials(language: &str, utterance: &Utterance) -> Vec<Span> {
    let words = utterance.words();
    let starts: Vec<usize> = (1..words.len()).filter(|at| is_parted(utterance, *at)).collect();
    let inner = starts.windows(2).filter(|pair| pair[1] - pair[0] <= DENIAL);
    let spans = inner.map(|pair| Span::new(words[pair[0]].start, words[pair[1] - 1].end));
    let denies = |span: &Span| reply::read(language, None, utterance.slice(*span)).is_bare_no();
    spans.filter(|span| span.len() <= SHORT).filter(denies).collect()
}

/// Words between two commas that could be a correction, right between two values of one kind: "33410, sorry 33140".
fn asides(language: &str, utterance: &Utterance, mentions: &[Mention]) -> Vec<Span> {
    let mut known: Vec<&Mention> = mentions.iter().collect();
    known.sort_by_key(|mention| (mention.recognizer, mention.span));
    let words = utterance.words();
    let between = |pair: &[&Mention]| {
        let (from, to) = (pair[0].span.end, pair[1].span.start);
        let first = words.partition_point(|word| word.start < from);
        let behind = words.partition_point(|word| word.end <= to);
        let is_pair = pair[0].recognizer == pair[1].recognizer && to <= from + ASIDE && first < behind;
        is_pair.then(|| Span::new(words[first].start, words[behind - 1].end))
    };
    let corrects = |(pair, aside): &(&[&Mention], Span)| {
        let [old, aside, new] = [pair[0].span, *aside, pair[1].span].map(|span| utterance.slice(span));
        let moves = read(language, &format!("{old}, {aside}, {new}")).moves;
        // "260,000 rather than 255,000": the first one counts.
        let replaces = || {
            let moves = read(language, &format!("{old} {aside} {new}")).moves;
            moves.iter().any(|one| matches!(one.kind, MoveKind::Replace { .. }))
        };
        moves.iter().any(|one| one.kind == MoveKind::Correct && one.confidence >= ACTS) && !replaces()
    };
    let pairs = known.windows(2).filter_map(|pair| Some((pair, between(pair)?)));
    pairs.filter(corrects).map(|(_, aside)| aside).collect()
}

/// The words before a correction, and the words behind it.
struct Around<'a> {
    language: &'a str,
    utterance: &'a Utterance,
    before: Vec<Span>,
    /// Up to the end of the clause.
    after: Vec<Span>,
}

impl<'a> Around<'a> {
    /// `None` if nothing stands before or behind the cue.
    fn new(language: &'a str, utterance: &'a Utterance, cue: Span) -> Option<Self> {
        let words = utterance.words();
        let before: Vec<Span> = words.iter().filter(|word| word.end <= cue.start).copied().collect();
        let mut after: Vec<Span> = words.iter().filter(|word| word.start >= cue.end).copied().collect();
        let ends = |pair: &[Span]| {
            let between = utterance.slice(Span::new(pair[0].end, pair[1].start));
            between.contains([',', ';', '.', '!', '?', '、', '。'])
        };
        if let Some(end) = after.windows(2).position(ends) {
            after.truncate(end + 1);
        }
        (!before.is_empty() && !after.is_empty()).then_some(Self { language, utterance, before, after })
    }

    fn says_nothing(&self, word: Span) -> bool {
        says_nothing(self.language, &self.utterance.meant(word))
    }

    /// The last recognized value before the cue whose recognizer knows the first value behind it too.
    fn by_kind(&self, mentions: &[Mention]) -> Option<Span> {
        let inside = |words: &[Span]| Some(Span::new(words.first()?.start, words.last()?.end));
        let (before, after) = (inside(&self.before)?, inside(&self.after)?);
        // An article is not a value: "a viola, I mean a violin".
        let known = || mentions.iter().filter(|mention| mention.score > ARTICLE.score());
        let first = known().filter(|mention| after.contains(mention.span)).map(|mention| mention.span.start).min()?;
        let new: Vec<&Mention> =
            known().filter(|mention| mention.span.start == first && after.contains(mention.span)).collect();
        let text: Vec<char> = self.utterance.text().chars().collect();
        let is_letter = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|c| c.is_alphanumeric());
        let is_whole = |one: &&Mention| !is_letter(one.span.start.checked_sub(1)) && !is_letter(Some(one.span.end));
        let is_same = |old: &&Mention| new.iter().any(|new| new.recognizer == old.recognizer);
        let is_near = |old: &&Mention| self.before.iter().filter(|word| word.start >= old.span.end).count() <= NEAR;
        let old = known().filter(|mention| before.contains(mention.span)).filter(is_same).filter(is_near);
        let old = old.filter(is_whole);
        let old: Vec<&Mention> = old.collect();
        let last = old.iter().max_by_key(|mention| (mention.span.end, mention.span.len()))?.span;
        // "200 pounds, no, 250": the number is replaced, and its currency stays.
        let shared = |span: Span| old.iter().filter(|mention| mention.span == span).count();
        let within = old.iter().map(|mention| mention.span).filter(|span| last.contains(*span));
        let old = within.max_by_key(|span| (shared(*span), span.len()))?;
        let new = new.iter().map(|mention| mention.span).max_by_key(|span| span.len())?;
        Some(ablation::made("repair.with_repeated", old, self.with_repeated(old, new)))
    }

    /// What is taken back, with the words beside it that are repeated beside the new value: "12 Mill Lane, oops, 21
    /// Mill Lane".
    fn with_repeated(&self, old: Span, new: Span) -> Span {
        let said = |word: &Span| self.utterance.folded_in(*word);
        let is_same = |(one, other): &(&Span, &Span)| said(one) == said(other);
        let leading = |words: &[Span], value: Span| words.partition_point(|word| word.end <= value.start);
        let following = |words: &[Span], value: Span| words.partition_point(|word| word.start < value.end);
        let (before, after) = (&self.before, &self.after);
        let led = before[..leading(before, old)].iter().rev().zip(after[..leading(after, new)].iter().rev());
        // All words before the new value also stand before the old one.
        let led: Vec<&Span> = led.take_while(is_same).map(|(word, _)| word).collect();
        let is_led = !led.is_empty() && led.len() == leading(after, new);
        let followed = before[following(before, old)..].iter().zip(&after[following(after, new)..]);
        let followed = followed.take_while(is_same).map(|(word, _)| word.end).last();
        let start = led.last().filter(|_| is_led).map_or(old.start, |word| word.start);
        Span::new(start, followed.unwrap_or(old.end))
    }

    /// From the last word before the cue that equals the first word behind it.
    fn by_beginning(&self) -> Option<Span> {
        let first = self.utterance.folded_in(*self.after.first()?);
        let near = &self.before[self.before.len().saturating_sub(NEAR)..];
        let start = near.iter().rfind(|word| self.utterance.folded_in(**word) == first)?;
        Some(Span::new(start.start, self.before.last()?.end))
    }

    /// As many words before the cue as behind it, if each of them says something and none is recognized.
    fn by_length(&self, mentions: &[Mention]) -> Option<Span> {
        let count = self.after.len();
        let start = self.before.len().checked_sub(count).filter(|_| count <= FEW)?;
        let old = &self.before[start..];
        let is_plain = |word: &Span| !self.says_nothing(*word) && !mentions.iter().any(|one| one.span.overlaps(*word));
        let is_name = |word: &Span| self.utterance.slice(*word).starts_with(char::is_uppercase);
        let is_text = old.iter().chain(&self.after).all(is_plain);
        let is_alike = start == 0 || old.iter().all(is_name) == self.after.iter().all(is_name);
        (is_text && is_alike).then(|| Span::new(old[0].start, old[count - 1].end))
    }
}

#[cfg(test)]
mod tests {
    use crate::{decide::repair::*, module::RecognizerId, recognize::acts::read};

    /// The words that are left, with `known` as values of one kind.
    fn left(language: &str, text: &str, known: &[&str]) -> String {
        let utterance = Utterance::new(text);
        let mention = |word: &&str| {
            let at = text.find(word).map(|at| text[..at].chars().count()).expect("a word of the text");
            Mention {
                recognizer: RecognizerId::from_index(0),
                span: Span::new(at, at + word.chars().count()),
                text: (*word).to_owned(),
                value: (*word).into(),
                others: Vec::new(),
                unread: Vec::new(),
                score: 1.0,
            }
        };
        let mentions: Vec<Mention> = known.iter().map(mention).collect();
        let repaired = repaired(language, &utterance, &mentions, &read(language, text));
        let repaired = repaired.map_or(utterance, |repaired| repaired.utterance);
        let words: Vec<&str> = repaired.words().iter().map(|word| repaired.slice(*word)).collect();
        words.join(" ")
    }

    #[test]
    fn the_last_word_counts() {
        for (language, text, known, expected) in [
            ("en", "Oslo, no wait, Turku", &[][..], "Turku"),
            ("en", "a ferry to Oslo, no wait, to Turku", &[], "a ferry to Turku"),
            ("en", "a ferry to Oslo, no wait, Turku", &[], "a ferry to Turku"),
            ("en", "freeze 8123, scratch that, 8132", &["8123", "8132"], "freeze 8132"),
            ("en", "the green one, actually no, grey is fine", &["green", "grey"], "the grey is fine"),
            ("en", "two mugs, I mean three", &["two", "three"], "mugs three"),
            ("de", "einen Tisch für vier, ich meine sechs", &["vier", "sechs"], "einen Tisch für sechs"),
            ("de", "Reisepass, ach Quatsch, Personalausweis", &["Reisepass", "Personalausweis"], "Personalausweis"),
            ("es", "una habitación para tres, digo cuatro", &["tres", "cuatro"], "una habitación para cuatro"),
            ("fr", "pour mardi, je veux dire mercredi", &["mardi", "mercredi"], "pour mercredi"),
            ("en", "to Oslo, no, Turku", &[], "to Turku"),
            ("en", "lost my red card, no sorry, my blue card", &["red card", "blue card"], "lost my blue card"),
            ("en", "berth 12, no, 14 please", &["12", "14"], "berth 14 please"),
            ("en", "the meter says 33410, sorry 33140", &["33410", "33140"], "the meter says 33140"),
            ("en", "claim 45 sorry 54 for the train", &["45", "54"], "claim 54 for the train"),
            ("de", "Stand 511, Entschuldigung 515", &["511", "515"], "Stand 515"),
            ("es", "mesa para cinco, perdón seis", &["cinco", "seis"], "mesa para seis"),
            ("fr", "le dossier 411, pardon 414", &["411", "414"], "le dossier 414"),
            ("de", "um acht, nein, um neun", &["acht", "neun"], "um neun"),
            ("es", "el martes, no, el jueves", &["martes", "jueves"], "el jueves"),
            ("en", "to 12 Mill Lane in Ely, oops, 21 Mill Lane in Ely", &["12", "21"], "to 21 Mill Lane in Ely"),
            ("de", "Am Wall 20, Verzeihung, Am Wall 22", &["20", "22"], "Am Wall 22"),
            ("de", "am Dienstag, ach nee, Freitag um vier", &["Dienstag", "Freitag"], "am Freitag um vier"),
            ("fr", "des roses, non attendez, plutôt des lys", &["roses", "lys"], "des lys"),
            ("fr", "deux, non, trois cafés", &["deux", "trois"], "trois cafés"),
            ("en", "on the 25 at 9, wait, make that 11", &["25", "9", "11"], "on the 25 at 11"),
        ] {
            assert_eq!(left(language, text, known), expected, "{text}");
        }
    }

    #[test]
    fn the_last_word_counts_where_words_are_not_apart() {
        assert_eq!(left("ja", "大阪、いや、やっぱり京都", &["大阪", "京都"]).replace(' ', ""), "京都");
    }

    #[test]
    fn what_takes_nothing_back_stays() {
        for text in [
            "no wait, Turku",
            "a pizza, no, thanks a lot for asking me",
            "soup, no onions, bread",
            "I'd like a table, wait, for Tuesday",
            "Turku, thanks",
            "sorry, it is 42",
            "room 12 for 14",
            "make that 260 rather than 255",
        ] {
            let known: &[&str] = match text {
                _ if text.contains("Tuesday") => &["Tuesday"],
                _ if text.contains("12") => &["12", "14"],
                _ if text.contains("260") => &["260", "255"],
                _ => &[],
            };
            let words = Utterance::new(text).words().len();
            assert_eq!(left("en", text, known).split(' ').count(), words, "{text}");
        }
    }
}
