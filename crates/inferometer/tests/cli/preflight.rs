//! One request before the load: where it fails, one clear message, status 3, and no load.

use std::net::TcpListener;

use inferometer_sim::config::{Scenario, Tls};
use inferometer_sim::{Config, Model};

use crate::bench::{Bench, lines, quick};
use crate::support::Ended;

/// A provider with something to refuse under each model's name.
fn picky() -> Config {
    let refusing = |name: &str, field: &str| Model { refuse: vec![field.to_string()], ..quick(name) };
    let answer = |name: &str, script: &str| Scenario { name: name.to_string(), script: script.to_string() };
    Config {
        models: vec![
            quick("sim"),
            refusing("no-options", "stream_options"),
            refusing("no-limit", "max_tokens"),
            refusing("no-new-limit", "max_completion_tokens"),
            refusing("no-temperature", "temperature"),
            refusing("no-stream", "stream"),
        ],
        scenarios: vec![
            answer(
                "newer",
                r#"http 400; raw {"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}"#,
            ),
            answer("page", "http 200 content-type=text/html; raw <html>Welcome</html>"),
            answer("lost-page", "http 404 content-type=text/html; raw <html>Not Found</html>"),
            answer("old-page", "http 405; raw {}"),
            answer(
                "busy",
                "odd: http 429; raw {\"error\":{\"message\":\"slow down\"}} | else: 1 T · 2 fin, U(1,1), D",
            ),
            answer("odd", "http 422; raw {\"error\":{\"message\":\"no such thing\"}}"),
            answer("nobody", "http 400; raw {\"error\":{\"message\":\"invalid model=nobody\"}}"),
        ],
        ..Config::default()
    }
}

/// A run against `model` stops with all of `says` after its one request.
#[track_caller]
fn stops(bench: &Bench, first: &[&str], arguments: &str, says: &[&str]) {
    bench.server.reset();
    let ended = bench.command(first, arguments);
    assert_stopped(&ended, says);
    assert_eq!(bench.truth().counters.requests, 1, "no load was sent");
}

#[track_caller]
fn assert_stopped(ended: &Ended, says: &[&str]) {
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(3), ""), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("preflight failed: ").count(), 1, "{}", ended.stderr);
    for part in says {
        assert!(ended.stderr.contains(part), "`{part}` is not in: {}", ended.stderr);
    }
}

#[test]
fn a_field_that_the_server_refuses() {
    let bench = Bench::with(picky());
    let url = format!("{}/v1/chat/completions answered 400", bench.server.base_url());
    for (model, arguments, says) in [
        ("no-options", "", "the server refuses stream_options: --no-stream-options leaves it out"),
        ("no-limit", "--osl 5", "the server refuses max_tokens: --max-completion-tokens sends"),
        ("newer", "--osl 5", "the server refuses max_tokens: --max-completion-tokens sends"),
        ("no-new-limit", "--osl 5 --max-completion-tokens", "without --max-completion-tokens the limit"),
        ("no-temperature", "", "the server refuses temperature: --temperature gives"),
        ("no-stream", "--no-stream-options", "the server refuses stream: --no-stream asks for whole answers"),
    ] {
        stops(&bench, &["-m", model], arguments, &[&url, says]);
    }
    let odd = ["answered 422: no such thing", "--extra changes its fields"];
    stops(&bench, &["-m", "odd"], "", &odd);
}

/// Of several targets one refuses a field: said once, in its words. The others are measured, and its own cell says why it
/// is empty; whether the request before the load finds out, or the warm-ups do.
#[test]
fn a_field_that_one_target_refuses() {
    for (flag, requests) in [("", 1), ("--no-preflight", 3)] {
        let bench = Bench::with(picky());
        let base = bench.server.base_url();
        let target =
            |name: &str| format!("[[target]]\nname = \"{name}\"\nurl = \"{base}\"\nmodel = \"{name}\"\n");
        let load = "[protocol]\nwarmup = 3\n[load]\nrequests = 5\n";
        let plan = target("sim") + &target("no-temperature") + load;
        std::fs::write(bench.dir.path().join("plan.toml"), plan).unwrap();
        let mut command = crate::support::inferometer(bench.dir.path());
        command.args(["run", "plan.toml", "--out", "out", "--no-progress"]).args(flag.split_whitespace());
        let ended: Ended = command.output().unwrap().into();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let truth = bench.truth();
        let asked = truth.requests.iter().filter(|record| record.model == "no-temperature").count();
        assert_eq!(asked, requests, "{flag}");
        let words = "Unrecognized request argument supplied: temperature";
        assert_eq!(ended.stderr.matches(words).count(), 1, "{flag}: {}", ended.stderr);
        let summary = crate::bench::json(&bench.dir.path().join("out/summary.json"));
        let cells = summary["cells"].as_array().unwrap();
        let of = |name: &str| cells.iter().find(|cell| cell["target"] == name).unwrap();
        assert_eq!((&of("sim")["counts"]["ok"], &of("sim")["gap"]), (&5.into(), &serde_json::Value::Null));
        let refused = of("no-temperature");
        assert_eq!(refused["counts"]["issued"], 0);
        assert!(refused["gap"].as_str().unwrap().contains(words), "{refused}");
        let table = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(table.contains(words), "{}", ended.stdout);
    }
}

/// The remedies work.
#[test]
fn a_field_that_is_left_out() {
    let bench = Bench::with(picky());
    for (model, arguments) in
        [("no-options", "--no-stream-options"), ("no-limit", "--osl 5 --max-completion-tokens")]
    {
        let ended = bench.run(model, &format!("{arguments} -n 2 --warmup 0"));
        assert_eq!(ended.code, Some(0), "{model}: {}", ended.stderr);
    }
}

#[test]
fn an_unknown_model_and_a_wrong_path() {
    let bench = Bench::with(picky());
    let base = bench.server.base_url();
    let url = format!("{base}/v1/chat/completions answered 404");
    stops(&bench, &["-m", "unknown"], "", &[&url, "is 'unknown' a model of this server?"]);
    let routed = "answered 400: invalid model=nobody";
    stops(&bench, &["-m", "nobody"], "", &[routed, "is 'nobody' a model of this server?"]);
    let rule = "a bare host gets /v1; a longer prefix stays as it is";
    stops(&bench, &["-m", "lost-page"], "", &[&url, rule]);
    stops(&bench, &["-m", "old-page"], "", &["answered 405", rule]);
    let mut command = crate::support::inferometer(bench.dir.path());
    command.args(["run", "-m", "sim", "-u", &format!("{base}/wrong")]);
    let lost = format!("{base}/wrong/chat/completions answered 404");
    assert_stopped(&command.output().unwrap().into(), &[&lost, rule]);
    stops(&bench, &["-m", "page"], "", &["answered 200, but not as a chat endpoint", "text/html"]);
}

#[test]
fn a_key_that_is_refused() {
    let key = "sk-the-right-one";
    let bench = Bench::with(Config { require_key: Some(key.to_string()), ..picky() });
    stops(
        &bench,
        &["-m", "sim"],
        "",
        &["answered 401", "no key was sent: name its variable with --api-key-env"],
    );
    let wrong = ["-m", "sim", "--api-key", "sk-the-wrong-one"];
    stops(&bench, &wrong, "--out wrong", &["answered 401", "the key from --api-key was refused"]);
    let mut command = crate::support::inferometer(bench.dir.path());
    let typed =
        ["run", "-m", "sim", "-n", "2", "--warmup", "0", "--api-key-env", "SIM_KEY", "--out", "right"];
    command.args(typed).args(["-u", &bench.server.base_url()]).env("SIM_KEY", key);
    let ended: Ended = command.output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for (run, key) in [("wrong", "sk-the-wrong-one"), ("right", key)] {
        for file in std::fs::read_dir(bench.dir.path().join(run)).unwrap() {
            let path = file.unwrap().path();
            assert!(!std::fs::read_to_string(&path).unwrap().contains(key), "{}", path.display());
        }
    }
}

#[test]
fn nobody_there() {
    let bench = Bench::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (url, says) in [
        (format!("http://127.0.0.1:{port}"), "refused the connection: does a server listen there?"),
        ("http://no-such-host.invalid/v1".to_string(), "is the host's name right?"),
        (bench.server.base_url().replace("http:", "https:"), "http:// is for a server without TLS"),
    ] {
        let mut command = crate::support::inferometer(bench.dir.path());
        command.args(["run", "-m", "sim", "-u", &url, "-c", "50"]);
        assert_stopped(&command.output().unwrap().into(), &[&url, says]);
    }
    assert_eq!(bench.truth().counters.requests, 0);
}

/// Taken and never answered: that may be the load's own doing, so that it is measured, and fails.
#[test]
fn nobody_answers() {
    let bench = Bench::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut command = crate::support::inferometer(bench.dir.path());
    command.args(["run", "-m", "sim", "-u", &format!("http://{}", silent.local_addr().unwrap())]);
    command.args(["-n", "1", "--warmup", "0", "--timeout", "500ms"]);
    let ended: Ended = command.output().unwrap().into();
    assert_eq!(ended.code, Some(5), "{}", ended.stderr);
    let says = "the preflight request timed out: not complete within --timeout";
    assert!(ended.stderr.contains(says), "{}", ended.stderr);
}

#[test]
fn a_certificate_that_nobody_vouches_for() {
    let dir = tempfile::tempdir().unwrap();
    let certified = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
    let tls = Tls { cert: dir.path().join("cert.pem"), key: dir.path().join("key.pem") };
    std::fs::write(&tls.cert, certified.cert.pem()).unwrap();
    std::fs::write(&tls.key, certified.signing_key.serialize_pem()).unwrap();
    let cert = tls.cert.clone();
    let bench = Bench::with(Config { tls: Some(tls), models: vec![quick("sim")], ..Config::default() });
    let ended = bench.run("sim", "");
    assert_stopped(&ended, &["TLS", "certificate", "--cacert names a private CA, --insecure checks nothing"]);
    assert_eq!(bench.truth().counters.requests, 0);
    for (flag, value) in [("--cacert", cert.to_str().unwrap()), ("--insecure", "")] {
        let ended = bench.run("sim", &format!("-n 2 --warmup 0 {flag} {value}"));
        assert_eq!(ended.code, Some(0), "{flag}: {}", ended.stderr);
    }
    let mut plain = crate::support::inferometer(bench.dir.path());
    plain.args(["run", "-m", "sim", "-u", &bench.server.base_url().replace("https:", "http:")]);
    assert_stopped(&plain.output().unwrap().into(), &["http://"]);
}

#[test]
fn too_many_requests_is_a_warning() {
    let bench = Bench::with(picky());
    let ended = bench.run("busy", "-n 3 --warmup 0 --out run");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let warning = "the preflight request was answered 429: slow down\n  measuring all the same\n";
    assert!(ended.stderr.contains(warning), "{}", ended.stderr);
    let samples = lines(&bench.dir.path().join("run/samples.jsonl"));
    let seen: Vec<_> = samples.iter().map(|sample| (&sample["phase"], &sample["http_status"])).collect();
    assert_eq!(
        serde_json::json!(seen),
        serde_json::json!([["preflight", 429], ["measure", 200], ["measure", 429], ["measure", 200]])
    );
}

#[test]
fn it_is_logged_as_its_own_phase_and_can_be_left_out() {
    let bench = Bench::new();
    for (flag, preflights) in [("", 1), ("--no-preflight", 0)] {
        bench.server.reset();
        let out = format!("run{preflights}");
        assert_eq!(bench.run("sim", &format!("-n 3 --warmup 2 --out {out} {flag}")).code, Some(0));
        let samples = lines(&bench.dir.path().join(out).join("samples.jsonl"));
        let of = |phase: &str| samples.iter().filter(|sample| sample["phase"] == phase).count();
        assert_eq!([of("preflight"), of("warmup"), of("measure")], [preflights, 2, 3]);
        assert_eq!(bench.truth().counters.requests, preflights as u64 + 5);
    }
    // Without it the load itself finds out.
    assert_eq!(bench.run("unknown", "-n 3 --warmup 0 --no-preflight").code, Some(5));
}
