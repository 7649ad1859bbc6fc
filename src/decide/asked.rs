//! What an utterance says about the slots that were just asked for, before it is read as a whole.

use crate::{
    ablation,
    decide::{
        carrier as around,
        filling::{Filling, FillingRule},
        limits,
        situation::Situation,
        vocabulary::{own_words, words_of},
    },
    language::{Language, facts::is_unspaced_language},
    module::{
        Function, FunctionId, Module, PathStep, RecognizerId, RecognizerKind, Slot, SlotId, SlotKind, TemplatePiece,
    },
    probability::EVEN,
    recognize::{
        Mention, acts,
        reply::{self as yes_no, YesNo},
    },
    text::{Span, Utterance, is_unspaced},
};

/// The most words in an answer that is free text.
const SHORT: usize = 5;
/// The most words in a whole utterance that is one value.
const LONG: usize = 12;
/// Signs that end a clause.
const CLAUSE_ENDS: [char; 8] = [',', ';', '.', '!', '?', '、', '。', ':'];
/// How many words before a value are searched for the name of its slot.
const BEFORE: usize = 12;

/// The whole utterance, without empty talk around it, as the value of the only slot that was asked for. The slot must
/// take any words and no recognizer may have found a value; some words must be left that the other reading does not
/// account for.
pub(crate) fn whole_answer(
    situation: &Situation<'_>,
    function: FunctionId,
    awaited: &[SlotId],
    fillings: &[Filling],
) -> Option<Filling> {
    let module = &situation.knowledge.module;
    let &[slot] = awaited else { return None };
    let definition = module.function(function).slot(slot);
    let is_list = |id: &RecognizerId| matches!(module.recognizer(*id).kind, RecognizerKind::List(_));
    let core = core(situation, function, awaited);
    // A number alone fills a slot of numbers, even if the slot's recognizers demand other words around it.
    let is_number = || situation.utterance().slice(core).trim().parse::<f64>().is_ok();
    let is_open = match definition.kind {
        SlotKind::String | SlotKind::Any => definition.choices.is_empty() && definition.recognizers.iter().all(is_list),
        SlotKind::Integer | SlotKind::Number => is_number(),
        SlotKind::Boolean => false,
    };
    let words = situation.utterance().words();
    let says_nothing = |word: &Span| is_empty_word(situation, *word);
    let own = own_words(module, function);
    let words: Vec<Span> = words.iter().filter(|word| core.overlaps(**word)).copied().collect();
    // In a text without spaces, any filling of another slot may be wrong; in other texts, only free text with little
    // confidence.
    let is_weak = |filling: &Filling| filling.anchor.is_none() && filling.confidence < EVEN;
    let is_other = |filling: &Filling| {
        filling.slot != slot && (is_weak(filling) || is_unspaced_language(language(module))) //
    };
    let is_unaccounted = |word: &&Span| {
        let is_filled = fillings.iter().any(|filling| filling.span.overlaps(**word) && !is_other(filling));
        !is_filled && !says_nothing(word) && !own.contains(&situation.utterance().folded_in(**word))
    };
    if !is_open
        || around::words_in(situation.utterance(), core) > LONG
        || !words.iter().any(|word| is_unaccounted(&word))
    {
        return None;
    }
    let mut telling = words.iter().filter(|word| !says_nothing(word));
    let first = telling.next()?;
    let cut = Span::new(first.start, telling.next_back().unwrap_or(first).end);
    let value = around::core(language(module), &situation.utterance().only(cut));
    let span = Span::new(cut.start, value.end.min(cut.end));
    Some(Filling::by(FillingRule::Answer, slot, span))
}

/// True if the reader found what was asked for and every other word is empty.
pub(crate) fn is_answered_by(
    situation: &Situation<'_>,
    function: FunctionId,
    awaited: &[SlotId],
    fillings: &[Filling],
) -> bool {
    let module = &situation.knowledge.module;
    let is_list = awaited.iter().any(|slot| is_list_of_texts(module.function(function).slot(*slot)));
    let own = if is_list { Vec::new() } else { own_words(module, function) };
    let core = core(situation, function, awaited);
    let is_accounted = |word: &Span| {
        fillings.iter().any(|filling| filling.span.overlaps(*word))
            || is_empty_word(situation, *word)
            || !is_list && (!core.overlaps(*word) || own.contains(&situation.utterance().folded_in(*word)))
    };
    let is_read = |filling: &Filling| awaited.contains(&filling.slot) && filling.confidence >= EVEN;
    fillings.iter().any(is_read) && situation.utterance().words().iter().all(is_accounted)
}

/// The entry of a list that an answer names by a word that no other entry has: "the night one" for "night saver". Around it, up
/// to a comma, the answer has only empty words and those of the function and of the slot.
pub(crate) fn told_apart<'a>(situation: &Situation<'a>, function: &Function, slot: SlotId) -> Option<&'a Mention> {
    let slot = function.slot(slot);
    let mut told = situation.analysis.told_apart.iter();
    let told = told.find(|mention| slot.recognizers.contains(&mention.recognizer))?;
    let utterance = situation.utterance();
    let own = [words_of(&function.name), words_of(&function.description), words_of(slot.label())].concat();
    let is_plain = |word: &&Span| {
        word.overlaps(told.span) || is_empty_word(situation, **word) || own.contains(&utterance.folded_in(**word))
    };
    let is_joined = |one: Span, next: Span| !utterance.slice(Span::new(one.end, next.start)).contains(CLAUSE_ENDS);
    let words = utterance.words();
    let (before, behind) = words.split_at(words.iter().position(|word| word.overlaps(told.span))?);
    let ends = |pair: &[Span]| !is_joined(pair[0], pair[1]);
    let behind = &behind[..behind.windows(2).position(ends).map_or(behind.len(), |at| at + 1)];
    let first = before.iter().chain(behind.first()).copied().collect::<Vec<_>>();
    let before = &before[first.windows(2).rposition(ends).map_or(0, |at| at + 1)..];
    ablation::holds("asked.told_apart", before.iter().chain(behind).all(|word| is_plain(&word))).then_some(told)
}

fn is_empty_word(situation: &Situation<'_>, word: Span) -> bool {
    yes_no::says_nothing(language(&situation.knowledge.module), situation.utterance().slice(word))
}

/// The parts between commas and conjunctions.
pub(super) fn parts_of_list(situation: &Situation<'_>, within: Span) -> Vec<Span> {
    let (utterance, code) = (situation.utterance(), language(&situation.knowledge.module));
    if is_unspaced_language(code) {
        return parts_without_spaces(utterance, within);
    }
    let joints = Language::of(code).map(|language| &language.words.joints);
    let mut parts: Vec<Span> = Vec::new();
    let mut is_open = false;
    for word in utterance.words().iter().filter(|word| within.contains(**word)) {
        let said = utterance.folded_in(*word);
        if joints.is_some_and(|joints| joints.conjunctions.contains(&said)) {
            is_open = false;
            continue;
        }
        match parts.last_mut() {
            Some(last) if is_open && !utterance.slice(Span::new(last.end, word.start)).contains([',', ';', '、']) => {
                last.end = word.end;
            }
            _ => parts.push(*word),
        }
        is_open = true;
    }
    parts
}

fn parts_without_spaces(utterance: &Utterance, within: Span) -> Vec<Span> {
    let text: Vec<char> = utterance.slice(within).chars().collect();
    let joints = joints_without_spaces(&text);
    let is_joint = |at: &usize| joints.contains(at) || matches!(text[*at], '、' | '，' | ',' | '；' | '　' | ' ');
    let mut parts: Vec<Span> = Vec::new();
    for at in (0..text.len()).filter(|at| !is_joint(at)) {
        let place = within.start + at;
        match parts.last_mut() {
            Some(last) if last.end == place => last.end += 1,
            _ => parts.push(Span::new(place, place + 1)),
        }
    }
    parts
}

/// "チリとペルー": the places of と at which a list without spaces is divided. At least one of the two neighbours must
/// not be hiragana.
fn joints_without_spaces(text: &[char]) -> Vec<usize> {
    let is_hiragana = |c: char| ('ぁ'..='ゖ').contains(&c);
    let mut joints = Vec::new();
    let mut from = 0;
    for at in 1..text.len().saturating_sub(1) {
        let parts = !is_hiragana(text[at - 1]) || !is_hiragana(text[at + 1]);
        let is_joint = text[at] == 'と' && at - from > 1 && is_unspaced(text[at + 1]) && parts;
        if ablation::holds("asked.japanese_joints", is_joint) {
            joints.push(at);
            from = at + 1;
        }
    }
    joints
}

/// "The Long Road, by Ann Reed", where an exemplar says "<title> by <author>": a part behind a comma that begins with
/// the word that leads to exactly one free-text slot. An answer to a question of another kind may do so too: "it's for
/// the bathroom mirror" to "what is the job number?"
pub(crate) fn led(
    situation: &Situation<'_>,
    function: &Function,
    awaited: &[SlotId],
    fillings: &[Filling],
) -> Vec<Filling> {
    let (utterance, code) = (situation.utterance(), language(&situation.knowledge.module));
    let mut leads: Vec<(String, SlotId)> = Vec::new();
    for pair in function.exemplars.iter().flat_map(|exemplar| exemplar.pieces.windows(2)) {
        if let [TemplatePiece::Text(text), TemplatePiece::Slot { slot: Some(slot), .. }] = pair
            && let Some(lead) = words_of(text).pop()
            && !leads.contains(&(lead.clone(), *slot))
        {
            leads.push((lead, *slot));
        }
    }
    let takes_words = |slot: SlotId| {
        let slot = function.slot(slot);
        slot.takes_any_words() && !slot.path.is_repeated()
    };
    let led_by = |word: &str| {
        let mut slots = leads.iter().filter(|(lead, slot)| lead == word && takes_words(*slot)).map(|(_, slot)| *slot);
        slots.next().filter(|_| slots.next().is_none())
    };
    let words = utterance.words();
    let is_comma = |at: usize| utterance.slice(Span::new(words[at - 1].end, words[at].start)).contains([',', ';']);
    let core = around::core(code, utterance);
    let first = words.partition_point(|word| word.start < core.start);
    let is_text_asked = awaited.iter().any(|slot| takes_words(*slot));
    let starts: Vec<usize> =
        (first..words.len()).filter(|at| if *at == first { !is_text_asked } else { is_comma(*at) }).collect();
    let mut found: Vec<Filling> = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(words.len(), |next| *next);
        let slot = led_by(&utterance.folded_in(words[*start]));
        let (Some(slot), Some(first), Some(last)) = (slot, words.get(start + 1), words.get(end - 1)) else { continue };
        if last.end <= first.start {
            continue;
        }
        let span = around::core(code, &utterance.only(Span::new(first.start, last.end)));
        let span = Span::new(span.start.max(first.start), span.end.min(last.end));
        let is_sure = |one: &Filling| one.anchor.is_some() || one.confidence >= EVEN;
        let is_apart = |one: &Filling| one.slot != slot && !one.span.overlaps(span);
        let takes = |one: &Mention| function.slots.iter().any(|slot| slot.recognizers.contains(&one.recognizer));
        if fillings.iter().filter(|one| is_sure(one)).chain(&found).all(is_apart)
            && !situation.mentions().iter().any(|one| span.overlaps(one.span) && takes(one))
        {
            found.push(Filling::by(FillingRule::Led, slot, span));
        }
    }
    found
}

pub(crate) fn is_list_of_texts(slot: &Slot) -> bool {
    slot.path.0.last() == Some(&PathStep::Each) && slot.kind == SlotKind::String && slot.choices.is_empty()
}

/// The items of a value of a list of texts, which commas and conjunctions divide: "Chile, Peru and Bolivia".
pub(crate) fn items(situation: &Situation<'_>, function: &Function, whole: Filling) -> Vec<Filling> {
    if !is_list_of_texts(function.slot(whole.slot)) {
        return vec![whole];
    }
    parts_of_list(situation, whole.span).into_iter().map(|span| Filling { span, ..whole }).collect()
}

/// True of words that say nothing: "uh", "well yes"; of a slot that was not asked for, also "please".
pub(crate) fn is_empty_talk(situation: &Situation<'_>, filling: &Filling, is_asked: bool) -> bool {
    let (utterance, code) = situation.said();
    let says_nothing = |word: &Span| yes_no::says_nothing(code, &utterance.meant(*word));
    utterance.words().iter().filter(|word| filling.span.contains(**word)).all(says_nothing)
        || !is_asked && acts::is_filler(code, utterance.slice(filling.span))
}

/// True of an article before the slot's own name: "une note" does not say the value 1 of `note`, nor "une heure" the
/// time of `heure`.
pub(crate) fn is_article_of_name(situation: &Situation<'_>, slot: &Slot, mention: &Mention) -> bool {
    let (utterance, code) = situation.said();
    let names: Vec<String> = slot.path.keys().flat_map(words_of).collect();
    let words = utterance.words();
    let first = words.partition_point(|word| word.end <= mention.span.start);
    let is_article = words.get(first).is_some_and(|word| {
        Language::or_english(code).sentences.grammar.is_article(&utterance.folded_in(*word)) //
    });
    let mut behind = words.get(first + 1..).unwrap_or_default().iter();
    let is_name = behind.next().is_some_and(|word| names.contains(&utterance.folded_in(*word)));
    is_article && is_name && behind.next().is_none_or(|word| word.start >= mention.span.end)
}

/// True of words that refer to a value without stating it: "something", "a parcel" of a slot `parcel`, "the address" of
/// a slot `address.city`, "it", "no".
pub(crate) fn is_unsaid(situation: &Situation<'_>, function: &Function, slot: SlotId, span: Span) -> bool {
    let code = language(&situation.knowledge.module);
    let names = function.slot(slot).path.keys();
    let name: Vec<String> = names.flat_map(words_of).collect();
    let words = situation.utterance().words().iter().filter(|word| span.overlaps(**word));
    let words: Vec<String> = words.map(|word| situation.utterance().folded_in(*word)).collect();
    let stands_for_one = |word: &String| {
        let says_none = Language::of(code).is_some_and(|language| language.words.is_unsaid(word));
        says_none || name.contains(word)
    };
    let said = yes_no::read(code, None, situation.utterance().slice(span));
    let is_answer = matches!(said.answer, YesNo::Affirmative | YesNo::Negative) && said.rest.is_none();
    is_answer
        || words.iter().all(|word| stands_for_one(word) || yes_no::says_nothing(code, word))
        || ablation::holds("asked.is_title", is_title(situation, span))
}

/// True of a form of address before a name: the "Mrs" of "Mrs Ward".
fn is_title(situation: &Situation<'_>, span: Span) -> bool {
    let words = &Language::or_english(language(&situation.knowledge.module)).words;
    let utterance = situation.utterance();
    let mut said = utterance.words().iter().filter(|word| span.overlaps(**word));
    let next = utterance.words().iter().find(|word| word.start >= span.end);
    let is_name = |next: &Span| {
        let gap = utterance.slice(Span::new(span.end, next.start));
        utterance.slice(*next).starts_with(char::is_uppercase) && matches!(gap.trim(), "" | ".")
    };
    next.is_some_and(is_name) && said.all(|word| words.is_title(&utterance.folded_in(*word)))
}

/// True of a yes or no before the rest of an answer: "Yes. I wear a nine".
pub(crate) fn is_answer_word(situation: &Situation<'_>, word: Span) -> bool {
    let reply = situation.analysis.reply;
    matches!(reply.answer, YesNo::Affirmative | YesNo::Negative)
        && reply.rest.is_some_and(|rest| word.end <= rest.start)
}

pub(crate) fn is_short(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> bool {
    around::words_in(situation.utterance(), core(situation, function, slots)) <= SHORT
}

/// The part of the utterance that remains without the usual phrases around an answer for these slots.
pub(crate) fn core(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> Span {
    let reply = situation.analysis.reply;
    match reply.rest.filter(|_| reply.answer == YesNo::Affirmative) {
        // "Yes: happy birthday"
        Some(rest) => {
            let rest = situation.utterance().only(rest);
            let core = core_of(&rest, situation, function, slots);
            if core.len() < rest.len() { core } else { rest.trimmed(core, char::is_whitespace) }
        }
        None => core_of(situation.utterance(), situation, function, slots),
    }
}

fn core_of(utterance: &Utterance, situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> Span {
    let module = &situation.knowledge.module;
    let definition = module.function(function);
    let names = slots.iter().flat_map(|slot| {
        let slot = definition.slot(*slot);
        std::iter::once(slot.description.as_str())
            .chain(slot.question.as_ref().and_then(|own| own.in_language(language(module))))
    });
    around::core_of_named(language(module), utterance, &names.collect::<Vec<_>>())
}

/// One of the slots is named: "the name is Rossi".
pub(crate) fn names(situation: &Situation<'_>, function: FunctionId, slots: &[SlotId]) -> bool {
    let definition = situation.knowledge.module.function(function);
    let said: Vec<&str> = situation.utterance().folded_words().collect();
    slots.iter().any(|slot| words_of(definition.slot(*slot).label()).iter().any(|word| said.contains(&word.as_str())))
}

/// The slots of the function that were asked for. None if the utterance is a yes, a no or a question in return: these
/// are not values.
pub(crate) fn awaited(situation: &Situation<'_>, function: FunctionId) -> Vec<SlotId> {
    let slots = situation.expected.slots_of(function);
    if slots.is_empty() {
        return slots;
    }
    let reply = yes_no::read(language(&situation.knowledge.module), None, situation.utterance().text().trim());
    // "Yes: happy birthday, Ann" says what "any message?" asks for.
    let is_yes = reply.answer == YesNo::Affirmative && reply.rest.is_some();
    let is_value = (reply.answer == YesNo::Irrelevant || is_yes) && !reply.leaves_open();
    if ablation::holds("asked.reply_is_no_value", !is_value)
        || is_polite_question(language(&situation.knowledge.module), situation.utterance().text())
    {
        return Vec::new();
    }
    slots
}

/// True of a yes or a no alone, and of a question in return: they contain no value.
pub(crate) fn is_no_value(situation: &Situation<'_>) -> bool {
    let text = situation.utterance().text().trim();
    let reply = yes_no::read(language(&situation.knowledge.module), None, text);
    let is_reply = match reply.answer {
        YesNo::Irrelevant => reply.leaves_open(),
        YesNo::Affirmative | YesNo::Negative | YesNo::Indifferent => reply.rest.is_none(),
    };
    is_reply || is_polite_question(language(&situation.knowledge.module), text)
}

/// True of a question whose words show that it is one, with or without a question mark.
pub(crate) fn is_polite_question(language: &str, text: &str) -> bool {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '。' | '？' | '?'));
    let endings = Language::of(language).map_or(&[][..], |language| &language.words.question_endings);
    ablation::holds("asked.polite_question", endings.iter().any(|ending| text.ends_with(ending)))
}

/// True if the words right before `span` are the slot's name, or the part of the name that distinguishes the slot from
/// its rivals, with nothing but empty words between: "the size is 9", "from the joint account".
pub(crate) fn is_named_before(
    situation: &Situation<'_>,
    function: &Function,
    slot: SlotId,
    rivals: &[SlotId],
    span: Span,
) -> bool {
    let name = words_of(function.slot(slot).label());
    let own = own_name(function, slot, rivals);
    let language = language(&situation.knowledge.module);
    let words = situation.utterance().words();
    let end = words.partition_point(|word| word.end <= span.start);
    let near = &words[end.saturating_sub(BEFORE)..end];
    let mut before: Vec<String> = near.iter().map(|word| situation.utterance().folded_in(*word)).collect();
    // "Two adults and six": words before a conjunction do not name what stands behind it.
    let joints = &Language::or_english(language).words.joints;
    let is_passed = |word: &String| !name.contains(word) && !joints.conjunctions.contains(word);
    while before.last().is_some_and(|word| is_passed(word) && yes_no::says_nothing(language, word)) {
        before.pop();
    }
    !name.is_empty() && (before.ends_with(&name) || !own.is_empty() && before.ends_with(&own))
}

/// True if the word right behind `span` belongs to the slot's name and to no rival's name: "a 3 star hotel".
pub(crate) fn is_named_behind(
    situation: &Situation<'_>,
    function: &Function,
    slot: SlotId,
    rivals: &[SlotId],
    span: Span,
) -> bool {
    let words = situation.utterance().words();
    let Some(next) = words.get(words.partition_point(|word| word.start < span.end)) else { return false };
    let gap = situation.utterance().slice(Span::new(span.end, next.start));
    let said = situation.utterance().folded_in(*next);
    let is_same =
        |own: &String| *own == said || said.strip_suffix('s') == Some(own) || own.strip_suffix('s') == Some(&said);
    let is_empty = yes_no::says_nothing(language(&situation.knowledge.module), &said);
    gap.chars().all(|c| c.is_whitespace() || c == '-')
        && !is_empty
        && own_name(function, slot, rivals).iter().any(is_same)
}

/// True if the words beside the number say its dimension or its limit, and the slot's name has it: "45 cm wide" of a
/// width, "at most 300" of a highest price.
pub(crate) fn is_told_beside(situation: &Situation<'_>, function: &Function, slot: SlotId, number: Span) -> bool {
    ablation::holds("asked.dimension", is_dimension_of(situation, function, slot, number))
        || limits::of_slot(situation.said(), function.slot(slot), number).is_some()
}

/// True if the dimension in the slot's name is said right behind `span` and its unit: "45 cm wide" for a width.
pub(crate) fn is_dimension_of(situation: &Situation<'_>, function: &Function, slot: SlotId, span: Span) -> bool {
    let languages = Language::and_english(language(&situation.knowledge.module));
    let mut said = words_behind(situation, span);
    let next = said.next().and_then(|next| if is_unit(languages, &next) { said.next() } else { Some(next) });
    let Some(next) = next else { return false };
    let name = words_of(function.slot(slot).label());
    let mut dimensions = languages.iter().flat_map(|language| &language.words.slots.dimensions);
    dimensions.any(|words| words.contains(&next) && name.iter().any(|word| words.contains(word)))
}

/// A unit stands behind the number, or is written together with it: "3 kg", "3kg".
pub(crate) fn has_unit(situation: &Situation<'_>, number: Span) -> bool {
    let languages = Language::and_english(language(&situation.knowledge.module));
    let joined = Span::new(number.end, number.end + 1);
    situation.utterance().slice(joined).contains(char::is_alphabetic)
        || words_behind(situation, number).next().is_some_and(|next| is_unit(languages, &next))
}

fn words_behind<'a>(situation: &'a Situation<'_>, span: Span) -> impl Iterator<Item = String> + 'a {
    let words = situation.utterance().words();
    let behind = words[words.partition_point(|word| word.start < span.end)..].iter();
    behind.map(|word| situation.utterance().folded_in(*word))
}

fn is_unit(languages: [&Language; 2], word: &str) -> bool {
    languages.iter().any(|language| language.units(word).next().is_some())
}

/// The words of the slot's name that no rival has in its name.
fn own_name(function: &Function, slot: SlotId, rivals: &[SlotId]) -> Vec<String> {
    let rivals = rivals.iter().filter(|rival| **rival != slot);
    let others: Vec<String> = rivals.flat_map(|rival| words_of(function.slot(*rival).label())).collect();
    words_of(function.slot(slot).label()).into_iter().filter(|word| !others.contains(word)).collect()
}

fn language(module: &Module) -> &str {
    module.settings.language.as_deref().unwrap_or("en")
}
