//! Azure OpenAI: chat at a deployment, with what its filters say among the events.

use inferometer_wire::{Auth, Dialect, endpoint, models_address};

use crate::common::{A, DONE, STOP, Scenario, USAGE, events};

#[test]
fn what_filters_say_is_no_output() {
    let prompt = r#"{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false}}}]}"#;
    let offsets = r#"{"choices":[{"index":0,"finish_reason":null,"content_filter_results":{},"content_filter_offsets":{"check_offset":4}}]}"#;
    let azure = |data: &[&str]| Scenario { dialect: Dialect::Azure, ..events(data) };
    let answer = azure(&[prompt, A, offsets, STOP, USAGE, DONE]).check("a1", "complete", "");
    assert_eq!(answer.usage.unwrap().output, Some(5));
    let filtered = STOP.replace("stop", "content_filter");
    azure(&[prompt, A, &filtered, DONE]).check("a1", "complete", "content_filtered");
    let refused = r#"{"error":{"message":"The response was filtered","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#;
    let refused = Scenario { status: 400, body: refused.into(), ..azure(&[]) };
    refused.check("", "http_error content_filter The response was filtered", "");
}

#[test]
fn where_it_is_asked() {
    let check = |base: &str, right: &str| {
        assert_eq!(endpoint(base, Dialect::Azure, "my gpt", true).as_deref(), Ok(right), "{base}");
    };
    let path = "https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions";
    check("https://r.openai.azure.com", &format!("{path}?api-version=2024-10-21"));
    check(
        "https://r.openai.azure.com/?api-version=2025-04-01-preview",
        &format!("{path}?api-version=2025-04-01-preview"),
    );
    check(&format!("{path}?api-version=x"), &format!("{path}?api-version=x"));
    for base in ["openai", "openai/", "openai/deployments/other", "openai/deployments/other/chat/completions"]
    {
        check(&format!("https://r.openai.azure.com/{base}"), &format!("{path}?api-version=2024-10-21"));
    }
    let models = models_address(&format!("{path}?api-version=x"), Dialect::Azure);
    assert_eq!(models.as_deref(), Some("https://r.openai.azure.com/openai/models?api-version=x"));
    assert_eq!(Dialect::Azure.auth(), Auth::Header("api-key"));
}
