//! What a target is sent for a prompt, and whether its dialect has words for all of it.

use inferometer_wire::request::{self, Ask, Unsayable};
use inferometer_workload::{Item, Prompts};

use crate::{Error, Plan, Target, Workload};

/// Prompts of a workload that are tried before a run; those that a seed makes are all of a kind.
const TRIED_MAX: u64 = 10_000;
/// The same where there is no end of them.
const TRIED_OF_MADE: u64 = 64;

impl Target {
    /// The body of one request: `item` of `workload`, at most `max_tokens` of answer.
    pub fn body(
        &self,
        workload: &Workload,
        item: &Item,
        max_tokens: Option<u32>,
    ) -> Result<Vec<u8>, Unsayable> {
        request::body(&Ask {
            dialect: self.dialect,
            model: &self.model,
            prompt: &item.prompt,
            stream: self.stream,
            max_tokens,
            token_field: self.token_field,
            temperature: Some(workload.temperature),
            include_usage: self.include_usage && self.stream,
            parameters: Some(&item.parameters),
            extra: Some(&self.extra),
        })
    }
}

impl Target {
    /// An error where something that `item` of `workload` asks for cannot be said. What makes an answer right is said of
    /// texts: a vector is none.
    fn say(&self, workload: &Workload, item: &Item) -> Result<(), Unsayable> {
        self.body(workload, item, item.max_tokens.or(workload.max_tokens))?;
        let has_check = workload.check.is_some() || item.grader.is_some();
        if has_check && !self.dialect.generates() {
            return Err(Unsayable { dialect: self.dialect, what: "check".to_owned(), is_missing: false });
        }
        Ok(())
    }
}

impl Plan {
    /// Refuses a plan in which a target's dialect cannot say what a prompt asks for. `prompts` are those of each
    /// workload, in order.
    pub fn check_sayable(&self, prompts: &[Prompts]) -> Result<(), Error> {
        for (workload, prompts) in self.workloads.iter().zip(prompts) {
            for seq in 0..prompts.distinct().unwrap_or(TRIED_OF_MADE).min(TRIED_MAX) {
                let item = prompts.item(seq, seq);
                for target in &self.targets {
                    target.say(workload, &item).map_err(|what| Error::Unsayable {
                        target: target.name.clone(),
                        workload: workload.name.clone(),
                        item: item.id.clone(),
                        what,
                    })?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use inferometer_workload::Cache;

    use super::*;

    #[test]
    fn what_a_dialect_cannot_say_is_an_error_before_the_run() {
        let check = |dialect: &str, kind: &str, right: Option<&str>| {
            let target = format!("[[target]]\nurl = \"http://h\"\nmodel = \"m\"\ndialect = \"{dialect}\"\n");
            let text = format!("{target}[[workload]]\nkind = \"{kind}\"\n");
            let plan = Plan::from_toml(&text, Path::new("p.toml"), |_| None, 1, None).unwrap();
            let prompts = |workload: &Workload| {
                Prompts::prepare(&workload.source, Some(3), 1, "test", Cache::AsIs).unwrap()
            };
            let prompts: Vec<_> = plan.workloads.iter().map(prompts).collect();
            let said = plan.check_sayable(&prompts).map_err(|error| error.to_string());
            assert_eq!(said.err().as_deref(), right, "{dialect} {kind}");
        };
        check("chat", "tools", None);
        check("ollama", "tools", None);
        check("ollama", "extract", None);
        check("completions", "classify", None);
        for dialect in ["azure", "gemini", "responses", "messages"] {
            check(dialect, "tools", None);
            check(dialect, "extract", None);
        }
        check(
            "messages",
            "builtin",
            Some(
                "target m@h, workload builtin, prompt builtin-01: the dialect messages cannot ask without `max_tokens`: give it a value",
            ),
        );
        check("embeddings", "builtin", None);
        check(
            "embeddings\"\nstream = true\nname = \"m@h",
            "builtin",
            Some(
                "target m@h, workload builtin, prompt builtin-01: the dialect embeddings cannot say `stream`: ask without it, or in a dialect that can",
            ),
        );
        for (kind, item, what) in [
            ("tools", "tools-1", "tools"),
            ("extract", "extract-1", "response_format"),
            ("classify", "classify-1", "max_tokens"),
            ("builtin\"\nmax_tokens = 8\nname = \"builtin", "builtin-01", "max_tokens"),
            ("builtin\"\ncheck = \"not_empty\"\nname = \"builtin", "builtin-01", "check"),
        ] {
            let workload = kind.split('"').next().unwrap();
            let place = format!("target m@h, workload {workload}, prompt {item}");
            let error = format!(
                "{place}: the dialect embeddings cannot say `{what}`: ask without it, or in a dialect that can"
            );
            check("embeddings", kind, Some(&error));
        }
        check(
            "completions",
            "tools",
            Some(
                "target m@h, workload tools, prompt tools-1: the dialect completions cannot say `tool_choice`: ask without it, or in a dialect that can",
            ),
        );
    }
}
