//! Switches that disable one hand-written rule, to measure its effect: `scripts/ablation`.
//!
//! Only builds with the feature `ablation` have them. In others, a rule is just its condition.

use std::fmt::Debug;

#[cfg(feature = "ablation")]
pub(crate) use switched::{off, take_fired, turn_off};

/// The condition of a rule; false if the rule is switched off.
#[cfg(not(feature = "ablation"))]
#[inline]
pub(crate) const fn holds(_: &'static str, condition: bool) -> bool {
    condition
}

/// See the other `holds`.
#[cfg(feature = "ablation")]
pub(crate) fn holds(rule: &'static str, condition: bool) -> bool {
    condition && switched::fire(rule)
}

/// What a rule finds; `None` if the rule is switched off.
#[inline]
pub(crate) fn found<T>(rule: &'static str, found: Option<T>) -> Option<T> {
    found.filter(|_| holds(rule, true))
}

/// The value after a rule; the value before it if the rule is switched off.
#[inline]
pub(crate) fn made<T: PartialEq>(rule: &'static str, before: T, after: T) -> T {
    if before == after || holds(rule, true) { after } else { before }
}

/// Applies a rule to a value; leaves the value unchanged if the rule is switched off.
#[cfg(not(feature = "ablation"))]
#[inline]
pub(crate) fn pass<T: Clone + PartialEq>(_: &'static str, value: &mut T, rule: impl FnOnce(&mut T)) {
    rule(value);
}

/// See the other `pass`.
#[cfg(feature = "ablation")]
pub(crate) fn pass<T: Clone + PartialEq>(name: &'static str, value: &mut T, rule: impl FnOnce(&mut T)) {
    let before = value.clone();
    rule(value);
    if *value != before && !switched::fire(name) {
        *value = before;
    }
}

/// True for an entry of a language pack; false if the entries of its role are switched off.
#[cfg(not(feature = "ablation"))]
#[inline]
pub(crate) const fn admits<R: Debug>(_: &'static str, _: &R) -> bool {
    true
}

/// See the other `admits`.
#[cfg(feature = "ablation")]
pub(crate) fn admits<R: Debug>(list: &'static str, role: &R) -> bool {
    switched::fire(switched::named(list, role))
}

#[cfg(feature = "ablation")]
mod switched {
    use std::{
        env,
        fmt::Debug,
        hash::{BuildHasher, BuildHasherDefault},
        mem::discriminant,
        sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    };

    use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

    /// The rule that is switched off, and the rules whose condition was true since they were last taken.
    #[derive(Default)]
    struct AblationState {
        off: Option<String>,
        fired: FxHashSet<&'static str>,
        /// By list and role.
        names: FxHashMap<(usize, u64), &'static str>,
    }

    static STATE: LazyLock<Mutex<AblationState>> = LazyLock::new(Mutex::default);

    /// Rules that are always off: several at once, to see how the others do without them.
    static ALWAYS_OFF: LazyLock<Vec<String>> = LazyLock::new(|| {
        let names = env::var("UPTAKE_ABLATION_OFF").unwrap_or_default();
        names.split(',').map(str::to_owned).collect()
    });

    fn state() -> MutexGuard<'static, AblationState> {
        STATE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn fire(rule: &'static str) -> bool {
        let mut state = state();
        state.fired.insert(rule);
        state.off.as_deref() != Some(rule) && !ALWAYS_OFF.iter().any(|off| off == rule)
    }

    pub(super) fn named<R: Debug>(list: &'static str, role: &R) -> &'static str {
        let hasher = BuildHasherDefault::<FxHasher>::default();
        let key = (list.as_ptr() as usize, hasher.hash_one(discriminant(role)));
        state().names.entry(key).or_insert_with(|| format!("{list}.{role:?}").leak())
    }

    /// Switches this rule off, and all others on.
    pub(crate) fn turn_off(rule: Option<&str>) {
        state().off = rule.map(str::to_owned);
    }

    /// The rule that is switched off.
    pub(crate) fn off() -> Option<String> {
        state().off.clone()
    }

    /// The rules whose condition was true since the last call, sorted by name.
    pub(crate) fn take_fired() -> Vec<&'static str> {
        let mut fired: Vec<&'static str> = std::mem::take(&mut state().fired).into_iter().collect();
        fired.sort_unstable();
        fired.dedup();
        fired
    }
}
