//! Amazon Bedrock's Converse: `POST /model/MODEL/converse-stream` and `…/converse`, binary messages in a stream (W89).
//!
//! A signature is not verified: of a signed request the access key must be the one that is asked for.

mod events;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Address, Refused, SIGNATURE, Speak, Writer, conversation, object, segment};
use crate::ask::Wishes;
use crate::chunk::{Facts, Usage, Whole};
use crate::http::Head;
use crate::limit::Level;
use crate::reply::Sheet;

/// The dialect.
#[derive(Debug)]
pub(super) struct Bedrock;

impl Speak for Bedrock {
    fn hears(&self, at: Address) -> bool {
        call(at).is_some()
    }

    fn shows(&self, head: &Head, key: &str) -> bool {
        let signed = head.header("authorization").and_then(|value| value.strip_prefix("AWS4-HMAC-SHA256 "));
        let credential =
            signed.and_then(|parts| parts.split(", ").find_map(|part| part.strip_prefix("Credential=")));
        let access_key = credential.and_then(|scope| scope.split('/').next());
        head.bearer().or(access_key) == Some(key)
    }

    fn read(&self, at: Address, body: &[u8]) -> Result<Wishes, Refused> {
        let (model, stream) = call(at).unwrap_or_default();
        let body: Body = serde_json::from_slice(body)?;
        let messages = body.messages.ok_or_else(|| Refused::invalid("messages: this field is required"))?;
        Ok(Wishes {
            model: segment(model),
            stream,
            max_tokens: body.inference_config.and_then(|config| config.max_tokens),
            include_usage: true,
            ..Wishes::of(&[body.system.map_or("", RawValue::get), messages.get()])
        })
    }

    fn prompt_text(&self, body: &Value) -> String {
        conversation(body)
    }

    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(events::Events::new(facts))
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        let mut content = Vec::new();
        if !whole.reasoning.is_empty() {
            let text = &whole.reasoning;
            content.push(format!(
                r#"{{"reasoningContent":{{"reasoningText":{{"signature":"{SIGNATURE}","text":"{text}"}}}}}}"#
            ));
        }
        if !whole.content.is_empty() {
            content.push(format!(r#"{{"text":"{}"}}"#, whole.content));
        }
        if let Some((name, arguments)) = &whole.call {
            let input = object(arguments);
            content.push(format!(
                r#"{{"toolUse":{{"input":{input},"name":"{name}","toolUseId":"{TOOL_USE}"}}}}"#
            ));
        }
        let (content, usage) = (content.join(","), whole.usage.unwrap_or(facts.usage));
        let reason = stop_reason(whole.finish.as_deref().unwrap_or("stop"));
        let output = format!(r#"{{"message":{{"content":[{content}],"role":"assistant"}}}}"#);
        let (metrics, usage) = (metrics(facts, usage), usage_of(usage));
        format!(r#"{{"metrics":{metrics},"output":{output},"stopReason":"{reason}","usage":{usage}}}"#)
            .into_bytes()
    }

    fn error(&self, status: u16, _: &str, message: &str) -> Sheet {
        let kind = format!("{}:http://internal.amazon.com/coral/com.amazon.bedrock/", error_type(status));
        let body = serde_json::json!({"message": message}).to_string();
        Sheet::json(status, body).header("x-amzn-errortype", &kind)
    }

    fn content_type(&self) -> &'static str {
        "application/vnd.amazon.eventstream"
    }

    fn request_id_header(&self) -> &'static str {
        "x-amzn-requestid"
    }

    /// None: a limit shows only when it is reached.
    fn limit_headers(&self, _: Level) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// The name of the one call.
const TOOL_USE: &str = "tooluse_sim";

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default, borrow)]
    messages: Option<&'a RawValue>,
    #[serde(default, borrow)]
    system: Option<&'a RawValue>,
    #[serde(default, rename = "inferenceConfig")]
    inference_config: Option<InferenceConfig>,
}

#[derive(Deserialize)]
struct InferenceConfig {
    #[serde(default, rename = "maxTokens")]
    max_tokens: Option<u32>,
}

/// The model that an address names, and whether it is to stream.
fn call(at: Address<'_>) -> Option<(&str, bool)> {
    let (model, method) = at.path.strip_prefix("/model/")?.split_once('/')?;
    let stream = match method {
        "converse" => false,
        "converse-stream" => true,
        _ => return None,
    };
    (!model.is_empty()).then_some((model, stream))
}

/// Amazon's name of an HTTP status.
const fn error_type(status: u16) -> &'static str {
    match status {
        401 => "UnrecognizedClientException",
        403 => "AccessDeniedException",
        404 | 405 => "ResourceNotFoundException",
        408 => "ModelTimeoutException",
        424 => "ModelErrorException",
        429 => "ThrottlingException",
        503 => "ServiceUnavailableException",
        400..=499 => "ValidationException",
        _ => "InternalServerException",
    }
}

fn stop_reason(finish: &str) -> &'static str {
    match finish {
        "length" => "max_tokens",
        "tool_calls" => "tool_use",
        "content_filter" => "guardrail_intervened",
        _ => "end_turn",
    }
}

/// A usage object: input that was read from a cache is not among `inputTokens`, and is in the total.
fn usage_of(usage: Usage) -> String {
    let cached = usage.cached.unwrap_or(0);
    let (input, output) = (usage.prompt.saturating_sub(cached), usage.completion);
    let total = usage.prompt.saturating_add(output);
    format!(
        r#"{{"cacheReadInputTokens":{cached},"cacheWriteInputTokens":0,"inputTokens":{input},"outputTokens":{output},"totalTokens":{total}}}"#
    )
}

fn metrics(facts: Facts, usage: Usage) -> String {
    let total_ns = facts.first_ns as f64 + facts.token_ns * usage.completion as f64;
    format!(r#"{{"latencyMs":{}}}"#, (total_ns / 1e6) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, whole};
    use super::*;

    const CONVERSE: Address<'_> = Address { path: "/model/m%3A0/converse", query: "" };

    #[test]
    fn whole_answers_and_errors() {
        assert_eq!(
            whole(&Bedrock, false),
            r#"{"metrics":{"latencyMs":100},"output":{"message":{"content":[{"reasoningContent":{"reasoningText":{"signature":"c2lt","text":" so"}}},{"text":" a\"b"}],"role":"assistant"}},"stopReason":"end_turn","usage":{"cacheReadInputTokens":3,"cacheWriteInputTokens":0,"inputTokens":4,"outputTokens":5,"totalTokens":12}}"#
        );
        let body: Value = serde_json::from_str(&whole(&Bedrock, true)).unwrap();
        let call = &body["output"]["message"]["content"][0]["toolUse"];
        assert_eq!((&call["input"]["a"], &body["stopReason"]), (&1.into(), &"tool_use".into()));
        assert_eq!(error(&Bedrock, 429, "rate_limit_exceeded"), r#"{"message":"why"}"#);
        let headers = Bedrock.error(429, "", "").headers;
        assert!(headers.iter().any(|(name, value)| {
            name == "x-amzn-errortype" && value.starts_with("ThrottlingException:")
        }));
    }

    #[test]
    fn requests_are_read() {
        let body = r#"{"messages":[{"role":"user","content":[{"text":"b c"}]}],"system":[{"text":"a"}],"inferenceConfig":{"maxTokens":9}}"#;
        let wishes = Bedrock.read(CONVERSE, body.as_bytes()).unwrap();
        assert_eq!((wishes.model.as_str(), wishes.stream, wishes.max_tokens), ("m:0", false, Some(9)));
        let stream = Address { path: "/model/m/converse-stream", query: "" };
        assert!(Bedrock.read(stream, body.as_bytes()).unwrap().stream);
        assert_eq!(Bedrock.prompt_text(&serde_json::from_str(body).unwrap()), "a\n\nb c");
        assert_eq!(Bedrock.read(CONVERSE, b"{}").unwrap_err().status, 400);
        for path in ["/model/m/invoke", "/model//converse", "/v1/model/m/converse"] {
            assert!(!Bedrock.hears(Address { path, query: "" }), "{path}");
        }
    }
}
