//! OpenAI's embeddings: `POST /v1/embeddings`. An answer is there when the prompt has been read: nothing is generated.

use std::borrow::Cow;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::chat::{Chat, STOPPED};
use super::{Address, Refused, Speak, Writer, text_of};
use crate::ask::Wishes;
use crate::chunk::{Facts, Say, Whole};
use crate::reply::Sheet;
use crate::vectors::{COUNT_MAX, DIMENSIONS, DIMENSIONS_MAX, Wanted};

/// The dialect.
#[derive(Debug)]
pub(super) struct Embeddings;

impl Speak for Embeddings {
    fn hears(&self, at: Address) -> bool {
        at.path == "/v1/embeddings"
    }

    fn read(&self, _: Address, body: &[u8]) -> Result<Wishes, Refused> {
        let body: Body = serde_json::from_slice(body)?;
        let input = body.input.ok_or_else(|| Refused::invalid("`input` is missing"))?;
        let wanted = Wanted {
            count: count(&serde_json::from_str(input.get())?)?,
            dimensions: body.dimensions.unwrap_or(DIMENSIONS),
            base64: match body.encoding_format.as_deref() {
                None | Some("float") => false,
                Some("base64") => true,
                Some(other) => {
                    return Err(Refused::invalid(format!(
                        "`encoding_format` is float or base64, not {other}"
                    )));
                }
            },
        };
        if !(1..=DIMENSIONS_MAX).contains(&wanted.dimensions) {
            return Err(Refused::invalid(format!("`dimensions` is a number from 1 to {DIMENSIONS_MAX}")));
        }
        Ok(Wishes {
            model: body.model.unwrap_or_default().into_owned(),
            vectors: Some(wanted),
            ..Wishes::of(&[input.get()])
        })
    }

    fn prompt_text(&self, body: &Value) -> String {
        body.get("input").map(text_of).unwrap_or_default()
    }

    fn writer<'a>(&self, _: Facts<'a>) -> Box<dyn Writer + 'a> {
        Box::new(Nothing)
    }

    fn whole(&self, whole: &Whole, facts: Facts) -> Vec<u8> {
        let mut out = String::from(r#"{"object":"list","data":["#);
        let vectors = whole.vectors.as_ref();
        let is_base64 = vectors.is_some_and(|vectors| vectors.base64);
        for (index, vector) in vectors.iter().flat_map(|vectors| &vectors.vectors).enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let embedding = if is_base64 { base64(vector) } else { list(vector) };
            let _ = write!(out, r#"{comma}{{"object":"embedding","index":{index},"embedding":{embedding}}}"#);
        }
        let prompt = whole.usage.unwrap_or(facts.usage).prompt;
        let model = facts.model;
        let _ = write!(
            out,
            r#"],"model":{model},"usage":{{"prompt_tokens":{prompt},"total_tokens":{prompt}}}}}"#
        );
        out.into_bytes()
    }

    fn broken(&self) -> Vec<u8> {
        STOPPED.into()
    }

    fn error(&self, status: u16, code: &str, message: &str) -> Sheet {
        Chat.error(status, code, message)
    }
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(default, borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    input: Option<&'a RawValue>,
    #[serde(default)]
    dimensions: Option<u32>,
    #[serde(default, borrow)]
    encoding_format: Option<Cow<'a, str>>,
}

/// How many texts there are: a text, a list of texts, a list of tokens, or a list of those.
fn count(input: &Value) -> Result<u32, Refused> {
    let count = match input {
        Value::String(text) => usize::from(!text.is_empty()),
        Value::Array(parts) if parts.iter().all(Value::is_number) => usize::from(!parts.is_empty()),
        Value::Array(parts) if parts.iter().all(|part| part.is_string() || part.is_array()) => parts.len(),
        _ => 0,
    };
    let count = u32::try_from(count).ok().filter(|count| (1..=COUNT_MAX).contains(count));
    count.ok_or_else(|| {
        Refused::invalid(format!("`input` is a text, or a list of at most {COUNT_MAX}, and not empty"))
    })
}

fn list(vector: &[f32]) -> String {
    let components: Vec<String> = vector.iter().map(f32::to_string).collect();
    format!("[{}]", components.join(","))
}

fn base64(vector: &[f32]) -> String {
    let bytes: Vec<u8> = vector.iter().flat_map(|component| component.to_le_bytes()).collect();
    format!("\"{}\"", STANDARD.encode(bytes))
}

/// A stream is never asked for: there is nothing to write of one.
struct Nothing;

impl Writer for Nothing {
    fn event(&mut self, _: Say) -> Vec<u8> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Usage;
    use crate::vectors::Vectors;

    #[test]
    fn answers_are_these_bytes() {
        let check = |base64: bool, embedding: &str| {
            let vectors = Some(Vectors { vectors: vec![vec![0.5, -1.0]], base64 });
            let whole = Whole { vectors, usage: Some(Usage::new(3, 0)), ..Whole::default() };
            let body = String::from_utf8(Embeddings.whole(&whole, Facts::of("\"m\""))).unwrap();
            let right = format!(
                r#"{{"object":"list","data":[{{"object":"embedding","index":0,"embedding":{embedding}}}],"model":"m","usage":{{"prompt_tokens":3,"total_tokens":3}}}}"#
            );
            assert_eq!(body, right);
        };
        check(false, "[0.5,-1]");
        check(true, "\"AAAAPwAAgL8=\"");
    }

    #[test]
    fn requests_are_read_or_refused() {
        let check = |rest: &str, right: Result<Wanted, &str>| {
            let body = format!(r#"{{"model":"m"{rest}}}"#);
            let read = Embeddings.read(Address::default(), body.as_bytes());
            let seen = read.map(|wishes| wishes.vectors.unwrap()).map_err(|refused| refused.message);
            match (seen, right) {
                (Err(message), Err(words)) => assert!(message.contains(words), "{message}"),
                (seen, right) => assert_eq!(seen, right.map_err(str::to_owned), "{body}"),
            }
        };
        let one = Wanted { count: 1, dimensions: 64, base64: false };
        check(r#","input":"a b""#, Ok(one));
        check(r#","input":["a","b"],"dimensions":8"#, Ok(Wanted { count: 2, dimensions: 8, ..one }));
        check(r#","input":[1,2,3],"encoding_format":"base64""#, Ok(Wanted { base64: true, ..one }));
        check(r#","input":[[1,2],[3]]"#, Ok(Wanted { count: 2, ..one }));
        check("", Err("`input` is missing"));
        check(r#","input":"""#, Err("not empty"));
        check(r#","input":[]"#, Err("not empty"));
        check(r#","input":{"a":1}"#, Err("not empty"));
        check(r#","input":"a","dimensions":0"#, Err("from 1 to"));
        check(r#","input":"a","encoding_format":"int8""#, Err("float or base64"));
        let text = serde_json::json!({"input": ["a", "b"]});
        assert_eq!(Embeddings.prompt_text(&text), "ab");
    }
}
