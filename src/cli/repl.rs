use std::{path::PathBuf, sync::Arc};

use clap::Args;
use rustyline::{DefaultEditor, error::ReadlineError};
use tokio::time::Instant;

use super::{CliError, Core, End, predict, prepare_failed, report, runtime, target};
use crate::{
    act::{Actor, Plan},
    answer::{ChatCompletion, Stamp},
    config::Config,
    conversation::State,
    module::settings::StrategyName,
    shares::Owner,
    snapshot::{Snapshot, unwatched},
    understand::{self, Conversed, TurnRequest},
};

const HELP: &str = "\
Type what a person would say. It is one conversation, until it is begun anew.
  :new       begin a new conversation
  :state     what is known between two turns
  :why       the candidates of the last answer, with the exemplars and descriptions that speak for them
  :mentions  what the recognizers found in it
  :json      the last answer as the server would give it
  :reload    read the module's files again
  :help      this
  :quit      leave (also Ctrl-D)";

#[derive(Debug, Args)]
pub(super) struct ReplArgs {
    /// A name under the modules root, or a directory
    #[arg(value_name = "MODULE")]
    module: String,
    /// Who decides: auto, local, tools, structured or staged
    #[arg(long, value_name = "NAME", value_parser = predict::strategy)]
    strategy: Option<StrategyName>,
}

/// The meaning of an input line.
#[derive(Debug, PartialEq, Eq)]
enum Input<'a> {
    Nothing,
    Say(&'a str),
    New,
    State,
    Why,
    Mentions,
    Json,
    Reload,
    Help,
    Quit,
    Unknown(&'a str),
}

fn parse(line: &str) -> Input<'_> {
    match line.trim() {
        "" => Input::Nothing,
        ":new" | ":n" => Input::New,
        ":state" | ":s" => Input::State,
        ":why" | ":w" => Input::Why,
        ":mentions" | ":m" => Input::Mentions,
        ":json" | ":j" => Input::Json,
        ":reload" | ":r" => Input::Reload,
        ":help" | ":h" | ":?" => Input::Help,
        ":quit" | ":q" | ":exit" => Input::Quit,
        command if command.starts_with(':') => Input::Unknown(command),
        said => Input::Say(said),
    }
}

pub(super) fn run(args: &ReplArgs, mut config: Config) -> Result<End, CliError> {
    let name = target::resolve(&args.module, &mut config.modules)?;
    let runtime = runtime()?;
    let core = runtime.block_on(Core::open(&config))?;
    let failed = |error| prepare_failed(error, &core.snapshots, &config);
    let first = runtime.block_on(core.snapshots.fresh(&name)).map_err(failed)?;
    let actor = Actor::open(&config.actions).map_err(|error| CliError::Setting(error.to_string()))?;
    report::line(&format!("{name}: {} functions. :help tells more.", first.module.functions.len()));
    if actor.is_some() {
        report::line("[actions] is on: calls of functions with an endpoint are made.");
    }

    let mut editor = DefaultEditor::new().map_err(|error| terminal(&error))?;
    let history = history_file();
    if let Some(path) = &history {
        // There is no history at the first run.
        editor.load_history(path).ok();
    }
    let mut last: Option<ChatCompletion> = None;
    let mut state = State::new(&name);
    loop {
        let line = match editor.readline("> ") {
            Ok(line) => line,
            // Discards the line, as in a shell.
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(terminal(&error)),
        };
        let input = parse(&line);
        if input != Input::Nothing {
            editor.add_history_entry(line.trim()).map_err(|error| terminal(&error))?;
        }
        match input {
            Input::Nothing => {}
            Input::Say(said) => {
                let answered = understand(&core, &config, actor.as_ref(), &state, (said, args.strategy));
                match runtime.block_on(answered) {
                    Ok((answer, next)) => {
                        state = next;
                        report::answer(&answer);
                        last = Some(answer);
                    }
                    Err(error) => report::failure(&error),
                }
            }
            Input::New => state = State::new(&name),
            Input::State => report::json(&state),
            Input::Why => with_last(last.as_ref(), report::why),
            Input::Mentions => with_last(last.as_ref(), report::mentions),
            Input::Json => with_last(last.as_ref(), report::json),
            Input::Reload => match runtime.block_on(core.snapshots.build(&name, &unwatched)) {
                Ok(built) => report::built(&built),
                Err(error) => report::failure(&failed(error)),
            },
            Input::Help => report::line(HELP),
            Input::Quit => break,
            Input::Unknown(command) => report::line(&format!("there is no command {command}; :help lists them")),
        }
    }
    if let Some(path) = &history {
        let saved = path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(ReadlineError::from);
        if let Err(error) = saved.and_then(|()| editor.save_history(path)) {
            tracing::warn!(path = %path.display(), %error, "the history could not be kept");
        }
    }
    Ok(End::Done)
}

async fn understand(
    core: &Core,
    config: &Config,
    actor: Option<&Actor>,
    state: &State,
    (said, strategy): (&str, Option<StrategyName>),
) -> Result<(ChatCompletion, State), CliError> {
    let snapshot: Arc<Snapshot> =
        core.snapshots.fresh(&state.module).await.map_err(|error| prepare_failed(error, &core.snapshots, config))?;
    let request = TurnRequest { utterance: said.to_owned(), strategy, ..TurnRequest::default() };
    // The module may have been edited since the last turn.
    let state = state.clone().adopted(&snapshot.module).unwrap_or_else(|_| State::new(&snapshot.module.name));
    let conversed = core.understander.converse(&snapshot, &state, &request).await?;
    let conversed = carried_out(&snapshot, actor, conversed).await;
    Ok((ChatCompletion::new(&snapshot.module, &conversed.turn, Stamp::now()), conversed.state))
}

/// The turn after its calls were made. Lines are never repeated by a client, so nothing is stored.
async fn carried_out(snapshot: &Snapshot, actor: Option<&Actor>, conversed: Conversed) -> Conversed {
    let Some(actor) = actor else { return conversed };
    let deeds = understand::own_calls(snapshot, &conversed.turn, &[]);
    if deeds.is_empty() {
        return conversed;
    }
    let mut plan = Plan::new(None, deeds, jiff::Timestamp::now(), actor.longest());
    for index in 0..plan.deeds.len() {
        let (key, deed) = (plan.key(index), plan.deeds[index].clone());
        let function = snapshot.module.function_named(&deed.function).map(|id| snapshot.module.function(id));
        let Some(endpoint) = function.and_then(|function| function.endpoint.as_ref()) else { continue };
        plan.deeds[index] = actor.act(&Owner::Process, endpoint, deed, &key, Instant::now() + actor.longest()).await;
    }
    understand::acted(snapshot, None, conversed, plan.deeds, &[])
}

fn with_last(last: Option<&ChatCompletion>, show: impl Fn(&ChatCompletion)) {
    match last {
        Some(answer) => show(answer),
        None => report::line("nothing was said yet"),
    }
}

fn terminal(error: &ReadlineError) -> CliError {
    CliError::Io { what: "the terminal".to_owned(), source: std::io::Error::other(error.to_string()) }
}

/// `$XDG_STATE_HOME/uptake/history`, by default below `~/.local/state`.
fn history_file() -> Option<PathBuf> {
    let directory = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = directory("XDG_STATE_HOME").or_else(|| Some(directory("HOME")?.join(".local/state")))?;
    Some(state.join("uptake").join("history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_said_unless_they_start_with_a_colon() {
        assert_eq!(parse("  hello there "), Input::Say("hello there"));
        assert_eq!(parse(" :why "), Input::Why);
        assert_eq!(parse(":what"), Input::Unknown(":what"));
        assert_eq!(parse(" \t"), Input::Nothing);
        assert_eq!(parse("what is :why"), Input::Say("what is :why"));
    }
}
