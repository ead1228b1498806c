//! What of a run is shown.

use std::path::Path;

use inferometer_metrics::Summary;
use inferometer_record::{Manifest, State};
use serde_json::Value;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By its own stop rule.
    Complete,
    /// By a signal, the report written.
    Interrupted,
    /// Killed: what had reached the disk is all there is.
    Incomplete,
}

/// A recorded run as the report sees it.
#[derive(Clone, Copy, Debug)]
pub struct RunView<'a> {
    /// Every figure.
    pub summary: &'a Summary,
    /// The head of the run's folder: what was planned.
    pub manifest: &'a Manifest,
    /// The run's folder, named at the end of the report.
    pub folder: Option<&'a Path>,
}

impl<'a> RunView<'a> {
    /// A run by its summary, its manifest and the folder where they stand.
    pub fn new(summary: &'a Summary, manifest: &'a Manifest, folder: Option<&'a Path>) -> Self {
        Self { summary, manifest, folder }
    }

    /// How it ended, by the summary.
    pub fn ending(&self) -> Ending {
        match self.summary.state {
            State::Running => Ending::Incomplete,
            State::Interrupted => Ending::Interrupted,
            State::Complete if self.summary.interrupted => Ending::Interrupted,
            State::Complete => Ending::Complete,
        }
    }

    /// The seed that fixed prompts and schedules: `protocol.seed` of the plan.
    pub fn seed(&self) -> Option<u64> {
        self.manifest.plan.pointer("/protocol/seed").and_then(Value::as_u64)
    }

    /// Whether any target's certificates went unchecked: `targets[].insecure` of the plan.
    pub fn is_insecure(&self) -> bool {
        self.targets().any(|target| target.get("insecure").and_then(Value::as_bool) == Some(true))
    }

    /// Whether another tool recorded it: `environment.imported_from` of the manifest.
    pub(crate) fn is_imported(&self) -> bool {
        self.manifest.environment.get("imported_from").is_some_and(|from| !from.is_null())
    }

    /// The targets as planned.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &'a Value> {
        self.manifest.plan.get("targets").and_then(Value::as_array).into_iter().flatten()
    }

    /// Whether the plan has no price for `target`; `None` where the plan does not say.
    pub(crate) fn is_unpriced(&self, target: &str) -> Option<bool> {
        let named = |planned: &&Value| planned.get("name").and_then(Value::as_str) == Some(target);
        self.targets().find(named).map(|planned| planned.get("price").is_none_or(Value::is_null))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(state: State, interrupted: bool, ending: Ending) {
        let summary = Summary { state, interrupted, ..Summary::default() };
        assert_eq!(RunView::new(&summary, &Manifest::default(), None).ending(), ending);
    }

    #[test]
    fn endings() {
        check(State::Complete, false, Ending::Complete);
        check(State::Complete, true, Ending::Interrupted);
        check(State::Interrupted, true, Ending::Interrupted);
        check(State::Running, true, Ending::Incomplete);
    }

    #[test]
    fn the_plan_may_say_anything_or_nothing() {
        let summary = Summary::default();
        let read = |plan: Value| {
            let manifest = Manifest { plan, ..Manifest::default() };
            let view = RunView::new(&summary, &manifest, None);
            (view.seed(), view.is_insecure(), view.is_unpriced("a"))
        };
        let target = |name: &str, insecure: bool, price: Value| json!({"name": name, "insecure": insecure, "price": price});
        let two = json!([target("b", false, Value::Null), target("a", true, json!("input=3"))]);
        assert_eq!(read(json!({"protocol": {"seed": 7}, "targets": two})), (Some(7), true, Some(false)));
        assert_eq!(read(json!({"targets": [target("a", false, Value::Null)]})), (None, false, Some(true)));
        for odd in
            [Value::Null, json!([]), json!({"protocol": 3, "targets": "a"}), json!({"targets": [1, null]})]
        {
            assert_eq!(read(odd), (None, false, None));
        }
    }
}
