//! What cannot be run is refused before anything is sent: what was wrong, what would be right, status 2.

use std::process::Command;

use crate::support::{Ended, apart, inferometer};

/// A port at which nobody listens: whatever gets as far as asking ends with status 3.
const NOWHERE: [&str; 4] = ["--url", "http://127.0.0.1:9/v1", "--model", "m"];

/// `arguments` end with `code`, and with all of `says` on standard error.
#[track_caller]
fn check(arguments: &[&str], code: i32, says: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    assert_ended(&inferometer(dir.path()).args(arguments).output().unwrap().into(), code, says);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "{arguments:?} left something behind");
}

#[track_caller]
fn assert_ended(ended: &Ended, code: i32, says: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
    // Lines are wrapped for 80 columns; what they say is not.
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in says {
        assert!(said.contains(part), "`{part}` is not in: {}", ended.stderr);
    }
}

/// `run` with `flags` beside a whole command line is refused.
#[track_caller]
fn run(flags: &[&str], says: &[&str]) {
    check(&[&["run"], NOWHERE.as_slice(), flags].concat(), 2, says);
}

#[test]
fn words_that_mean_nothing() {
    check(&["frobnicate"], 2, &["unrecognized subcommand 'frobnicate'", "--help"]);
    check(&["rum"], 2, &["similar subcommand exists: 'run'"]);
    check(&["run", "--bogus"], 2, &["unexpected argument '--bogus'", "--help"]);
    run(&["--requst", "3"], &["unexpected argument '--requst'", "similar argument exists: '--requests'"]);
    run(&["plan.toml"], &["cannot be used with", "--url <URL>"]);
    check(&["run", "/no/such.toml"], 2, &["cannot read the plan /no/such.toml", "No such file"]);
    check(&["self-check", "more"], 2, &["unexpected argument 'more'"]);
    check(&["report"], 2, &["<RUN>"]);
}

#[test]
fn a_value_that_is_none() {
    let whole = "write digits alone, as in 100";
    let time = "use ms, s, m or h, as in 500ms or 30s";
    for (flag, says) in [
        ("--concurrency", "write 16, or 1,4,16 for a curve"),
        ("--request-rate", "write 20, or 5,10,20 for a curve"),
        ("--arrival", "possible values: constant, poisson, gamma"),
        ("--burstiness", "write it as 2 or 0.5"),
        ("--requests", whole),
        ("--duration", time),
        ("--grace", time),
        ("--warmup", whole),
        ("--ramp", time),
        ("--isl", whole),
        ("--osl", whole),
        ("--temperature", "write it as 2 or 0.5"),
        ("--cache", "possible values: bust, as-is, warm"),
        ("--seed", whole),
        ("--timeout", time),
        ("--connect-timeout", time),
        ("--first-token-timeout", time),
        ("--idle-timeout", time),
        ("--retries", whole),
        ("--connection", "possible values: reuse, fresh"),
        ("--dialect", "use chat, completions, "),
        ("--format", "use table, json, csv or md"),
        ("--goodput", "write name:limit, such as ttft:300"),
        ("--fail-if", "such as ttft_p95>500ms"),
        ("--price", "as in input=3,output=15"),
    ] {
        run(&[flag, "5parsecs"], &[flag, "5parsecs", says]);
    }
    run(&["--isl", "9", "--isl-stddev", "5parsecs"], &["--isl-stddev", "write it as 2 or 0.5"]);
    run(&["--osl", "9", "--osl-stddev", "5parsecs"], &["--osl-stddev", "write it as 2 or 0.5"]);
}

#[test]
fn a_value_out_of_range() {
    let longer = "longer than nothing, as in";
    for (flag, value, says) in [
        ("--requests", "0", "at least 1"),
        ("--requests", "-5", "write digits alone"),
        ("--concurrency", "0", "not a whole number from 1"),
        ("--concurrency", "1,,4", "not a whole number from 1"),
        ("--concurrency", "-1", "not a whole number from 1"),
        ("--request-rate", "0", "not a rate"),
        ("--request-rate", "1e9", "not a rate"),
        ("--duration", "0", longer),
        ("--duration", "40d", "unknown unit 'd'"),
        ("--duration", "1000h", "not between 0 and 30 days"),
        ("--timeout", "0", longer),
        ("--timeout", "-3", "not between 0 and 30 days"),
        ("--connect-timeout", "0ms", longer),
        ("--first-token-timeout", "0", longer),
        ("--idle-timeout", "0s", longer),
        ("--temperature", "99", "not between 0 and 10"),
        ("--osl", "0", "output tokens cannot have mean 0"),
        ("--isl", "0", "input tokens cannot have mean 0"),
        ("--seed", "99999999999999999999999", "write digits alone"),
    ] {
        run(&[flag, value], &[says]);
    }
    run(&["--request-rate", "5", "--burstiness", "-1"], &["--burstiness '-1': not between 0.001 and 1000"]);
    run(&["--osl", "10", "--osl-stddev", "-3"], &["--osl-stddev '-3': not a deviation in tokens"]);
}

#[test]
fn names_of_figures_and_prices() {
    run(&["--goodput", "ttfx:300"], &["no request has a figure `ttfx`", "did you mean `ttft`"]);
    run(&["--goodput", "ttft:abc"], &["`abc` is no limit for ttft", "300, 300ms or 2s"]);
    run(&["--fail-if", "ttfx_p95>500ms"], &["no figure `ttfx_p95`", "did you mean `ttft_p95`"]);
    run(&["--fail-if", "ttft_p95>500parsec"], &["`500parsec` is no limit for ttft_p95"]);
    run(&["--fail-if", "ttft_p42>5"], &["say which quantile of ttft", "_p95"]);
    run(&["--fail-if", "ttft_p95"], &["one of > >= < <="]);
    run(&["--price", "foo=3"], &["there is no price 'foo'", "input, output, cache_read"]);
    run(&["--price", "input=abc"], &["price 'input' cannot be 'abc'", "as in input=0.25"]);
    run(&["--price", ""], &["as in input=3,output=15"]);
}

#[test]
fn what_is_missing_and_what_does_not_go_together() {
    check(&["run"], 2, &["--url is missing", "as in --url http://127.0.0.1:8000/v1"]);
    check(&["run", "-u", "http://h"], 2, &["--model is missing"]);
    run(&["--concurrency", "1,4", "--request-rate", "5"], &["do not go together", "concurrency is one cap"]);
    run(&["--arrival", "poisson"], &["--request-rate is missing"]);
    run(&["--burstiness", "2"], &["--request-rate is missing"]);
    let shaped = ["--request-rate", "5", "--arrival", "poisson", "--burstiness", "2"];
    run(&shaped, &["only gamma arrivals have a shape"]);
    run(
        &["--api-key", "k", "-H", "authorization: Bearer k"],
        &["do not go together", "among the headers too"],
    );
    run(&["--concurrency", "1,4,1"], &["'1' stands twice"]);
    run(&["--isl", "10", "--dataset", "x"], &["'--isl <N>' cannot be used with '--dataset <FILE>'"]);
    run(&["--isl-stddev", "3"], &["required arguments were not provided", "--isl"]);
    run(&["--osl-stddev", "3"], &["required arguments were not provided", "--osl"]);
    run(&["--api-key", "k", "--api-key-env", "K"], &["cannot be used with"]);
}

#[test]
fn addresses() {
    for (url, says) in [
        ("ftp://h", "must begin with http:// or https://"),
        ("localhost:8000", "must begin with http:// or https://"),
        ("http://", "write it as http://host:port/v1"),
        ("http://h:99999", "not a number from 1 to 65535"),
        ("http://h/a b", "a space or a control character"),
    ] {
        check(&["run", "-u", url, "-m", "m"], 2, &["--url", url, says]);
    }
    run(&["--cacert", "/no/such.pem"], &["--cacert /no/such.pem", "No such file"]);
}

/// What may be a key is not shown, in whatever wrong place it was typed.
#[test]
fn keys_in_wrong_places() {
    let refused = |target: &[&str], flags: &[&str], says: &str| {
        let dir = tempfile::tempdir().unwrap();
        let mut command = inferometer(dir.path());
        let ended: Ended = command.arg("run").args(target).args(flags).output().unwrap().into();
        assert_ended(&ended, 2, &[says]);
        assert!(!ended.stderr.contains("s3cr3t"), "{}", ended.stderr);
    };
    for (flag, value, says) in [
        ("--api-key-env", "sk-s3cr3t", "name the variable, not the key itself"),
        ("-H", "Bearer s3cr3t", "write it as 'Name: value'"),
        ("-H", "X Key: s3cr3t", "'X Key: …': not a header name"),
        ("-H", "X-Key: s3cr3t\n2", "the value holds a character that no header can carry"),
        ("--extra", "sk-s3cr3t", "write '{\"top_p\":1}'"),
        ("--extra", "\"sk-s3cr3t\"", "not a JSON object (no braces around it)"),
        ("--extra", "{\"key\":\"s3cr3t\"", "not a JSON object (EOF"),
        ("--api-key", "s3cr3t\n2", "the key holds a character that no header can carry"),
    ] {
        refused(&NOWHERE, &[flag, value], says);
    }
    let address = ["-u", "http://me:s3cr3t@h/v1", "-m", "m"];
    refused(&address, &[], "credentials do not belong in the address");
    run(&["--api-key-env", "NO_SUCH_KEY"], &["--api-key-env 'NO_SUCH_KEY'", "not set, or empty"]);
}

/// Bytes that are no text, as old file names have them.
#[cfg(unix)]
#[test]
fn arguments_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let dir = tempfile::tempdir().unwrap();
    let bytes = OsStr::from_bytes(b"caf\xe9");
    for (flag, says) in [("--model", "invalid UTF-8"), ("--dataset", "cannot open dataset caf")] {
        let mut command = inferometer(dir.path());
        command.args(["run", "-u", "http://h"]).arg(flag).arg(bytes);
        if flag != "--model" {
            command.args(["-m", "m"]);
        }
        assert_ended(&command.output().unwrap().into(), 2, &[says]);
    }
}

#[test]
fn datasets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("prompts.jsonl");
    let path = path.to_str().unwrap();
    for (text, says) in [
        ("", "is empty: give at least one line such as {\"prompt\": \"…\"}"),
        ("{\"prompt\":\"a\"}\n{\"promt\":\"b\"}\n", "line 2: no prompt: write {\"prompt\": \"…\"}"),
        ("{\"prompt\":\"a\"}\n\n{\"prompt\":\n", "line 3: EOF while parsing a value"),
        ("[1]", "line 1"),
        ("{\"messages\":[]}\n", "line 1"),
    ] {
        std::fs::write(path, text).unwrap();
        run(&["--dataset", path], &[path, says]);
    }
    run(&["--dataset", "/no/such.jsonl"], &["cannot open dataset /no/such.jsonl", "No such file"]);
    run(&["--dataset", dir.path().to_str().unwrap()], &["Is a directory"]);
}

#[test]
fn simulations() {
    check(&["simulate", "--ttft", "soon"], 2, &["--ttft", "as in `50ms`"]);
    check(&["simulate", "--rate", "fast"], 2, &["tokens per second", "`flood`"]);
    check(&["simulate", "--listen", "here"], 2, &["--listen"]);
    check(&["simulate", "/no/such.toml"], 2, &["/no/such.toml", "No such file"]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sim.toml");
    std::fs::write(&path, "[[model]]\nname = \"m\"\nspeed = 3\n").unwrap();
    check(&["simulate", path.to_str().unwrap()], 2, &["unknown field `speed`", "expected one of", "rate"]);
}

/// More connections than this process may open: said beforehand, with both numbers.
#[cfg(unix)]
#[test]
fn a_load_beyond_the_file_limit() {
    let dir = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 256 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_inferometer"), "run"]);
    shell.args(NOWHERE).args(["-c", "1,1000"]);
    let says = ["1064 open files", "the system allows 256", "ask for fewer requests in flight"];
    assert_ended(&apart(shell, dir.path()).output().unwrap().into(), 2, &says);
}
