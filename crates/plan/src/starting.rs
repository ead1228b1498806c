//! The plan that `init` writes: what the environment has keys for, with what else a plan can say beside it as comments.

use std::fmt::Write as _;

use crate::{Preset, presets};

/// Stands for a model's name until somebody writes it there.
const MODEL: &str = "NAME-THE-MODEL";

const HEAD: &str = "\
# What is measured, and what is to be decided. Try it without sending anything:
#
#   inferometer run plan.toml --dry-run
#
# Every key is in docs/plan.md. Keys of providers stay in the environment: this file only names their variables.

";

const TARGET_OPTIONS: &str = "\
# name = \"a name of your own\"         # default: model@host
# price = \"input=0.5,output=1.5\"       # US dollars per million tokens; without one there is no cost
# region = \"eu\"                        # what the provider declares
# concurrency_limit = 8                # at most so many requests in flight
# extra = { reasoning_effort = \"low\" } # merged into every request
";

const REST: &str = r#"# What is asked: chat, chat-long, rag, summarise, extract, reason, code, tools, classify, each with checks that decide
# whether an answer is useful; or dataset = "prompts.jsonl"; or generated text, as isl = 500 with max_tokens = 200.
[[workload]]
kind = "chat"

# How it is asked: one request at a time, so that each prompt pairs the targets. concurrency = [1, 4, 16] measures the
# curve, request_rate = 5 an open load: with interleave = "together", or long enough for five slices of each target.
[load]
concurrency = 1
# coldstart = { gap = "60s", episodes = 5 }
# burst = { size = 20, rest = "30s", episodes = 5 }

# Targets take turns, in blocks with the same prompts. 100 trials tell a p95 to a factor; --dry-run says what they
# cannot prove.
[protocol]
trials = 100
# interleave = "together"              # ask all targets at once, where they share nothing
# precision = "10%"                    # stop once the median TTFT is known to 10 %
# fail_if = ["error_rate>2%"]          # exit 4 where this is so

# What is to be decided: chat, rag, batch, production, agent. Limits replace the profile's own on the same figure.
[profile.chat]
ttft_p95 = "2s"
error_rate = "2%"

# What the run may use up.
[budget]
time = "30m"
# money = 1                            # US dollars; needs a price for each target
"#;

/// A first plan, with a target for each provider whose key `env` holds; without one, for a server on this machine.
pub fn starting_plan(env: impl Fn(&str) -> Option<String>) -> String {
    let mut text = HEAD.to_string();
    let found = found_in(env);
    for preset in &found {
        let key = preset.key_env.as_deref().unwrap_or_default();
        let _ = write!(
            text,
            "[[target]]\nprovider = \"{}\"       # asked at {}, with the key in {key}\n",
            preset.name, preset.url
        );
        for (name, link) in
            [("terms", &preset.terms), ("retention", &preset.retention), ("kept warm", &preset.warm)]
        {
            let _ = link.iter().try_for_each(|link| writeln!(text, "# {name}: {link}"));
        }
        let _ = writeln!(text, "model = \"{MODEL}\"");
        text.push_str(if text.contains(TARGET_OPTIONS) { "\n" } else { TARGET_OPTIONS });
        text.push_str(if text.ends_with("\n\n") { "" } else { "\n" });
    }
    if found.is_empty() {
        let _ = write!(
            text,
            "# No provider's key was found in the environment: this asks a server on this machine.\n\
             [[target]]\nurl = \"http://127.0.0.1:8000/v1\"\nmodel = \"{MODEL}\"\n# api_key_env = \"MY_KEY\"\n{TARGET_OPTIONS}\n"
        );
    }
    text.push_str(REST);
    text
}

/// A plan whose targets are written already.
pub(crate) fn around(targets: &str) -> String {
    format!("{HEAD}{targets}{REST}")
}

/// The providers whose keys `env` holds, and what else their addresses need.
pub fn found_in(env: impl Fn(&str) -> Option<String>) -> Vec<&'static Preset> {
    presets().iter().filter(|preset| preset.is_ready(&env)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Plan;

    /// The starting plan where these variables are set is a plan with these targets, and says no key.
    fn check(variables: &[&str], targets: &[&str]) {
        let env = |name: &str| variables.contains(&name).then(|| "sk-s3cr3t-key".to_string());
        let text = starting_plan(env);
        let plan = Plan::from_toml(&text, Path::new("plan.toml"), env, 1, None);
        let plan = plan.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let providers: Vec<&str> = plan.targets.iter().map(|target| target.provider.as_str()).collect();
        assert_eq!(providers, targets);
        assert!(!text.contains("s3cr3t"));
        assert_eq!(plan.profiles.len(), 1);
        let plain = text.lines().map(uncommented).collect::<Vec<_>>().join("\n");
        let priced = Plan::from_toml(&plain, Path::new("plan.toml"), |_| Some("sk-s3cr3t".into()), 1, None);
        assert!(targets.len() > 1 || priced.is_ok(), "{}\n{plain}", priced.unwrap_err());
    }

    /// A line with the key that stands in its comment.
    fn uncommented(line: &str) -> &str {
        let bare = line.strip_prefix("# ").unwrap_or(line);
        let is_key = bare
            .split(" = ")
            .next()
            .is_some_and(|key| key.len() > 2 && key.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        if is_key && bare.contains(" = ") { bare } else { line }
    }

    #[test]
    fn where_terms_are_to_be_read() {
        let text = starting_plan(|name| (name == "OPENAI_API_KEY").then(|| "k".to_owned()));
        for line in ["# terms: https://openai.com/", "# retention: https://", "# kept warm: https://"] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }

    #[test]
    fn a_starting_plan_is_a_plan() {
        check(&[], &["127.0.0.1:8000"]);
        check(&["GROQ_API_KEY"], &["groq"]);
        check(&["OPENAI_API_KEY", "GROQ_API_KEY", "PATH"], &["groq", "openai"]);
    }
}
