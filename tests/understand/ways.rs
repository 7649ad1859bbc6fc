//! Every way in which a model server can be asked.

use uptake::{
    embed::SharedEmbedder,
    llm::Server,
    module::settings::{Detect, Fill, StrategyName},
    understand::{StagedOptions, TurnRequest, UnderstandOptions, Understander},
};

use crate::support::embedder;

#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) strategy: StrategyName,
    staged: StagedOptions,
}

impl Way {
    const fn new(name: &'static str, strategy: StrategyName, detect: Detect, fill: Fill) -> Self {
        Self { name, strategy, staged: StagedOptions { detect, fill } }
    }

    pub(super) fn understander(&self, servers: Vec<Server>) -> Understander {
        self.understander_with(embedder(), servers)
    }

    pub(super) fn understander_with(&self, embedder: SharedEmbedder, servers: Vec<Server>) -> Understander {
        let options = UnderstandOptions { staged: self.staged, ..UnderstandOptions::default() };
        Understander::new(options, embedder, servers)
    }

    pub(super) fn request(&self, utterance: &str) -> TurnRequest {
        TurnRequest { utterance: utterance.to_owned(), strategy: Some(self.strategy), ..TurnRequest::default() }
    }
}

pub(super) const WAYS: [Way; 7] = [
    Way::new("tools", StrategyName::Tools, Detect::Choice, Fill::Whole),
    Way::new("structured", StrategyName::Structured, Detect::Choice, Fill::Whole),
    Way::new("staged: choice, whole", StrategyName::Staged, Detect::Choice, Fill::Whole),
    Way::new("staged: choice, slots", StrategyName::Staged, Detect::Choice, Fill::Slots),
    Way::new("staged: each, whole", StrategyName::Staged, Detect::Each, Fill::Whole),
    Way::new("staged: vote, whole", StrategyName::Staged, Detect::Vote, Fill::Whole),
    Way::new("staged: vote, slots", StrategyName::Staged, Detect::Vote, Fill::Slots),
];
