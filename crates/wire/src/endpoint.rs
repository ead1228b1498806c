//! From whatever base URL a person types to the one right address.

use std::fmt;

use crate::dialect::{ANY, Dialect, Speech};

/// The rule, in the words that the tool prints.
pub const ENDPOINT_RULE: &str = "a bare host gets /v1; a longer prefix stays as it is; the dialect's path is added \
                                 unless the address ends in it; a query is kept (some dialects have another \
                                 prefix than /v1)";

/// A base URL that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlError {
    /// No `http://` or `https://` in front.
    Scheme,
    /// No host, or one with characters that no host has.
    Host,
    /// A port that is no number from 1 to 65535.
    Port,
    /// A user or password in the address.
    Credentials,
    /// White space or control characters.
    Character,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UrlError::Scheme => "the URL must begin with http:// or https://",
            UrlError::Host => "the URL has no valid host: write it as http://host:port/v1",
            UrlError::Port => "the URL's port is not a number from 1 to 65535",
            UrlError::Credentials => "the URL holds a user or password: give the key with --api-key-env",
            UrlError::Character => "the URL holds a space or a control character",
        })
    }
}

impl std::error::Error for UrlError {}

/// The address at which `model` is asked, to stream or not, by [`ENDPOINT_RULE`]: no double slash, query kept, fragment
/// dropped. Whole endpoint addresses, also of other dialects, are understood.
pub fn endpoint(base: &str, dialect: Dialect, model: &str, stream: bool) -> Result<String, UrlError> {
    let base = base.trim();
    if base.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(UrlError::Character);
    }
    let (scheme, rest) = base.split_once("://").ok_or(UrlError::Scheme)?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme != "http" && scheme != "https" {
        return Err(UrlError::Scheme);
    }
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    check_authority(authority)?;
    let speech = dialect.speech();
    let mut address =
        format!("{scheme}://{authority}/{}", full_path(path, speech, &speech.path(model, stream)));
    let query = query.filter(|query| !query.is_empty());
    let has = |name: &str| {
        query.is_some_and(|query| query.split('&').any(|pair| pair.split('=').next() == Some(name)))
    };
    let own =
        speech.query(stream).filter(|(name, _)| !has(name)).map(|(name, value)| format!("{name}={value}"));
    let parts: Vec<&str> = query.into_iter().chain(own.as_deref()).collect();
    if !parts.is_empty() {
        address.push('?');
        address.push_str(&parts.join("&"));
    }
    Ok(address)
}

/// Where the API of this endpoint address lists its models; `None` where it has no list. The query is kept.
pub fn models_address(endpoint: &str, dialect: Dialect) -> Option<String> {
    let own = dialect.speech().models()?;
    let (scheme, rest) = endpoint.split_once("://")?;
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let segments: Vec<_> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let prefix =
        segments.get(..segments.len() - tail_len(&segments, dialect.speech())).unwrap_or_default().join("/");
    let path =
        [prefix.as_str(), own].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
    // How Gemini is to stream is no question of lists.
    let pairs: Vec<_> = query.into_iter().flat_map(|query| query.split('&')).collect();
    let pairs: Vec<_> = pairs.into_iter().filter(|pair| *pair != "alt=sse").collect();
    let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
    Some(format!("{scheme}://{authority}/{path}{query}"))
}

/// How many segments at the end of a path are the dialect's own, or of another dialect's as many as name no place: at an
/// Azure deployment chat is spoken too.
fn tail_len(segments: &[&str], speech: &dyn Speech) -> usize {
    let ends_in = |tail: &&[&str]| {
        let at = segments.len().checked_sub(tail.len());
        let end = at.and_then(|at| segments.get(at..)).unwrap_or_default();
        !end.is_empty() && end.iter().zip(*tail).all(|(segment, part)| *part == ANY || segment == part)
    };
    let after_place = |tail: &'static [&'static str]| tail.rsplit(|part| *part == ANY).next();
    let own = speech.tail();
    // An address may also end where the place is named.
    let up_to_place = own.iter().rposition(|part| *part == ANY).and_then(|at| own.get(..=at));
    let others = Dialect::ALL.iter().filter_map(|dialect| after_place(dialect.speech().tail()));
    let tails = [own].into_iter().chain(up_to_place).chain(others);
    tails.filter(ends_in).map(<[_]>::len).max().unwrap_or(0)
}

/// The prefix that `path` has or gets, and behind it the dialect's own path.
fn full_path(path: &str, speech: &dyn Speech, own: &str) -> String {
    let segments: Vec<_> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let tail = tail_len(&segments, speech);
    let prefix = match segments.get(..segments.len() - tail) {
        Some([]) | None if segments.is_empty() => speech.prefix(),
        Some(prefix) => &prefix.join("/"),
        None => "",
    };
    [prefix, own].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
}

fn check_authority(authority: &str) -> Result<(), UrlError> {
    if authority.contains('@') {
        return Err(UrlError::Credentials);
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(literal) => literal.split_once(']').ok_or(UrlError::Host)?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_literal = authority.starts_with('[');
    let is_host_byte = |c: char| {
        c.is_alphanumeric() || matches!(c, '-' | '.' | '_') || (is_literal && matches!(c, ':' | '%'))
    };
    if host.is_empty() || !host.chars().all(is_host_byte) {
        return Err(UrlError::Host);
    }
    match port.strip_prefix(':') {
        None if port.is_empty() => Ok(()),
        Some(digits) if digits.parse::<u16>().is_ok_and(|port| port > 0) => Ok(()),
        _ => Err(UrlError::Port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, chat: Result<&str, UrlError>) {
        assert_eq!(endpoint(base, Dialect::Chat, "m", true).as_deref(), chat.as_ref().copied(), "{base}");
    }

    #[test]
    fn c37_base_url_forms() {
        let own = Ok("http://h:1/v1/chat/completions");
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", "http://h:1//v1//"] {
            check(base, own);
        }
        check("http://h:1/v1/chat/completions", own);
        check("http://h:1/v1/chat/completions/", own);
        check("http://h:1/v1/completions", own);
        check("HTTP://h:1/v1#top", own);
        check(" http://h:1/v1 ", own);
        check("http://h:1/gw/openai/v1", Ok("http://h:1/gw/openai/v1/chat/completions"));
        check("https://h/api/v3", Ok("https://h/api/v3/chat/completions"));
        check("https://h/v1beta/openai/", Ok("https://h/v1beta/openai/chat/completions"));
        check("https://h/v1?api-version=x", Ok("https://h/v1/chat/completions?api-version=x"));
        check("https://h?api-version=x", Ok("https://h/v1/chat/completions?api-version=x"));
        check("http://[::1]:8080", Ok("http://[::1]:8080/v1/chat/completions"));
        check("http://h/chat/completions", Ok("http://h/chat/completions"));
    }

    #[test]
    fn the_other_dialect() {
        for base in ["http://h", "http://h/v1/", "http://h/v1/completions", "http://h/v1/chat/completions"] {
            assert_eq!(
                endpoint(base, Dialect::Completions, "m", true).as_deref(),
                Ok("http://h/v1/completions"),
                "{base}"
            );
        }
    }

    #[test]
    fn where_models_are_listed() {
        let check = |endpoint: &str, dialect, right: &str| {
            assert_eq!(models_address(endpoint, dialect).as_deref(), Some(right), "{endpoint}");
        };
        check("https://h/v1/chat/completions", Dialect::Chat, "https://h/v1/models");
        check("https://h/openai/v1/completions?v=1", Dialect::Completions, "https://h/openai/v1/models?v=1");
        check("http://h:1/api/chat", Dialect::Ollama, "http://h:1/api/tags");
        let stream = "https://h/v1beta/models/g:streamGenerateContent";
        check(&format!("{stream}?alt=sse"), Dialect::Gemini, "https://h/v1beta/models");
        check(&format!("{stream}?key=x&alt=sse"), Dialect::Gemini, "https://h/v1beta/models?key=x");
    }

    #[test]
    fn refused() {
        check("localhost:8000", Err(UrlError::Scheme));
        check("ftp://h", Err(UrlError::Scheme));
        check("", Err(UrlError::Scheme));
        check("http://", Err(UrlError::Host));
        check("http:///v1", Err(UrlError::Host));
        check("http://h:port", Err(UrlError::Port));
        check("http://h:0", Err(UrlError::Port));
        check("http://h:99999", Err(UrlError::Port));
        check("http://[::1", Err(UrlError::Host));
        check("http://user:pass@h", Err(UrlError::Credentials));
        check("http://h/a b", Err(UrlError::Character));
    }

    #[test]
    fn chat_at_a_deployment_stays_there() {
        let whole = "https://r/openai/deployments/d/chat/completions?api-version=x";
        check(whole, Ok(whole));
        check("https://r/openai/deployments/d?api-version=x", Ok(whole));
        check("https://r/openai/v1", Ok("https://r/openai/v1/chat/completions"));
    }

    #[test]
    fn what_was_found_is_found_again() {
        let parts =
            ["v1", "chat", "completions", "models", "g:x", "openai", "deployments", "messages", "api"];
        // A gateway's `chat` before completions' own path is chat's path: that dialect alone cannot tell.
        let dialects = || Dialect::ALL.iter().filter(|dialect| **dialect != Dialect::Completions);
        bolero::check!().with_type::<Vec<u8>>().with_iterations(2000).for_each(|choices| {
            let path: Vec<_> = choices.iter().map(|at| parts[usize::from(*at) % parts.len()]).collect();
            for dialect in dialects() {
                let found = endpoint(&format!("http://h/{}", path.join("/")), *dialect, "m", true).unwrap();
                assert_eq!(endpoint(&found, *dialect, "m", true).as_ref(), Ok(&found), "{dialect} {path:?}");
            }
        });
    }

    #[test]
    fn any_text_is_refused_or_settles() {
        bolero::check!().with_iterations(2000).for_each(|bytes: &[u8]| {
            let base = format!("http://h/{}", String::from_utf8_lossy(bytes));
            let Ok(address) = endpoint(&base, Dialect::Chat, "m", true) else { return };
            assert_eq!(endpoint(&address, Dialect::Chat, "m", true), Ok(address));
        });
    }
}
