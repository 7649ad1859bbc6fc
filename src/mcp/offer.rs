//! Which modules there are, and the one that a call is about.

use serde_json::{Value, json};

use super::refusal::Refusal;
use crate::{module::ModuleName, snapshot::Snapshots};

/// Most names that an answer lists.
const LISTED: usize = 20;

/// The modules that are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// Every module under the root, including future ones.
    All,
    /// Only these; at least one.
    Only(Vec<ModuleName>),
}

impl Offer {
    /// No names means all.
    #[must_use]
    pub fn of(mut names: Vec<ModuleName>) -> Self {
        names.sort();
        names.dedup();
        if names.is_empty() { Self::All } else { Self::Only(names) }
    }

    /// Sorted by name.
    pub(super) fn names(&self, snapshots: &Snapshots) -> Vec<ModuleName> {
        match self {
            Self::All => snapshots.on_disk(),
            Self::Only(names) => names.clone(),
        }
    }

    /// With a single module, calls need not name it.
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::Only(names) if names.len() == 1)
    }

    /// The schema of the argument `module`. It does not list names that can change, because clients keep schemas.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::All => json!({"type": "string", "description": "The module's name, as `list_modules` gives it"}),
            Self::Only(names) => {
                let names: Vec<&str> = names.iter().map(ModuleName::as_str).collect();
                json!({"type": "string", "enum": names, "description": "The module's name"})
            }
        }
    }

    /// The module that a call means.
    ///
    /// # Errors
    /// If the call names none although there are several, or one that is not offered.
    pub(super) fn choose(&self, asked: Option<&str>, snapshots: &Snapshots) -> Result<ModuleName, Refusal> {
        let names = self.names(snapshots);
        let Some(asked) = asked else {
            return match &names[..] {
                [one] => Ok(one.clone()),
                [] => Err(Refusal::new("there are no modules")),
                several => Err(Refusal::new(format!("`module` is required: {}", listed(several)))),
            };
        };
        if let Some(name) = names.iter().find(|name| name.as_str() == asked) {
            return Ok(name.clone());
        }
        let near: Vec<ModuleName> = snapshots.near(asked).into_iter().filter(|near| names.contains(near)).collect();
        let hint = match (&near[..], &names[..]) {
            (_, []) => "there are none".to_owned(),
            ([], _) => format!("there is {}", listed(&names)),
            (near, _) => format!("did you mean {}?", listed(near)),
        };
        Err(Refusal::new(format!("there is no module `{asked}`; {hint}")))
    }
}

/// `a`, `b` or `c`
fn listed(names: &[ModuleName]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    if names.len() > LISTED {
        return format!("{} or another that `list_modules` gives", shown.join(", "));
    }
    match shown.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        embed::{Hashed, HashedOptions},
        retrieve::RetrieveOptions,
        snapshot::ModulesOptions,
    };

    fn snapshots(modules: &[&str]) -> (tempfile::TempDir, Snapshots) {
        let root = tempfile::tempdir().unwrap();
        for module in modules {
            std::fs::create_dir(root.path().join(module)).unwrap();
        }
        let options = ModulesOptions { root: root.path().to_owned(), ..ModulesOptions::default() };
        let embedder = Arc::new(Hashed::new(&HashedOptions::default()));
        (root, Snapshots::new(options, RetrieveOptions::default(), embedder))
    }

    fn chosen(offer: &Offer, asked: Option<&str>, snapshots: &Snapshots) -> String {
        match offer.choose(asked, snapshots) {
            Ok(name) => name.to_string(),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn a_call_names_its_module_unless_there_is_one() {
        let (_root, snapshots) = snapshots(&["weather", "shop"]);
        let one = Offer::of(vec![ModuleName::new("weather").unwrap(); 2]);
        assert_eq!(chosen(&one, None, &snapshots), "weather");
        assert_eq!(chosen(&one, Some("weather"), &snapshots), "weather");
        assert_eq!(chosen(&one, Some("shop"), &snapshots), "there is no module `shop`; there is `weather`");
        let all = Offer::of(Vec::new());
        assert_eq!(chosen(&all, Some("shop"), &snapshots), "shop");
        assert_eq!(chosen(&all, None, &snapshots), "`module` is required: `shop` or `weather`");
        assert_eq!(chosen(&all, Some("wether"), &snapshots), "there is no module `wether`; did you mean `weather`?");
        for hostile in ["", "../shop", "/etc", "a\u{0}b", "sh\u{200B}op"] {
            assert!(chosen(&all, Some(hostile), &snapshots).starts_with("there is no module `"), "{hostile:?}");
        }
    }

    #[test]
    fn without_modules_there_is_nothing_to_choose() {
        let (_root, snapshots) = snapshots(&[]);
        assert_eq!(chosen(&Offer::All, None, &snapshots), "there are no modules");
        assert_eq!(chosen(&Offer::All, Some("x"), &snapshots), "there is no module `x`; there are none");
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<ModuleName> = (0..30).map(|n| ModuleName::new(&format!("m{n:02}")).unwrap()).collect();
        assert!(listed(&names).ends_with("`m19` or another that `list_modules` gives"));
        assert_eq!(listed(&names[..3]), "`m00`, `m01` or `m02`");
    }
}
