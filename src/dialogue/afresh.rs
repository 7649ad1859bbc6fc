//! An utterance by itself in a conversation: what it asks for is opened.

use crate::{
    call::Origin,
    conversation::{Act, Filled, Said, State, merge::CERTAIN},
    dialogue::{
        acts::{ANSWERED, OTHERWISE, Taken, said},
        converse::history,
    },
    module::{FunctionId, Module, SlotPath, settings::StrategyName},
    recognize::acts::{self as moves, Kind, Moves, Pick},
    snapshot::Snapshot,
    text::{Span, Utterance, fold},
    understand::{About, Demand, Frame, Outcome, Turn, TurnError, TurnRequest, Understander},
};

/// Earlier utterances that nobody made anything of, and that a form which opens is held against.
const UNHEARD: usize = 3;

impl Understander {
    /// The utterance by itself: what it asks for is opened.
    pub(crate) async fn afresh(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
    ) -> Result<Taken, TurnError> {
        let moves = moves::read(snapshot.module.language(), &request.utterance);
        let request = TurnRequest { history: history(state), ..request.clone() };
        let mut turn = self.turn(snapshot, &request).await?;
        if is_one_function(&turn.frames) {
            // Slots of one function, said one after the other, may look like requests of their own.
            let whole = self.turn(snapshot, &TurnRequest { single: true, ..request.clone() }).await?;
            if whole.frames.len() == 1 && values_of(&snapshot.module, &whole) >= values_of(&snapshot.module, &turn) {
                turn = whole;
            }
        }
        let tie = match &turn.outcome {
            Outcome::Ask(question) => match &question.about {
                About::Tie { functions } => Some(functions.clone()),
                _ => None,
            },
            _ => None,
        };
        if tie.is_some() {
            return Ok(Taken { tie, ..Taken::of_turn(turn, Vec::new()) });
        }
        let mut acts = Vec::new();
        let is_open = |function: FunctionId| state.form(&snapshot.module.function(function).name).is_some();
        for frame in turn.frames.iter().filter(|_| !matches!(turn.outcome, Outcome::NoMatch)) {
            let is_first =
                !acts.iter().any(|act| matches!(act, Act::Inform { function, .. } if *function == frame.function));
            if is_first && !is_open(frame.function) {
                let unheard = self.unheard(snapshot, state, &request, frame.function).await?;
                acts.extend(unheard.map(|said| Act::Inform { function: frame.function, said, another: false }));
            }
            let mut said = said(frame, state.turn, None);
            let part = portion(&mut said, &moves, &request.utterance);
            acts.push(Act::Inform { function: frame.function, said, another: !is_first });
            acts.extend(part.map(|said| Act::Inform { function: frame.function, said, another: false }));
        }
        Ok(Taken::of_turn(turn, acts))
    }

    /// What the person said of this function before anybody knew that it is meant: "hello, I'm Jane".
    async fn unheard(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
        function: FunctionId,
    ) -> Result<Option<Said>, TurnError> {
        let mut all: Option<Said> = None;
        let lines = state.lines.iter().rev().filter(|line| line.is_unheard).take(UNHEARD);
        for line in lines {
            let earlier = TurnRequest {
                utterance: line.text.clone(),
                given: Some(function),
                strategy: Some(StrategyName::Local),
                now: request.now.clone(),
                ..TurnRequest::default()
            };
            let Ok(turn) = self.turn(snapshot, &earlier).await else { continue };
            let Some(frame) = turn.frames.first() else { continue };
            let mut found = said(frame, state.turn, None);
            found.invalid.clear();
            found.excluded.clear();
            found.values.retain(|value| value.confidence >= CERTAIN && !value.pointer.contains("/0"));
            for value in &mut found.values {
                value.span = None;
            }
            let known = all.get_or_insert_with(|| Said { turn: state.turn, ..Said::default() });
            // The latest word counts.
            found.values.retain(|value| known.values.iter().all(|later| later.pointer != value.pointer));
            known.values.append(&mut found.values);
        }
        Ok(all.filter(|said| !said.values.is_empty()))
    }

    /// The reply to "did you mean this or that?": what was asked for before is then read as what was chosen.
    pub(crate) async fn choice(
        &self,
        snapshot: &Snapshot,
        state: &State,
        request: &TurnRequest,
        (functions, utterance): (&[String], &str),
        moves: &Moves,
    ) -> Result<Taken, TurnError> {
        let module = &snapshot.module;
        let tied: Vec<FunctionId> = functions.iter().filter_map(|name| module.function_named(name)).collect();
        let picked = moves.moves.iter().find_map(|one| match one.kind {
            Kind::Pick(Pick::Nth(nth)) => tied.get(nth.checked_sub(1)?).copied(),
            Kind::Pick(Pick::Last) => tied.last().copied(),
            _ => None,
        });
        let does = |kind: Kind| moves.rest.is_none() && moves.moves.iter().any(|one| one.kind == kind);
        if does(Kind::Pick(Pick::None)) {
            // Something else was meant, and nobody knows what.
            return Ok(Taken::heard(Vec::new(), moves::ACTS));
        }
        if does(Kind::Cancel) {
            return Ok(Taken::heard(vec![Act::Forget { functions: functions.to_vec() }], moves::ACTS));
        }
        let among = TurnRequest {
            among: Some(tied.clone()),
            demand: Demand::Required,
            single: true,
            history: history(state),
            ..request.clone()
        };
        let (chosen, mut taken) = match picked {
            Some(picked) => (Some(picked), Taken::heard(Vec::new(), ANSWERED)),
            None => {
                let other = self.afresh(snapshot, state, request).await?;
                let is_other = other
                    .acts
                    .iter()
                    .any(|act| matches!(act, Act::Inform { function, .. } if !tied.contains(function)));
                if is_other && other.confidence >= OTHERWISE {
                    return Ok(other);
                }
                let turn = self.turn(snapshot, &among).await?;
                let named = named(module, &tied, &request.utterance);
                let chosen = named.or_else(|| match &turn.outcome {
                    Outcome::Call(_) | Outcome::Ask(_) if turn.frames.len() == 1 => {
                        turn.frames.first().map(|frame| frame.function)
                    }
                    _ => None,
                });
                (chosen, Taken::of_turn(turn, Vec::new()))
            }
        };
        let Some(function) = chosen else { return Ok(Taken { tie: Some(tied), ..taken }) };
        let before = TurnRequest {
            utterance: utterance.to_owned(),
            given: Some(function),
            strategy: Some(StrategyName::Local),
            now: request.now.clone(),
            ..TurnRequest::default()
        };
        let meant = self.turn(snapshot, &before).await?;
        let mut first = meant.frames.first().map(|frame| said(frame, state.turn, None)).unwrap_or_default();
        first.values.iter_mut().chain(&mut first.excluded).for_each(|value| value.span = None);
        taken.acts.push(Act::Inform { function, said: first, another: false });
        // Values may stand beside the choice: "the second one, for tomorrow".
        if picked.is_none() {
            let beside = TurnRequest { given: Some(function), strategy: Some(StrategyName::Local), ..among };
            let turn = self.turn(snapshot, &TurnRequest { demand: Demand::Auto, ..beside }).await?;
            let values = turn.frames.first().map(|frame| said(frame, state.turn, None));
            let certain = values.map(|mut said| {
                said.values.retain(|value| value.recognizer.is_some());
                said.invalid.clear();
                said
            });
            taken.acts.extend(certain.map(|said| Act::Inform { function, said, another: false }));
        }
        Ok(taken)
    }
}

/// True of several requests for one and the same function.
fn is_one_function(frames: &[Frame]) -> bool {
    matches!(frames, [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|frame| frame.function == first.function))
}

/// Different values that were said, by slot, without words in place of what a recognizer should know.
fn values_of(module: &Module, turn: &Turn) -> usize {
    let mut values: Vec<(&SlotPath, &str)> = Vec::new();
    for frame in &turn.frames {
        let slots = &module.function(frame.function).slots;
        let takes_words = |path: &SlotPath| slots.iter().any(|slot| slot.path == *path && slot.recognizers.is_empty());
        for slot in &frame.slots {
            if let Origin::Utterance { text, recognizer, .. } = &slot.origin
                && (recognizer.is_some() || takes_words(&slot.path))
                && !values.contains(&(&slot.path, text))
            {
                values.push((&slot.path, text));
            }
        }
    }
    values.len()
}

/// "Three burgers, one of them with bacon": what is said of the one, apart from what is said of all.
fn portion(said: &mut Said, moves: &Moves, utterance: &str) -> Option<Said> {
    let (count, rest) = moves.moves.iter().find_map(|one| match one.kind {
        Kind::Portion { count, rest } if one.confidence >= moves::ACTS => Some((count, rest)),
        _ => None,
    })?;
    let is_within = |value: &Filled, span: Span| value.span.is_some_and(|own| span.overlaps(own));
    // The clause ends at a comma.
    let clause: String = utterance.chars().skip(rest.start).take(rest.len()).collect();
    let end = clause.find([',', ';']).map_or(rest.end, |at| rest.start + clause[..at].chars().count());
    let rest = Span::new(rest.start, end);
    said.values.retain(|value| !is_within(value, count));
    let (part, all): (Vec<Filled>, Vec<Filled>) =
        said.values.drain(..).partition(|value| is_within(value, rest) && value.pointer.contains("/0"));
    said.values = all;
    let words: String = utterance.chars().skip(count.start).take(count.len()).collect();
    let portion = crate::dialogue::read::number(&words)?;
    (!part.is_empty()).then(|| Said {
        turn: said.turn,
        confidence: said.confidence,
        values: part,
        portion: Some(portion),
        ..Said::default()
    })
}

/// The one of several functions whose name or description has a word of the reply that the others lack.
fn named(module: &Module, tied: &[FunctionId], reply: &str) -> Option<FunctionId> {
    let words_of = |text: &str| -> Vec<String> {
        let text = Utterance::new(&fold(text).replace(['_', '-', '.'], " "));
        text.words().iter().map(|word| text.slice(*word).to_owned()).collect()
    };
    let own: Vec<Vec<String>> = tied
        .iter()
        .map(|id| {
            let function = module.function(*id);
            [words_of(&function.name), words_of(&function.description)].concat()
        })
        .collect();
    let said = words_of(reply);
    let hits = |index: usize| {
        let is_own = |word: &&String| {
            let in_others = own.iter().enumerate().any(|(other, words)| other != index && words.contains(*word));
            own[index].contains(*word) && !in_others
        };
        said.iter().filter(is_own).count()
    };
    let mut ranked: Vec<(usize, usize)> = (0..tied.len()).map(|index| (hits(index), index)).collect();
    ranked.sort_by(|a, b| b.cmp(a));
    match ranked.as_slice() {
        [(best, index), (next, _), ..] if best > next => tied.get(*index).copied(),
        _ => None,
    }
}
