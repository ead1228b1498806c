//! Keeps keys out of what servers sent back.

use inferometer_plan::Secrets;
use inferometer_record::Sample;
use serde_json::value::RawValue;

/// Removes every secret from the texts of `sample` that came from a server or an error.
pub(crate) fn redact(sample: &mut Sample, secrets: &Secrets) {
    let texts = [
        &mut sample.error_code,
        &mut sample.error_message,
        &mut sample.finish_reason,
        &mut sample.cost_reported_usd,
        &mut sample.model_echo,
        &mut sample.server_request_id,
        &mut sample.response_id,
    ];
    for text in texts.into_iter().flatten() {
        let clean = secrets.redact(text);
        if clean != *text {
            *text = clean.into_owned();
        }
    }
    for raw in [&mut sample.usage, &mut sample.server_timing, &mut sample.ratelimit] {
        let Some(text) = raw.as_ref().map(|raw| raw.get()) else { continue };
        let clean = secrets.redact(text);
        if clean != text {
            // What is no JSON any more without the secret is left out: nothing beats a key in a file.
            *raw = RawValue::from_string(clean.into_owned()).ok();
        }
    }
}
