//! Whether a server refused a request because too much was asked: neither slow nor broken.

/// Codes that say so, in small letters and without what stands between them.
const RATE_CODES: [&str; 12] = [
    "ratelimit",
    "ratelimited",
    "ratelimiterror",
    "ratelimitexceeded",
    "ratelimitreached",
    "toomanyrequests",
    "toomanyrequestsexception",
    "throttled",
    "throttling",
    "throttlingexception",
    "resourceexhausted",
    "overloadederror",
];
/// Codes of money that is used up: no wait helps.
const MONEY_CODES: [&str; 4] =
    ["insufficientquota", "billinghardlimitreached", "billingnotactive", "insufficientbalance"];
/// Words of a message that say that too much was asked.
const RATE_WORDS: [&str; 6] =
    ["rate limit", "ratelimit", "too many requests", "too many concurrent", "throttl", "overloaded"];

/// Whether an error is a refusal for the rate of requests or tokens: status 429 or 529 (Anthropic's overload), 503 with
/// an advice to wait or with words of a rate, and in any error, of a stream too, a code that says so. Not where the code
/// is of money that is used up.
pub fn is_throttled(
    http_status: Option<u16>,
    code: Option<&str>,
    message: Option<&str>,
    is_told_to_wait: bool,
) -> bool {
    let code = code.map(letters).unwrap_or_default();
    if MONEY_CODES.contains(&code.as_str()) {
        return false;
    }
    let has_words = || {
        let message = message.unwrap_or_default().to_ascii_lowercase();
        RATE_WORDS.iter().any(|words| message.contains(words))
    };
    match http_status {
        Some(429 | 529) => true,
        Some(503) if is_told_to_wait || has_words() => true,
        _ => RATE_CODES.contains(&code.as_str()),
    }
}

fn letters(code: &str) -> String {
    code.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}
