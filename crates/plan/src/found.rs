//! Targets that were found, written as a plan's tables: what `discover` adds.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use toml::{Table, Value};

use crate::starting::around;

/// A target that can be asked, with what is declared of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundTarget {
    /// A name of its own, where provider and model do not tell it from others.
    pub name: Option<String>,
    /// A preset's name.
    pub provider: Option<String>,
    /// The address, where there is no preset.
    pub url: Option<String>,
    /// How it speaks, where that is neither chat nor what the preset says.
    pub dialect: Option<String>,
    /// The variable that holds its key, where there is no preset.
    pub api_key_env: Option<String>,
    /// The model, as the provider calls it.
    pub model: String,
    /// OpenRouter's tag of the one provider behind it that is to be asked.
    pub pinned: Option<String>,
    /// As a plan's `price`.
    pub price: Option<String>,
    /// Precision of the weights.
    pub precision: Option<String>,
    /// Where it is served.
    pub region: Option<String>,
    /// When and how it was found: a comment of one line.
    pub comment: String,
}

/// `plan`, or a first one where there is none, with those of `found` that it does not have yet, and how many they are.
/// The error says what is wrong with the plan.
pub fn with_found(plan: Option<&str>, found: &[FoundTarget]) -> Result<(String, usize), String> {
    let known = plan.map_or(Ok(BTreeSet::new()), known)?;
    let new: Vec<_> = found.iter().filter(|found| !known.contains(&found.key())).collect();
    let tables: String = new.iter().map(|found| found.table()).collect();
    let text = match plan {
        Some(plan) if new.is_empty() => plan.to_owned(),
        Some(plan) => format!("{}\n\n{}\n", plan.trim_end(), tables.trim_end()),
        None => around(&tables),
    };
    Ok((text, new.len()))
}

/// What each target of a plan may be known by, with its model.
fn known(plan: &str) -> Result<BTreeSet<(String, String)>, String> {
    let plan: Table = plan.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    let targets = plan.get("target").and_then(Value::as_array).into_iter().flatten();
    let text = |target: &Value, key: &str| target.get(key).and_then(Value::as_str).map(str::to_owned);
    let keys = |target: &Value| {
        let model = text(target, "model").unwrap_or_default();
        let names = ["name", "provider", "url"].into_iter().filter_map(|key| text(target, key));
        names.map(|name| (name, model.clone())).collect::<Vec<_>>()
    };
    Ok(targets.flat_map(keys).collect())
}

impl FoundTarget {
    fn key(&self) -> (String, String) {
        let place = self.name.as_ref().or(self.provider.as_ref()).or(self.url.as_ref());
        (place.cloned().unwrap_or_default(), self.model.clone())
    }

    fn table(&self) -> String {
        let comment: Vec<_> = self.comment.split_whitespace().collect();
        let mut text = format!("[[target]]\n# {}\n", comment.join(" "));
        let fields = [
            ("name", self.name.as_deref()),
            ("provider", self.provider.as_deref()),
            ("url", self.url.as_deref()),
            ("dialect", self.dialect.as_deref()),
            ("api_key_env", self.api_key_env.as_deref()),
            ("model", Some(self.model.as_str())),
            ("price", self.price.as_deref()),
            ("precision", self.precision.as_deref()),
            ("region", self.region.as_deref()),
        ];
        for (key, value) in fields.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            let _ = writeln!(text, "{key} = {}", Value::from(value));
        }
        if let Some(tag) = &self.pinned {
            let tag = Value::from(tag.as_str());
            let _ = writeln!(text, "extra = {{ provider = {{ only = [{tag}], allow_fallbacks = false }} }}");
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Plan;

    fn found(provider: &str, model: &str) -> FoundTarget {
        FoundTarget {
            provider: Some(provider.to_owned()),
            model: model.to_owned(),
            comment: "found on 2026-12-01:\n callable".to_owned(),
            ..FoundTarget::default()
        }
    }

    #[test]
    fn a_plan_is_begun_and_takes_each_target_once() {
        let offer = FoundTarget {
            name: Some("m\"x@openrouter/alpha".to_owned()),
            pinned: Some("alpha/fp8".to_owned()),
            price: Some("input=0.1,output=0.5".to_owned()),
            precision: Some("fp8".to_owned()),
            ..found("openrouter", "maker/m")
        };
        let all = [found("groq", "m"), offer];
        let (plan, new) = with_found(None, &all).unwrap();
        assert_eq!(new, 2);
        let read = Plan::from_toml(&plan, Path::new("p.toml"), |_| Some("key".to_owned()), 1, None).unwrap();
        assert_eq!(read.targets.len(), 2);
        assert_eq!(read.targets[1].name, "m\"x@openrouter/alpha");
        assert_eq!(read.targets[1].extra["provider"]["only"][0], "alpha/fp8");
        assert_eq!(read.targets[1].declared.precision.as_deref(), Some("fp8"));
        assert!(plan.contains("# found on 2026-12-01: callable\n"));
        let (again, new) = with_found(Some(&plan), &all).unwrap();
        assert_eq!((again, new), (plan.clone(), 0));
        let (more, new) = with_found(Some(&plan), &[found("groq", "n")]).unwrap();
        assert_eq!((more.matches("[[target]]").count(), new), (3, 1));
        assert!(more.starts_with(plan.trim_end()));
    }

    #[test]
    fn what_is_no_plan_is_left_alone() {
        assert!(with_found(Some("[[target"), &[found("groq", "m")]).is_err());
    }
}
