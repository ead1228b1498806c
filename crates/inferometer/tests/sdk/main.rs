//! The official SDKs are content with what the simulator sends: clients made by others prove its dialects.
//!
//! `scripts/sdks install` brings them; without them the test says that it was skipped.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use inferometer_sim::{Config, Server};
use inferometer_workload::{Cache, Prompts, Shipped, Source};
use serde_json::{Value, json};

/// Salad for `sim`, right calls for `tools`, and one that fails in the middle.
const SIM: &str = r#"
[[model]]
name = "sim"
ttft = "1ms"
rate = "flood"

[[model]]
name = "tools"
ttft = "1ms"
rate = "flood"
tasks = { kinds = ["tools"], seed = 7 }

[[model]]
name = "failing:0"
ttft = "1ms"
rate = "flood"
fault = [{ kind = "stream_error", share = 1, after_tokens = 3 }]
"#;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Python that has the SDKs, or why there is none.
fn python() -> Result<String, String> {
    let checked = Command::new(root().join("scripts/sdks")).arg("check").output();
    let checked = checked.map_err(|error| format!("scripts/sdks cannot be started (Python 3?): {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if checked.status.success() { Ok(text(&checked.stdout)) } else { Err(text(&checked.stderr)) }
}

/// What the SDK of a dialect saw.
fn seen(python: &str, sdk: &str, base: &str, asked: &Value) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk/ask.py");
    let mut command = Command::new(python);
    command.arg(script).args([sdk, base]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Nothing of this goes out of the machine.
    command.env("NO_PROXY", "127.0.0.1").env_remove("GOOGLE_API_KEY");
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(asked.to_string().as_bytes()).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{sdk}: {}", String::from_utf8_lossy(&ended.stderr));
    serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{sdk}: {:?}", ended.stdout))
}

#[test]
fn the_official_sdks_are_content() {
    let python = match python() {
        Ok(python) => python,
        Err(reason) => return println!("skipped: the official SDKs: {reason}"),
    };
    let sim = Server::start(Config::from_toml(SIM).unwrap()).unwrap();
    let base = sim.base_url();
    let base = base.trim_end_matches("/v1");
    let source = Source::Shipped { kind: Shipped::Tools, input: None, output: None };
    let item = Prompts::prepare(&source, Some(1), 7, "sdk", Cache::AsIs).unwrap().item(0, 0);
    let asked = json!({
        "prompt": "Say something.", "tool_prompt": item.prompt.text(), "tools": item.parameters["tools"],
    });
    let mut texts = Vec::new();
    for (sdk, finish) in [
        ("chat", "length"),
        ("responses", "max_output_tokens"),
        ("messages", "max_tokens"),
        ("gemini", "MAX_TOKENS"),
        ("bedrock", "max_tokens"),
    ] {
        let seen = seen(&python, sdk, base, &asked);
        assert_eq!(
            (&seen["finish"], &seen["output"], &seen["error"]),
            (&finish.into(), &6.into(), &404.into()),
            "{sdk}: {seen}"
        );
        assert_eq!(seen["text"], seen["whole"], "{sdk}: {seen}");
        texts.push((seen["text"].clone(), seen["call"].clone()));
    }
    let vectors = seen(&python, "embeddings", base, &asked);
    let right = json!({
        "dimensions": [64, 6, 6], "alike": true, "packed": 64, "indices": [0, 1], "tokens": [2, 2], "error": 404,
    });
    assert_eq!(vectors, right);
    // The same model says the same and calls the same, in whatever dialect.
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]), "{texts:#?}");
    assert!(texts[0].1[1].is_object(), "{texts:#?}");
}
