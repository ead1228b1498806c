//! Bad files: what is said, and where it points.

use super::{TARGET, read};

/// `text` is refused at `at` (line and column), and the message has all of `says`.
#[track_caller]
fn check(text: &str, at: &str, says: &[&str]) {
    let said = match read(text) {
        Ok(_) => panic!("taken: {text}"),
        Err(error) => error.to_string(),
    };
    assert!(said.starts_with(&format!("dir/plan.toml:{at}: ")), "{at}: {said}");
    for part in says {
        assert!(said.contains(part), "`{part}` is not in: {said}");
    }
    assert!(!said.contains("s3cr3t"), "{said}");
}

/// The same behind a target of which nothing is wrong; the place counts from behind it.
#[track_caller]
fn behind(text: &str, at: &str, says: &[&str]) {
    let (line, column) = at.split_once(':').unwrap();
    let line = line.parse::<usize>().unwrap() + TARGET.lines().count();
    check(&format!("{TARGET}{text}"), &format!("{line}:{column}"), says);
}

#[test]
fn what_is_shown() {
    let show = |text: &str| read(text).unwrap_err().to_string();
    let right = "\
dir/plan.toml:2:1: there is no key `modle` in [[target]]: did you mean `model`?
  |
2 | modle = \"x\"
  | ^^^^^";
    assert_eq!(show("[[target]]\nmodle = \"x\""), right);
    let right = "\
dir/plan.toml:5:13: price 'input' cannot be negative ('-1'): write 0 where it is free
  |
5 | price.input = -1
  |               ^^";
    let said = show(&format!("{TARGET}price.output = 1\nprice.input = -1"));
    assert_eq!(said, right.replace(":13:", ":15:"));
}

#[test]
fn no_toml() {
    check("[[target]\n", "1:10", &["unclosed array table"]);
    check("a = 1\na = 2", "2:1", &["duplicate key"]);
    check("api_key = sk-s3cr3t", "1:11", &["api_key = \"…\""]);
    check("[[target]]\nurl = \"http://me:s3cr3t", "2:24", &[]);
}

#[test]
fn targets() {
    check("", "1:1", &["the plan has no target: write a [[target]] with a provider or a url"]);
    check("target = []", "1:10", &["target is an empty list"]);
    check("target = 3", "1:10", &["target is a whole number: give tables, each under [[target]]"]);
    check("[target]\nurl = \"http://h\"", "1:1", &["target is a table: give tables, each under [[target]]"]);
    check("[[target]]\nmodel = \"m\"", "1:1", &["url is missing: give the endpoint's url, or a provider"]);
    check("[[target]]\nurl = \"http://h\"", "1:1", &["model is missing"]);
    let provider = "[[target]]\nmodel = \"m\"\nprovider = ";
    check(&format!("{provider}\"grok\""), "3:12", &["no provider 'grok'", "did you mean 'groq'?"]);
    check(&format!("{provider}\"zebra\""), "3:12", &["it knows anthropic, azure, "]);
    check(&format!("{provider}\"openai\""), "3:12", &["the key is missing: set OPENAI_API_KEY"]);
    let headers = format!("{provider}\"openai\"\nheaders = {{ X-Team = \"a\" }}");
    check(&headers, "3:12", &["the key is missing: set OPENAI_API_KEY"]);
    assert!(read(&headers.replace("X-Team = \"a\"", "Authorization = \"Bearer ${KEY}\"")).is_ok());
    check(&format!("{TARGET}{TARGET}"), "4:1", &["a target 'm@h' stands before"]);
    let twice = format!("{TARGET}name = \"a\"\n{TARGET}name = \"a\"");
    check(&twice, "8:8", &["a target 'a' stands before: give this one another name"]);
    behind("url = \"ftp://h\"", "1:1", &["duplicate key"]);
    check("[[target]]\nmodel=\"m\"\nurl = \"ftp://h\"", "3:7", &["url: the URL must begin with http://"]);
    let credentials = "[[target]]\nmodel=\"m\"\nurl = \"http://me:s3cr3t@h\"";
    check(credentials, "3:7", &["credentials do not belong in the address"]);
    for (text, says) in [
        ("dialect = \"chta\"", "dialect cannot be 'chta': did you mean 'chat'?"),
        ("connection = \"new\"", "connection cannot be 'new': give one of reuse, fresh"),
        ("stream = \"yes\"", "stream is text: give true or false"),
        ("concurrency_limit = 0", "not a whole number from 1"),
        ("concurrency_limit = -1", "give a whole number from 0"),
        ("extra = 3", "extra is a whole number: give a table"),
        ("reasoning = \"much\"", "reasoning cannot be 'much': give one of off, low, medium, high"),
        (
            "reasoning = \"low\"",
            "nothing is known of what the dialect chat calls it for m; write what it wants in extra",
        ),
    ] {
        let column = text.find("= ").unwrap() + 3;
        behind(text, &format!("1:{column}"), &[says]);
    }
}

#[test]
fn keys() {
    behind("api_key = \"sk-s3cr3t\"", "1:11", &["a key does not belong in a file", "api_key_env = "]);
    behind("api_key = \"${NOPE}\"", "1:11", &["the environment variable NOPE is not set"]);
    behind("api_key_env = \"NOPE\"", "1:15", &["the environment variable NOPE is not set, or empty"]);
    behind("api_key_env = \"sk-s3cr3t\"", "1:15", &["name the variable, not the key itself"]);
    behind(
        "api_key_env = \"KEY\"\napi_key = \"${KEY}\"",
        "1:15",
        &["api_key and api_key_env do not go together"],
    );
    behind("api_key_env = \"KEY\"\nkey_cmd = \"echo s3cr3t\"", "2:11", &["do not go together"]);
    behind("key_cmd = \"echo s3cr3t; exit 7\"", "1:11", &["the command failed: exit status: 7"]);
    behind("key_cmd = \"echo s3cr3t s3cr3t\"", "1:11", &["more than one word"]);
    behind("key_file = \"none\"", "1:12", &["the file cannot be read"]);
    let both = "api_key_env = \"KEY\"\nheaders = { Authorization = \"Bearer ${KEY}\" }";
    behind(both, "2:11", &["api_key_env and headers do not go together"]);
    let literal = &["a key does not belong in a file", "write ${VAR} in its place"];
    behind("headers = { Authorization = \"Bearer sk-s3cr3t\" }", "1:29", literal);
    behind("headers = { X-A = \"a\", x-api-key = \"s3cr3t\" }", "1:36", literal);
    behind("headers = { X-A = \"${NOPE}\" }", "1:19", &["variable NOPE is not set"]);
    behind("headers = { X-A = \"${NOPE\" }", "1:19", &["the closing brace is missing"]);
    behind("headers = { \"X A\" = \"s3cr3t-x\" }", "1:21", &["not a header name"]);
    behind("headers = { X-A = 3 }", "1:19", &["X-A is a whole number: give text in quotes"]);
    behind("headers = \"s3cr3t\"", "1:11", &["headers is text: give a table"]);
    behind("headers.X-Key = [\"s3cr3t\"]", "1:17", &["X-Key is a list: give text in quotes"]);
    behind("extra = \"s3cr3t\"", "1:9", &["extra is text: give a table"]);
    behind("extra = { auth = \"s3cr3t ${KEY}\" }", "1:18", &["auth cannot hold a variable"]);
    let elsewhere = "cannot hold a variable: ${VAR} stands only in url, headers and api_key";
    behind("region = \"${KEY}\"", "1:10", &["region", elsewhere]);
    behind("extra = { a = [\"${KEY}\"] }", "1:16", &["a", elsewhere]);
    behind("[load]\ntargets = [\"${KEY}\"]", "2:12", &["targets", elsewhere]);
}

#[test]
fn prices() {
    behind("price = \"input=-3,output=15\"", "1:9", &["price 'input' cannot be negative ('-3')"]);
    behind("price = \"book\"", "1:9", &["the price book does not know 'm' of ''"]);
    behind("price = { input = 1 }", "1:9", &["price 'output' is missing"]);
    behind("price = { date = 2026-11-30 }", "1:9", &["price has no input and no output"]);
    behind("price = { input = 1, output = -2 }", "1:31", &["'output' cannot be negative"]);
    behind(
        "price = { input = 1, outptu = 2 }",
        "1:22",
        &["no key `outptu` in price: did you mean `output`?"],
    );
    behind("price = 3", "1:9", &["price is a whole number: give text in quotes, or a table: input, output"]);
}

#[test]
fn workloads() {
    behind("[[workload]]\nkind = \"chatt\"", "2:8", &["kind cannot be 'chatt': did you mean 'chat'?"]);
    behind("[[workload]]\nisl = 0", "2:7", &["isl: at least 1"]);
    behind("[[workload]]\nisl_stddev = 3", "2:14", &["the deviation of a length that is not given"]);
    behind("[[workload]]\nosl = 3\nmax_tokens = 4", "2:7", &["max_tokens and osl do not go together"]);
    behind("[[workload]]\ntemperature = 99", "2:15", &["temperature: not between 0 and 10"]);
    behind(
        "[[workload]]\nkind = \"chat\"\ndataset = \"x\"",
        "3:11",
        &["kind and dataset do not go together"],
    );
    behind("[[workload]]\nkind = \"chat\"\nisl = 3", "3:7", &["kind and isl do not go together"]);
    behind("[[workload]]\n[[workload]]", "2:1", &["a workload 'builtin' stands before"]);
    behind("workload = []", "1:1", &["no key `workload` in [[target]]: it belongs in the plan"]);
    for check in ["\"not_emty\"", "{ regex = \"(\" }", "{ json_schema = { type = 3 } }", "{ number = {} }"] {
        behind(&format!("[[workload]]\ncheck = {check}"), "2:9", &["this check cannot run: "]);
    }
}

#[test]
fn loads() {
    for (text, at, says) in [
        ("concurrency = []", "15", "concurrency is an empty list: give at least one"),
        ("concurrency = 0", "15", "not a whole number from 1"),
        ("concurrency = [1, 1]", "15", "'1' stands twice"),
        ("request_rate = 0", "16", "not a rate"),
        ("arrival = \"gamma\"", "1", "request_rate is missing: arrival and burstiness space an open load"),
        ("requests = 0", "12", "requests: at least 1"),
        ("requests = 1.5", "12", "requests is a number: give a whole number from 0"),
        ("duration = \"5parsecs\"", "12", "unknown unit 'parsecs'"),
        ("duration = \"0s\"", "12", "duration: longer than nothing"),
        ("coldstart = { episodes = 3 }", "13", "gap is missing"),
        ("coldstart = { gap = 0 }", "21", "gap: longer than nothing"),
        ("coldstart = { gap = 4, episodes = 0 }", "35", "episodes: at least 1"),
        ("burst = { rest = 3 }", "9", "size is missing"),
        ("burst = { size = 0 }", "18", "not a whole number from 1"),
        ("targets = [\"n\"]", "12", "there is no target 'n': there is m@h"),
        ("targets = []", "11", "targets is an empty list"),
        ("workloads = [\"chat\"]", "14", "there is no workload 'chat': there is builtin"),
    ] {
        let line = if at == "1" { 1 } else { 2 };
        behind(&format!("[load]\n{text}"), &format!("{line}:{at}"), &[says]);
    }
    behind("[[load]]\n[[load]]", "2:1", &["a load 'c1' stands before"]);
    let paced = "[load]\nrequest_rate = 3\nrespect_rate_limits = true";
    behind(paced, "3:23", &["request_rate and respect_rate_limits do not go together"]);
    let paced = "[load]\nburst = { size = 3 }\nrespect_rate_limits = true";
    behind(paced, "3:23", &["burst and respect_rate_limits do not go together"]);
    let rates = "[load]\nconcurrency = [1, 2]\nrequest_rate = 3";
    behind(rates, "3:16", &["concurrency and request_rate do not go together"]);
}

#[test]
fn protocol() {
    for (text, at, says) in [
        ("trials = 0", "10", "trials: at least 1"),
        ("warmups = 3", "1", "did you mean `warmup`?"),
        ("concurrency = 3", "1", "it belongs in [load]"),
        ("interleave = \"turn\"", "14", "did you mean 'turns'?"),
        ("timeout = 0", "11", "timeout: longer than nothing"),
        ("precision = \"0%\"", "13", "not a share: write 10% or 0.1"),
        ("precision = { figure = \"ttft_p50\" }", "13", "goal is missing"),
        ("precision = { goal = 0.1, figure = \"tft_p50\" }", "36", "did you mean `ttft_p95`?"),
        ("precision = { goal = 0.1, figure = \"ttft\" }", "36", "ttft"),
        (
            "precision = { goal = 0.1, figure = \"error_rate\" }",
            "36",
            "precision is of a time with a quantile",
        ),
        (
            "precision = { goal = 0.1, figure = \"speed_p50\" }",
            "36",
            "precision is of a time with a quantile",
        ),
        ("slice = \"9s\"", "9", "slice: at least 10s"),
        ("goodput = \"ttfx:3\"", "11", "no request has a figure `ttfx`"),
        ("fail_if = [\"ttft_p95>1s\", \"ttfx_p95>1s\"]", "27", "did you mean `ttft_p95`?"),
        ("fail_if = [\"x.ttft_p95 > m@h.ttft_p95\"]", "12", "x"),
        ("fail_if = []", "11", "fail_if is an empty list"),
        ("temperature = -1", "15", "temperature: not between 0 and 10"),
        ("seed = -1", "8", "seed is a whole number: give a whole number from 0"),
    ] {
        behind(&format!("[protocol]\n{text}"), &format!("2:{at}"), &[says]);
    }
    for (rest, says) in [
        ("[load]\nburst = { size = 3 }", "load 'burst-3' is made of episodes"),
        ("[load]\nduration = 3\n[[workload]]\nisl = 9", "load 'c1' ends by time alone"),
    ] {
        behind(&format!("[protocol]\ncache = \"warm\"\n{rest}"), "2:9", &[says]);
    }
    assert!(read(&format!("{TARGET}[protocol]\ncache = \"warm\"\n[load]\nduration = 3")).is_ok());
}

#[test]
fn profiles_and_the_rest() {
    behind("[profile.caht]", "1:10", &["there is no key `caht` in [profile]: did you mean `chat`?"]);
    behind("[profile.chat]\ntfft_p95 = \"1s\"", "2:1", &["did you mean `ttft_p95`?"]);
    behind("[profile.chat]\nttft = \"1s\"", "2:1", &["say which quantile of ttft"]);
    behind("[profile.chat]\nttft_p95 = \"soon\"", "2:12", &["`soon` is no limit for ttft_p95"]);
    behind("[profile.chat]\nworkload = \"x\"", "2:12", &["there is no workload 'x': there is builtin"]);
    behind("[profile.chat]\nload = \"c2\"", "2:8", &["there is no load 'c2'"]);
    behind("[compare]\nequivalence = 0", "2:15", &["not a share"]);
    behind("[budget]\nmoney = 0", "2:9", &["not an amount above 0"]);
    behind("[budget]\nmoney = 3", "2:9", &["a limit on money needs a price of 'm@h'"]);
    behind("[budgte]", "1:2", &["there is no key `budgte` in the plan: did you mean `budget`?"]);
    let nobody = "[[workload]]\nname = \"a\"\n[load]\nworkloads = [\"a\"]\ntargets = [\"b\"]";
    behind(nobody, "5:12", &["there is no target 'b'"]);
}

/// All mistakes at once, in the order of the file; what rests on a table that is wrong is not guessed at.
#[test]
fn every_mistake_is_shown() {
    let places = |text: &str| {
        let said = read(text).err().map(|error| error.to_string()).unwrap_or_default();
        let heads = said.lines().filter_map(|line| line.strip_prefix("dir/plan.toml:"));
        let places: Vec<String> =
            heads.map(|head| head.splitn(3, ':').take(2).collect::<Vec<_>>().join(":")).collect();
        (places, said)
    };
    let text = "\
nmae = \"x\"
[[load]]
concurrency = 0
targets = [\"nobody\"]
[[target]]
url = \"ftp://h\"
model = \"m\"
[[target]]
url = \"http://h\"
modle = \"m\"
stream = \"yes\"
[[target]]
provider = \"grok\"
model = \"m\"
[protocol]
trials = 0
warmup = 3
temperature = -1
fail_if = [\"ttfx_p95>1s\"]
[profile.chat]
workload = \"nothing\"
[compare]
equivalence = 0
[budget]
mony = 3";
    let right =
        ["1:1", "3:15", "6:7", "10:1", "11:10", "13:12", "16:10", "18:15", "19:12", "21:12", "23:15", "25:1"];
    let (found, said) = places(text);
    assert_eq!(found, right, "{said}");
    assert!(said.contains("did you mean `model`?\n"), "{said}");
    assert_eq!(said.lines().filter(|line| line.ends_with('^')).count(), right.len(), "{said}");
    // A long list ends, and says so.
    let (found, said) =
        places(&format!("{TARGET}{}", (0..23).map(|n| format!("k{n} = 1\n")).collect::<Vec<_>>().concat()));
    assert_eq!(found.len(), 20);
    assert!(said.ends_with("\n\nand 3 more mistakes"), "{said}");
    // A file that is no TOML has one mistake.
    assert_eq!(places("[[target]\nmodle = 3\n= 4").0.len(), 1);
}

/// Whatever stands in a file, it is a plan or an error of one place.
#[test]
fn any_text_is_a_plan_or_an_error() {
    bolero::check!().with_iterations(2_000).with_max_len(512).for_each(|bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let _ = read(&text);
        let _ = read(&format!("{TARGET}{text}"));
    });
}

/// Pieces of real plans in any order: deeper than bytes come.
#[test]
fn any_mixture_of_lines_is_a_plan_or_an_error() {
    const LINES: [&str; 16] = [
        TARGET,
        "[[target]]\nprovider = \"groq\"\nmodel = \"m\"",
        "[[workload]]",
        "kind = \"rag\"",
        "check = { regex = \"(\" }",
        "[load]",
        "[[load]]",
        "concurrency = [1, 2]",
        "request_rate = 1e300",
        "coldstart = { gap = \"4s\", episodes = 18446744073709551615 }",
        "[protocol]",
        "trials = 0x10",
        "[profile.chat]",
        "ttft_p95 = \"1s\"",
        "[budget]",
        "money = 1e-30",
    ];
    bolero::check!().with_iterations(2_000).with_type::<Vec<u8>>().for_each(|picks: &Vec<u8>| {
        let lines = picks.iter().map(|pick| LINES[usize::from(*pick) % LINES.len()]);
        let text = lines.collect::<Vec<_>>().join("\n");
        if let Ok(plan) = read(&text) {
            assert!(plan.cells().count() > 0);
            let _ = (plan.study(), plan.unprovable());
        }
    });
}
