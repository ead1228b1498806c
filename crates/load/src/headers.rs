//! What an answer's headers say that belongs in its sample.

use http::HeaderMap;
use serde_json::value::{RawValue, to_raw_value};

/// Where servers put their id of a request.
const REQUEST_ID: [&str; 4] = ["x-request-id", "request-id", "x-amzn-requestid", "cf-ray"];
/// Longest header value that is kept.
const MAX_VALUE: usize = 256;
/// Most rate-limit headers that are kept.
const MAX_RATE_LIMITS: usize = 32;

/// The server's id of the request.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    REQUEST_ID.iter().find_map(|name| text(headers.get(*name)?))
}

/// The name of an error, which at Amazon stands in a header alone: `ThrottlingException:http://…`.
pub(crate) fn error_type(headers: &HeaderMap) -> Option<String> {
    let said = text(headers.get("x-amzn-errortype")?)?;
    let name = said.split(':').next().unwrap_or_default().trim();
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

/// What the server's clock said.
pub(crate) fn date(headers: &HeaderMap) -> Option<String> {
    text(headers.get(http::header::DATE)?)
}

/// Every rate-limit header as it came, as a JSON object.
pub(crate) fn rate_limits(headers: &HeaderMap) -> Option<Box<RawValue>> {
    let limits: serde_json::Map<_, _> = headers
        .iter()
        .filter(|(name, _)| name.as_str().contains("ratelimit") || name.as_str().starts_with("retry-after"))
        .filter_map(|(name, value)| Some((name.as_str().to_string(), text(value)?.into())))
        .take(MAX_RATE_LIMITS)
        .collect();
    if limits.is_empty() { None } else { to_raw_value(&limits).ok() }
}

fn text(value: &http::HeaderValue) -> Option<String> {
    Some(value.to_str().ok()?.chars().take(MAX_VALUE).collect())
}
