//! One request before any load: can this target be asked at all?

use inferometer_plan::Target;
use inferometer_record::{Sample, Status};

/// What the one request says about the load.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// The target can be asked.
    Ready,
    /// It can, but not everything went well: measured, not refused.
    Warning(String),
    /// It cannot: what happened, where, and what to do.
    Stop(String),
}

/// Fields that servers refuse, and the flag that leaves each out.
const REFUSED_FIELDS: [(&str, &str); 5] = [
    ("stream_options", "--no-stream-options leaves it out"),
    ("max_completion_tokens", "leave --max-completion-tokens out"),
    ("max_tokens", "--max-completion-tokens sends the limit under its newer name"),
    ("temperature", "give the one that the model takes with --temperature"),
    ("stream", "--no-stream asks for whole answers"),
];

/// Reads the preflight's `sample`.
pub(crate) fn read(sample: &Sample, target: &Target) -> Finding {
    let said = said(sample);
    match sample.status {
        Status::Ok | Status::Cancelled => Finding::Ready,
        Status::HttpError => http_error(sample.http_status.unwrap_or_default(), &said, target),
        Status::Transport | Status::ClientLimit => Finding::Stop(format!("{}: {said}", target.shown_url)),
        Status::Timeout if sample.headers_ns.is_none() && sample.sent_ns.is_none() => {
            Finding::Stop(format!("{}: {said}: is the address right and the server up?", target.shown_url))
        }
        Status::Protocol => Finding::Stop(format!(
            "{} answered {}, but not as a {} endpoint: {said}: is this the API's address? --dialect says how it speaks",
            target.shown_url,
            sample.http_status.unwrap_or_default(),
            target.dialect,
        )),
        Status::StreamError | Status::Truncated | Status::Timeout => {
            Finding::Warning(format!("the preflight request ended as {}: {said}", sample.status.name()))
        }
    }
}

fn said(sample: &Sample) -> String {
    sample
        .error_message
        .clone()
        .or_else(|| sample.error_code.clone())
        .unwrap_or_else(|| "no reason given".to_string())
}

fn http_error(http_status: u16, said: &str, target: &Target) -> Finding {
    let stop = |remedy: String| {
        Finding::Stop(format!("{} answered {http_status}: {said}: {remedy}", target.shown_url))
    };
    match http_status {
        401 | 403 => stop(match &target.key_source {
            Some(source) => format!("the key from {source} was refused"),
            None => "no key was sent: name its variable with --api-key-env".to_string(),
        }),
        404 => stop(format!(
            "is '{}' a model of this server, and is this the final address you mean?",
            target.model
        )),
        408 | 409 | 425 | 429 | 500.. => {
            Finding::Warning(format!("the preflight request was answered {http_status}: {said}"))
        }
        _ => stop(match REFUSED_FIELDS.iter().find(|(field, _)| said.contains(field)) {
            Some((field, remedy)) => format!("the server refuses {field}: {remedy}"),
            None => "the server refuses this request: --extra changes its fields".to_string(),
        }),
    }
}
