//! Azure OpenAI: chat's words at a deployment's address, with the results of its filters among them (W21):
//! `POST /openai/deployments/{deployment}/chat/completions?api-version=…`, the key in `api-key`.

use serde_json::Value;

use super::chat::Chat;
use super::{Address, Refused, Speak, Writer, parameter, segment};
use crate::ask::Wishes;
use crate::chunk::{Facts, Say, Whole};
use crate::http::Head;
use crate::reply::Sheet;

/// The dialect.
#[derive(Debug)]
pub(super) struct Azure;

impl Speak for Azure {
    fn hears(&self, at: Address) -> bool {
        deployment(at).is_some()
    }

    fn shows(&self, head: &Head, key: &str) -> bool {
        head.header("api-key") == Some(key)
    }

    fn read(&self, at: Address, body: &[u8]) -> Result<Wishes, Refused> {
        if parameter(at.query, "api-version").is_none_or(str::is_empty) {
            return Err(Refused { status: 404, code: "404", message: "Resource not found".into() });
        }
        let model = deployment(at).map(segment).unwrap_or_default();
        Ok(Wishes { model, ..Chat.read(at, body)? })
    }

    fn prompt_text(&self, body: &Value) -> String {
        Chat.prompt_text(body)
    }

    fn writer<'a>(&self, facts: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(Events { chat: Chat.writer(facts), opened: false })
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        let mut body = filtered(Chat.whole(whole, facts), SAFE);
        body.pop();
        body.extend_from_slice(format!(",{}}}", prompt_filter()).as_bytes());
        body
    }

    fn broken(&self) -> Vec<u8> {
        Chat.broken()
    }

    fn error(&self, status: u16, code: &str, message: &str) -> Sheet {
        let status_code = status.to_string();
        let code = if code == "model_not_found" { "DeploymentNotFound" } else { &status_code };
        Sheet::json(status, serde_json::json!({"error": {"code": code, "message": message}}).to_string())
    }
}

/// What a filter says that has found nothing.
const SAFE: &str = r#"{"hate":{"filtered":false,"severity":"safe"},"self_harm":{"filtered":false,"severity":"safe"},"sexual":{"filtered":false,"severity":"safe"},"violence":{"filtered":false,"severity":"safe"}}"#;

/// Stands before the fields of the only choice.
const CHOICE: &[u8] = b"\"choices\":[{";

/// The deployment that an address names.
fn deployment(at: Address<'_>) -> Option<&str> {
    let name = at.path.strip_prefix("/openai/deployments/")?.strip_suffix("/chat/completions")?;
    (!name.is_empty() && !name.contains('/')).then_some(name)
}

fn prompt_filter() -> String {
    format!(r#""prompt_filter_results":[{{"prompt_index":0,"content_filter_results":{SAFE}}}]"#)
}

/// `body` with `results` in its choice, where it has one.
fn filtered(body: Vec<u8>, results: &str) -> Vec<u8> {
    let Some(at) = body.windows(CHOICE.len()).position(|window| window == CHOICE) else { return body };
    let (before, behind) = body.split_at(at + CHOICE.len());
    [before, format!(r#""content_filter_results":{results},"#).as_bytes(), behind].concat()
}

/// An answer's events: the first tells what the filter says to the prompt.
struct Events<'a> {
    chat: Box<dyn Writer + 'a>,
    opened: bool,
}

impl Writer for Events<'_> {
    fn event(&mut self, say: Say) -> Vec<u8> {
        let body = self.chat.event(say);
        let Say::Chunk(chunk) = say else { return body };
        let body = filtered(body, if chunk.content.is_some() { SAFE } else { "{}" });
        if std::mem::replace(&mut self.opened, true) {
            return body;
        }
        let first = prompt_filter();
        let first = format!(
            "data: {{\"choices\":[],\"created\":0,\"id\":\"\",\"model\":\"\",\"object\":\"\",{first}}}\n\n"
        );
        [first.as_bytes(), &body].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{answer, error, events, tool_call, whole};
    use super::*;

    #[test]
    fn filters_speak_before_and_in_each_choice() {
        let told = events(&Azure, &answer("stop"));
        let (first, role) = told[0].split_once("\n\n").unwrap();
        assert!(
            first.starts_with(r#"data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":"#),
            "{first}"
        );
        assert!(
            role.contains(r#""choices":[{"content_filter_results":{},"index":0,"delta":{"role":"#),
            "{role}"
        );
        let text =
            format!(r#""choices":[{{"content_filter_results":{SAFE},"index":0,"delta":{{"content":" a"}}"#);
        assert!(told[2].contains(&text), "{}", told[2]);
        assert!(told[5].contains(r#""choices":[],"usage":{"prompt_tokens":7,"#), "{}", told[5]);
        assert_eq!(told[6], "data: [DONE]\n\n");
        assert!(events(&Azure, &tool_call())[1].contains(r#""function":{"name":"f","arguments":""}"#));
    }

    #[test]
    fn whole_answers_and_errors() {
        let body: Value = serde_json::from_str(&whole(&Azure, false)).unwrap();
        assert_eq!(body["choices"][0]["message"]["content"], " a\"b");
        assert_eq!(body["choices"][0]["content_filter_results"]["hate"]["severity"], "safe");
        assert_eq!(body["prompt_filter_results"][0]["prompt_index"], 0);
        assert_eq!(error(&Azure, 429, "rate_limit_exceeded"), r#"{"error":{"code":"429","message":"why"}}"#);
        assert!(error(&Azure, 404, "model_not_found").contains("DeploymentNotFound"));
    }

    #[test]
    fn the_deployment_is_the_model_and_the_version_is_needed() {
        let at = |query| Address { path: "/openai/deployments/a%20b/chat/completions", query };
        assert!(Azure.hears(at("")));
        for path in ["/openai/deployments//chat/completions", "/openai/deployments/a/completions"] {
            assert!(!Azure.hears(Address { path, query: "" }), "{path}");
        }
        let body = br#"{"model":"other","messages":[]}"#;
        assert_eq!(Azure.read(at("api-version=1"), body).unwrap().model, "a b");
        assert_eq!(Azure.read(at("api-version="), body).unwrap_err().status, 404);
    }
}
