//! A turn's question in the words of a model server, if the module wants that. The server never chooses what is asked.

use crate::{
    assist::{exchange::Exchange, history::EarlierMessages, ledger::Ledger, repair_loop, wording::Worded},
    conversation::Who,
    decide::analysis::Analysis,
    module::settings::{StrategyName, WordedBy},
    snapshot::Snapshot,
    understand::{Conversed, Outcome, Question, TurnRequest, Understander, converse::history},
};

impl Understander {
    /// The words stay ours if no server answers in time, or if its words ask for something else.
    pub(super) async fn word(
        &self,
        snapshot: &Snapshot,
        request: &TurnRequest,
        analysis: &Analysis,
        conversed: &mut Conversed,
        ledger: &mut Ledger,
    ) {
        let settings = &snapshot.module.settings;
        let is_wanted = settings.conversation.wording == Some(WordedBy::Model)
            && self.strategy(snapshot, request) != StrategyName::Local;
        let Conversed { turn, state, .. } = conversed;
        let question: Option<&mut Question> = match &mut turn.outcome {
            Outcome::Ask(question) => Some(question),
            Outcome::Call(_) => turn.pending.as_mut(),
            _ => None,
        };
        let (true, Some(question), Some(server)) = (is_wanted, question, self.servers.first()) else { return };
        let history = history(state);
        let heard = EarlierMessages::new(&history);
        let situation = self.situation(snapshot, request, &heard.earlier, analysis);
        let brief = self.brief(snapshot, request, situation, &heard.before);
        let mut exchange = Exchange::new(&brief, ledger, (0, server));
        let worded = repair_loop::run(&mut exchange, &Worded { question: &question.text }).await;
        match worded {
            Ok(text) => {
                if let Some(line) = state.lines.iter_mut().rev().find(|line| line.who == Who::Assistant) {
                    line.text.clone_from(&text);
                }
                question.text = text;
            }
            Err(error) => {
                let why = error.reason().unwrap_or_else(|| "the prompt does not render".to_owned());
                turn.trace.notes.push(format!("worded here: {why}"));
            }
        }
    }
}
