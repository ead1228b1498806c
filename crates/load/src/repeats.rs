//! Whether an answer is one that came before, and whether it should be.

use inferometer_plan::Cell;
use inferometer_record::{Sample, Status};
use inferometer_wire::{Answer, Transcript};
use serde_json::{Map, Value};

use crate::finished::Finished;

/// From this temperature on a long answer does not come twice by chance.
const VARIES_FROM: f64 = 0.5;

/// With less of the probability than this, a temperature changes little.
const TOP_P_MIN: f64 = 0.5;

/// Tells the id and the hash of the answer of `finished`, and what its request asked for.
pub(crate) fn note(sample: &mut Sample, finished: &Finished, cell: Cell<'_>) {
    let Some(answer) = &finished.seen.answer else { return };
    let asked = Asked { parameters: &finished.prepared.item.parameters, extra: &cell.target.extra };
    sample.response_id.clone_from(&answer.id);
    sample.repeatable = asked.repeatable(cell.workload.temperature);
    sample.answer_hash = hash(answer).filter(|_| sample.status == Status::Ok);
}

/// The fields of a request besides our own: the prompt's, and the target's, which win.
struct Asked<'a> {
    parameters: &'a Map<String, Value>,
    extra: &'a Map<String, Value>,
}

impl Asked<'_> {
    /// The field, wherever a dialect puts it; `null` where it was taken away.
    fn get(&self, name: &str) -> Option<&Value> {
        let options = self.extra.get("options").and_then(|options| options.get(name));
        self.extra.get(name).or(options).or_else(|| self.parameters.get(name))
    }

    fn repeatable(&self, temperature: f64) -> Option<bool> {
        if self.get("seed").is_some_and(|seed| !seed.is_null()) {
            return Some(true);
        }
        let temperature = self.get("temperature").map_or(Some(temperature), Value::as_f64)?;
        let is_narrow = self.get("top_k").is_some_and(|k| k == 1)
            || self.get("top_p").and_then(Value::as_f64).is_some_and(|p| p < TOP_P_MIN);
        match temperature {
            0.0 => Some(true),
            VARIES_FROM.. if !is_narrow => Some(false),
            _ => None,
        }
    }
}

/// FNV-1a of all that was said, each text ended by a byte that no text holds; `None` where nothing was.
fn hash(answer: &Answer) -> Option<String> {
    const OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x100_0000_01B3;
    let said = || answer.transcripts().flat_map(texts);
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    let hash = said().fold(OFFSET, |hash, text| text.bytes().chain([0xFF]).fold(hash, step));
    said().any(|text| !text.trim().is_empty()).then(|| format!("{hash:016x}"))
}

fn texts(said: &Transcript) -> impl Iterator<Item = &str> {
    let tools = said.tools.iter().flat_map(|tool| [&tool.name, &tool.arguments]);
    [&said.content, &said.reasoning, &said.refusal].into_iter().chain(tools).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use inferometer_wire::{Decoder, Dialect, End, Head};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_repeats_is_known_by_its_request() {
        let check = |parameters: Value, extra: Value, right: Option<bool>| {
            let [parameters, extra] = [parameters, extra].map(|json| json.as_object().unwrap().clone());
            let asked = Asked { parameters: &parameters, extra: &extra };
            assert_eq!(asked.repeatable(0.0), right, "{parameters:?} {extra:?}");
        };
        check(json!({}), json!({}), Some(true));
        check(json!({"temperature": 1}), json!({}), Some(false));
        check(json!({"temperature": 1}), json!({"temperature": 0}), Some(true));
        check(json!({}), json!({"options": {"temperature": 0.7}}), Some(false));
        check(json!({"temperature": 1}), json!({"seed": 7}), Some(true));
        // Too little to say, or left to the server.
        check(json!({"temperature": 0.1}), json!({}), None);
        check(json!({"temperature": 1, "top_k": 1}), json!({}), None);
        check(json!({"temperature": 1, "top_p": 0.01}), json!({}), None);
        check(json!({}), json!({"temperature": null}), None);
    }

    #[test]
    fn the_same_answer_has_the_same_hash() {
        let hash_of = |delta: Value| {
            let event = json!({"choices": [{"delta": delta, "finish_reason": "stop"}]});
            let head = Head { status: 200, content_type: None, streaming: true };
            let mut decoder = Decoder::new(Dialect::Chat, head);
            decoder.feed(format!("data: {event}\n\n").as_bytes(), &mut |_| {});
            hash(&decoder.finish(End::Eof, &mut |_| {}))
        };
        let map = hash_of(json!({"content": "map"}));
        assert!(map.as_ref().is_some_and(|hash| hash.len() == 16));
        assert_eq!(hash_of(json!({"content": "map"})), map);
        assert_ne!(hash_of(json!({"content": "maps"})), map);
        assert_ne!(hash_of(json!({"reasoning_content": "map"})), map);
        assert_eq!(hash_of(json!({"content": " "})), None);
    }
}
