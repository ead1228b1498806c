//! One request before any load: can this target be asked at all?

use inferometer_plan::Target;
use inferometer_record::{Sample, Status};
use inferometer_wire::ENDPOINT_RULE;
use inferometer_wire::request::TokenField;

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

/// Fields that servers refuse and that we send, and the flag that leaves each out or changes it.
fn refusable(target: &Target) -> impl Iterator<Item = (&'static str, &'static str)> {
    let limit = match target.token_field {
        TokenField::MaxTokens => {
            ("max_tokens", "--max-completion-tokens sends the limit under its newer name")
        }
        TokenField::MaxCompletionTokens => {
            ("max_completion_tokens", "without --max-completion-tokens the limit goes by its older name")
        }
    };
    let options = ("stream_options", "--no-stream-options leaves it out");
    let stream = ("stream", "--no-stream asks for whole answers");
    let options = (target.stream && target.include_usage).then_some(options);
    options
        .into_iter()
        .chain([limit, ("temperature", "--temperature gives the one that the model takes")])
        .chain(target.stream.then_some(stream))
}

/// Reads the preflight's `sample`.
pub(crate) fn read(sample: &Sample, target: &Target) -> Finding {
    let said = said(sample);
    let url = &target.shown_url;
    match sample.status {
        Status::Ok | Status::Cancelled => Finding::Ready,
        Status::HttpError => http_error(sample, &said, target),
        Status::Transport | Status::ClientLimit => {
            let remedy = sample.error_code.as_deref().and_then(|code| remedy(code, target));
            stop(&format!("{url}: {said}"), remedy)
        }
        Status::Timeout if sample.headers_ns.is_none() && sample.sent_ns.is_none() => {
            stop(&format!("{url}: {said}"), Some("is the address right, and the server up?"))
        }
        Status::Protocol => stop(
            &format!(
                "{url} answered {}, but not as a {} endpoint: {said}",
                sample.http_status.map_or_else(|| "something".to_string(), |status| status.to_string()),
                target.dialect
            ),
            Some("is this the API's address? --dialect says how it speaks"),
        ),
        Status::StreamError => warning(&format!("was answered with an error in the stream: {said}")),
        Status::Truncated => warning(&format!("was answered in part: {said}")),
        Status::Timeout => warning(&format!("timed out: {said}")),
    }
}

fn said(sample: &Sample) -> String {
    sample
        .error_message
        .clone()
        .or_else(|| sample.error_code.clone())
        .unwrap_or_else(|| "no reason given".to_string())
}

/// What happened on the first line, what to do on the next.
fn stop(what: &str, remedy: Option<&str>) -> Finding {
    Finding::Stop(remedy.map_or(what.to_string(), |remedy| format!("{what}\n  {remedy}")))
}

fn warning(what: &str) -> Finding {
    Finding::Warning(format!("the preflight request {what}\n  measuring all the same"))
}

/// What to do about a failure of transport, by its code.
fn remedy(code: &str, target: &Target) -> Option<&'static str> {
    match code {
        "dns" => Some("is the host's name right?"),
        "tls" if target.cacert.is_none() => Some(
            "--cacert names a private CA, --insecure checks nothing; http:// is for a server without TLS",
        ),
        "tls" => {
            Some("--cacert names another CA, --insecure checks nothing; http:// is for a server without TLS")
        }
        "closed" if target.http2 => Some("without --http2 it is asked in HTTP/1.1"),
        "closed" | "connect_timeout" => Some("is the address right? https:// is for a server with TLS"),
        _ => None,
    }
}

/// What to do about a refusal of signed requests, by Amazon's name of it.
fn signature_remedy(code: &str, source: &str) -> String {
    match code {
        "ExpiredTokenException" | "ExpiredToken" => {
            format!("the credentials of {source} have expired: get new ones, as with `aws sso login`")
        }
        "InvalidSignatureException" | "SignatureDoesNotMatch" | "RequestTimeTooSkewed" | "RequestExpired" => {
            format!(
                "if the two clocks differ by minutes, set ours right; else the secret key of {source} is wrong"
            )
        }
        "AccessDeniedException" => {
            format!(
                "the credentials of {source} are right, and may not ask for this model: enable it in the console"
            )
        }
        _ => format!("the credentials of {source} were refused"),
    }
}

fn http_error(sample: &Sample, said: &str, target: &Target) -> Finding {
    let http_status = sample.http_status.unwrap_or_default();
    let stop =
        |remedy: &str| stop(&format!("{} answered {http_status}: {said}", target.shown_url), Some(remedy));
    match http_status {
        401 | 403 if target.signing.is_some() => {
            let source = target.key_source.as_deref().unwrap_or("the environment");
            stop(&signature_remedy(sample.error_code.as_deref().unwrap_or_default(), source))
        }
        401 | 403 => match &target.key_source {
            Some(source) => stop(&format!("the key from {source} was refused")),
            None => stop("no key was sent: name its variable with --api-key-env"),
        },
        404 if said.contains(&target.model) => {
            stop(&format!("is '{}' a model of this server? -m names another", target.model))
        }
        404 | 405 => stop(&format!("is this the final address you mean? The rule: {ENDPOINT_RULE}")),
        408 | 409 | 425 | 429 | 500.. => warning(&format!("was answered {http_status}: {said}")),
        _ => match refusable(target).find(|(field, _)| said.contains(field)) {
            Some((field, remedy)) => stop(&format!("the server refuses {field}: {remedy}")),
            None if said.contains(&target.model) => stop(&format!(
                "is '{}' a model of this server? -m names another, --extra changes the request's fields",
                target.model
            )),
            None => stop("the server refuses this request: --extra changes its fields"),
        },
    }
}
