use super::*;

/// 2026-10-21 07:27:58 UTC.
const NOW_NS: i64 = 1_792_567_678_000_000_000;
const S: u64 = 1_000_000_000;

/// What `headers` (`name: value`, one a line) tell, a line each: kind, window, limit, remaining, reset in ms.
fn check(headers: &str, right: &[&str]) {
    let headers: Vec<(&str, &str)> =
        headers.lines().filter_map(|line| line.trim().split_once(": ")).collect();
    let told = told(&headers, NOW_NS);
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let shown: Vec<String> = told
        .limits
        .iter()
        .map(|limit| {
            let reset = number(limit.reset_ns.map(|ns| ns / 1_000_000));
            let parts = [number(limit.window_s), number(limit.limit), number(limit.remaining), reset];
            format!("{} {}", limit.kind.words(), parts.join(" "))
        })
        .collect();
    assert_eq!(shown, right, "{headers:?}");
}

#[test]
fn openai_and_those_who_speak_as_it_does() {
    check(
        "X-RateLimit-Limit-Requests: 500
         x-ratelimit-remaining-requests: 499
         x-ratelimit-reset-requests: 120ms
         x-ratelimit-limit-tokens: 30000
         x-ratelimit-remaining-tokens: 29,970
         x-ratelimit-reset-tokens: 6m0s
         x-ratelimit-limit-project-tokens: 7
         x-request-id: 5",
        &["requests - 500 499 120", "tokens - 30000 29970 360000"],
    );
    // Groq; then Fireworks, which counts both sides.
    check(
        "x-ratelimit-reset-requests: 2m59.56s\nx-ratelimit-limit-requests: 14400",
        &["requests - 14400 - 179560"],
    );
    check(
        "x-ratelimit-limit-tokens-prompt: 60000\nx-ratelimit-remaining-tokens-generated: 5",
        &["input tokens - 60000 - -", "output tokens - - 5 -"],
    );
    // Azure says how long its window is.
    check("x-ratelimit-remaining-tokens: 9\nx-ratelimit-renewalperiod-tokens: 60", &["tokens 60 - 9 -"]);
}

#[test]
fn windows_by_name() {
    check(
        "x-ratelimit-limit-requests-day: 14400
         x-ratelimit-remaining-requests-day: 14399
         x-ratelimit-reset-requests-day: 33011.382867
         x-ratelimit-limit-tokens-minute: 60000
         x-ratelimit-remaining-tokens-minute: 59000
         x-ratelimit-reset-tokens-minute: 11.382867",
        &["requests 86400 14400 14399 33011382", "tokens 60 60000 59000 11382"],
    );
    check(
        "x-ratelimit-limit-tokens-per-minute: 8
         x-ratelimit-limit-tokens-per-day: 900
         x-ratelimit-remaining-tokens-per-day: 7
         x-ratelimit-reset-tokens-per-day: 1792567690",
        &["tokens 60 8 - -", "tokens 86400 900 7 12000"],
    );
    check("x-ratelimit-limit-req-minute: 60\nx-ratelimit-remaining-req-minute: 59", &["requests 60 60 59 -"]);
    check(
        "ratelimitbysize-limit: 500000\nratelimitbysize-remaining: 499000\nratelimitbysize-reset: 47",
        &["tokens - 500000 499000 47000"],
    );
}

#[test]
fn anthropic() {
    check(
        "anthropic-ratelimit-requests-limit: 50
         anthropic-ratelimit-requests-remaining: 49
         anthropic-ratelimit-requests-reset: 2026-10-21T07:28:00Z
         anthropic-ratelimit-input-tokens-limit: 40000
         anthropic-ratelimit-input-tokens-remaining: 39000
         anthropic-ratelimit-input-tokens-reset: 2026-10-21T09:28:00.5+02:00
         anthropic-ratelimit-output-tokens-limit: 8000
         anthropic-ratelimit-output-tokens-reset: 2026-10-21T07:20:00Z
         anthropic-ratelimit-unified-reset: 5",
        &["requests - 50 49 2000", "input tokens - 40000 39000 2500", "output tokens - 8000 - 0"],
    );
}

#[test]
fn instants_are_held_against_the_servers_own_clock() {
    check(
        "date: Wed, 21 Oct 2026 08:00:00 GMT
         anthropic-ratelimit-requests-remaining: 1
         anthropic-ratelimit-requests-reset: 2026-10-21T08:00:30Z",
        &["requests - - 1 30000"],
    );
    let late = [("date", "Wed, 21 Oct 2026 08:00:00 GMT"), ("retry-after", "Wed, 21 Oct 2026 08:00:05 GMT")];
    assert_eq!(told(&late, NOW_NS).retry_after, Some(Duration::from_secs(5)));
}

#[test]
fn openrouter_together_and_the_drafts() {
    check(
        "X-RateLimit-Limit: 20\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1792567738000",
        &["requests - 20 0 60000"],
    );
    check(
        "x-ratelimit-limit: 10\nx-ratelimit-reset: 1\nx-tokenlimit-limit: 3000\nx-tokenlimit-remaining: 9",
        &["requests - 10 - 1000", "tokens - 3000 9 -"],
    );
    check(
        "RateLimit-Limit: 100, 100;w=60\nRateLimit-Remaining: 50\nRateLimit-Reset: 5",
        &["requests 60 100 50 5000"],
    );
    check(
        "ratelimit: limit=100, remaining=50, reset=5\nratelimit-policy: 100;w=60",
        &["requests 60 100 50 5000"],
    );
    check(
        "ratelimit-policy: \"burst\";q=100;w=60, \"daily\";q=1000;w=86400
         ratelimit: \"daily\";r=7;t=3600, \"burst\";r=50;t=30",
        &["requests 60 100 50 30000", "requests 86400 1000 7 3600000"],
    );
    // Hugging Face.
    check(
        "ratelimit: \"api\";r=489;t=189\nratelimit-policy: \"fixed window\";\"api\";q=500;w=300",
        &["requests 300 500 489 189000"],
    );
    check("ratelimit-policy: \"p\";q=5;w=1;qu=\"content-bytes\"", &[]);
}

#[test]
fn what_cannot_be_read_is_not_told() {
    for value in ["", "-1", "unlimited", "1e9", "NaN", "99999999999999999999"] {
        check(&format!("x-ratelimit-limit-requests: {value}"), &[]);
    }
    for value in ["", "soon", "5x", "1m-2s", "2026-13-01T00:00:00Z", "2026-1-1", "-5"] {
        check(
            &format!("x-ratelimit-remaining-requests: 5\nx-ratelimit-reset-requests: {value}"),
            &["requests - - 5 -"],
        );
    }
    // A time alone tells no limit.
    check("x-ratelimit-reset-requests: 5s", &[]);
}

#[test]
fn units() {
    let check = |text: &str, right: Option<u64>| assert_eq!(value::reset_ns(text, NOW_NS), right, "{text}");
    check("1h2m3.5s", Some(3_723_500_000_000));
    check("20ms", Some(20_000_000));
    check("1d", Some(86_400 * S));
    check("7.66s", Some(7_660_000_000));
    check("250µs", Some(250_000));
    check("0", Some(0));
    check("0.25", Some(250_000_000));
    check("1792567679", Some(S));
    check("1792567678500", Some(S / 2));
    check("5 s", Some(5 * S));
}

#[test]
fn throttled_is_not_broken() {
    let check = |status, code: &str, message: &str, is_told_to_wait, right| {
        let said = is_throttled(status, Some(code), Some(message), is_told_to_wait);
        assert_eq!(said, right, "{status:?} {code} {message}");
    };
    check(Some(429), "", "", false, true);
    check(Some(529), "overloaded_error", "Overloaded", false, true);
    check(Some(503), "", "", true, true);
    check(Some(503), "", "Rate limit reached, try later", false, true);
    check(Some(503), "", "upstream connect error", false, false);
    check(Some(500), "", "rate limit service is down", true, false);
    check(Some(429), "insufficient_quota", "You exceeded your current quota", false, false);
    check(Some(400), "ThrottlingException", "Too many tokens", false, true);
    check(None, "rate_limit_exceeded", "", false, true);
    check(None, "server_error", "", false, false);
    assert!(!is_throttled(Some(200), None, None, true));
}

#[test]
fn whatever_comes_is_read_or_refused() {
    const NAMES: [&str; 9] = [
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-tokens-minute",
        "x-ratelimit-reset-requests",
        "anthropic-ratelimit-input-tokens-reset",
        "x-ratelimit-renewalperiod-tokens",
        "ratelimit",
        "ratelimit-policy",
        "retry-after",
        "date",
    ];
    bolero::check!().with_type::<(Vec<(u8, String)>, String, i64)>().with_iterations(5_000).for_each(
        |(values, name, now)| {
            let known = |(place, value): &(u8, String)| {
                (NAMES[usize::from(*place) % NAMES.len()].to_owned(), value.clone())
            };
            let mut headers: Vec<_> = values.iter().map(known).collect();
            headers.push((format!("x-ratelimit-{name}"), name.clone()));
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let told = told(&headers, *now);
            assert!(told.limits.len() <= MAX_LIMITS);
            is_throttled(Some(503), Some(name), Some(name), false);
        },
    );
}

/// The letters that such values are made of, in any order.
#[test]
fn values_made_of_their_own_letters_are_read_or_refused() {
    const LETTERS: &[u8] = b"0123456789.:-+TZsmhd,;=wqrt\" ";
    bolero::check!().with_type::<(Vec<u8>, i64)>().with_iterations(20_000).for_each(|(bytes, now)| {
        let text: String =
            bytes.iter().map(|b| char::from(LETTERS[usize::from(*b) % LETTERS.len()])).collect();
        let headers =
            ["ratelimit", "ratelimit-policy", "x-ratelimit-reset-tokens", "x-ratelimit-limit-tokens"];
        let told = told(&headers.map(|name| (name, text.as_str())), *now);
        assert!(told.limits.len() <= MAX_LIMITS);
    });
}
