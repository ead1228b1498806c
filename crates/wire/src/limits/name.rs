//! What a header's name says: `x-ratelimit-remaining-tokens-minute`.

use super::Kind;

/// What a header tells of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// How much may be asked.
    Limit,
    /// What is left of it.
    Remaining,
    /// Until when.
    Reset,
    /// Over how long.
    Window,
}

/// A header's name, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) what: What,
    pub(super) kind: Kind,
    pub(super) window_s: Option<u64>,
}

/// How the names of each family begin, and what is counted where the rest does not say it.
const FAMILIES: [(&str, Kind); 10] = [
    ("x-ratelimit-", Kind::Requests),
    ("x-rate-limit-", Kind::Requests),
    ("ratelimit-", Kind::Requests),
    ("rate-limit-", Kind::Requests),
    ("anthropic-ratelimit-", Kind::Requests),
    ("x-tokenlimit-", Kind::Tokens),
    // Mistral counts tokens by it.
    ("x-ratelimitbysize-", Kind::Tokens),
    ("ratelimitbysize-", Kind::Tokens),
    ("x-ms-ratelimit-", Kind::Requests),
    ("x-amz-ratelimit-", Kind::Requests),
];

/// What the header of this name, in lower case, tells of a limit; `None` where it is none, or counts something else.
pub(super) fn part(name: &str) -> Option<Part> {
    let (rest, of_family) =
        FAMILIES.iter().find_map(|(start, kind)| Some((name.strip_prefix(start)?, *kind)))?;
    let (mut what, mut window_s) = (None, None);
    let (mut is_of_tokens, mut is_of_requests, mut side) = (of_family == Kind::Tokens, false, None);
    for word in rest.split(['-', '_']) {
        match word {
            "limit" => what = what.or(Some(What::Limit)),
            "remaining" => what = what.or(Some(What::Remaining)),
            "reset" | "timeremaining" => what = what.or(Some(What::Reset)),
            "renewalperiod" => what = what.or(Some(What::Window)),
            "requests" | "request" | "req" => is_of_requests = true,
            "tokens" | "token" => is_of_tokens = true,
            "input" | "prompt" => side = Some(Kind::InputTokens),
            "output" | "generated" | "completion" => side = Some(Kind::OutputTokens),
            "per" => {}
            _ => window_s = Some(window(word)?),
        }
    }
    let kind = match (is_of_tokens, side) {
        (true, Some(side)) => side,
        (true, None) => Kind::Tokens,
        (false, None) => Kind::Requests,
        // Of what, is not said.
        (false, Some(_)) => return None,
    };
    let is_one = !(is_of_tokens && is_of_requests);
    what.filter(|_| is_one).map(|what| Part { what, kind, window_s })
}

/// The seconds of a window by its name.
fn window(word: &str) -> Option<u64> {
    Some(match word {
        "second" | "1s" => 1,
        "minute" | "1m" => 60,
        "hour" | "1h" => 3_600,
        "day" | "1d" => 86_400,
        // The longest of them: a bound, for want of the month's name.
        "month" => 31 * 86_400,
        _ => return None,
    })
}
