//! The question of a turn in the words of a model server, where the module wants them. What is asked is never its choice.

use crate::{
    assist::{exchange::Exchange, history::Heard, wording::Worded},
    conversation::Who,
    module::settings::{StrategyName, WordedBy},
    snapshot::Snapshot,
    understand::{Conversed, Outcome, Question, TurnRequest, Understander, converse::history, ledger::Budget},
};

impl Understander {
    /// Without a server that answers in time, and with one whose words ask for something else, the words stay ours.
    pub(crate) async fn word(&self, snapshot: &Snapshot, request: &TurnRequest, conversed: &mut Conversed) {
        let settings = &snapshot.module.settings;
        let is_wanted = settings.conversation.wording == Some(WordedBy::Model)
            && self.strategy(snapshot, request) != StrategyName::Local;
        let Conversed { turn, state } = conversed;
        let question: Option<&mut Question> = match &mut turn.outcome {
            Outcome::Ask(question) => Some(question),
            Outcome::Call(_) => turn.pending.as_mut(),
            _ => None,
        };
        let (true, Some(question), Some(server)) = (is_wanted, question, self.servers.first()) else { return };
        let Ok(analysis) = self.recognize(snapshot, request) else { return };
        let history = history(state);
        let heard = Heard::new(&history);
        let situation = self.situation(snapshot, request, &heard.earlier, &analysis);
        let budget = Budget::new(&self.options, &settings.llm, request.budget, tokio::time::Instant::now());
        let brief = self.brief(snapshot, request, situation, &heard.before, budget);
        let exchange = Exchange::new(&brief, server, settings.llm.model.as_deref(), StrategyName::Staged);
        let worded = Worded { question: &question.text }.ask(&exchange).await;
        let spent = exchange.spent();
        turn.trace.timings.llm += spent.llm_ms;
        turn.trace.timings.total += spent.llm_ms;
        turn.trace.attempts.extend(spent.attempts);
        turn.usage += spent.usage;
        match worded {
            Ok(text) => {
                if let Some(line) = state.lines.iter_mut().rev().find(|line| line.who == Who::Assistant) {
                    line.text.clone_from(&text);
                }
                question.text = text;
            }
            Err(error) => {
                let why = error.why_not().unwrap_or_else(|| "the prompt does not render".to_owned());
                turn.trace.notes.push(format!("worded here: {why}"));
            }
        }
    }
}
