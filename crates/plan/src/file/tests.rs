//! What a plan file means, and everything that can be wrong in one.

use std::path::Path;

use serde_json::{Value, json};

use crate::{Error, Plan};

const SEED: u64 = 7;
/// A target of which nothing is wrong.
const TARGET: &str = "[[target]]\nurl = \"http://h\"\nmodel = \"m\"\n";

/// The plan of `text`, in an environment that has one key and one host.
fn read(text: &str) -> Result<Plan, Error> {
    let env = |name: &str| match name {
        "GROQ_API_KEY" | "KEY" => Some("sk-s3cr3t-key".to_string()),
        "HOST" => Some("inner.example".to_string()),
        _ => None,
    };
    let book = |provider: &str, model: &str| {
        (provider == "groq" && model == "m").then(|| "input=1,output=2".parse().unwrap())
    };
    Plan::from_toml(text, Path::new("dir/plan.toml"), env, SEED, Some(&book))
}

/// The plan as `run.json` has it.
fn plan(text: &str) -> Value {
    serde_json::to_value(read(text).unwrap_or_else(|error| panic!("{error}"))).unwrap()
}

/// The plan of a target and `text`.
fn with_target(text: &str) -> Value {
    plan(&format!("{TARGET}{text}"))
}

#[test]
fn what_is_not_said_is_as_on_the_command_line() {
    use clap::Parser;
    #[derive(Parser)]
    struct Typed {
        #[command(flatten)]
        flags: crate::RunFlags,
    }
    let typed = ["run", "--url", "http://h", "--model", "m"];
    let flags = Typed::try_parse_from(typed).unwrap().flags;
    let mut typed = serde_json::to_value(flags.resolve(|_| None, SEED).unwrap()).unwrap();
    typed["name"] = json!("plan");
    assert_eq!(with_target(""), typed);
}

#[test]
fn targets() {
    let text = "[[target]]\nprovider = \"groq\"\nmodel = \"m\"\nregion = \"eu\"\nextra = { top_p = 0.9 }\n\
                think_tags = true\nconcurrency_limit = 4\nheaders = { X-Team = \"a\" }";
    let target = &plan(text)["targets"][0];
    let right = json!({
        "name": "m@api.groq.com", "url": "https://api.groq.com/openai/v1/chat/completions", "model": "m",
        "dialect": "chat", "key_source": "GROQ_API_KEY", "headers": ["x-team", "authorization"],
        "price": "input=1,output=2", "extra": {"top_p": 0.9}, "include_usage": true, "stream": true,
        "connection": "reuse", "http2": false, "cacert": null, "insecure": false, "provider": "groq",
        "concurrency_limit": 4, "declared": {"region": "eu", "precision": null, "terms": crate::preset("groq").and_then(crate::presets::Preset::links)},
        "think_tags": true, "reasoning": null,
    });
    assert_eq!(*target, right);
    for (said, right) in [
        ("terms = \"ours\"", json!("ours")),
        ("url = \"http://h\"\napi_key_env = \"GROQ_API_KEY\"", json!(null)),
    ] {
        let target = format!("[[target]]\nprovider = \"groq\"\nmodel = \"m\"\n{said}");
        assert_eq!(plan(&target)["targets"][0]["declared"]["terms"], right, "{said}");
    }
    for (typed, price, source) in [
        ("\"input=3,output=15\"", "input=3,output=15", "the plan"),
        ("{ input = 0.15, output = 1, date = 2026-11-30 }", "input=0.15,output=1", "the plan, 2026-11-30"),
        (
            "{ input = 1, output = \"2\", request = 0.01, source = \"us\" }",
            "input=1,output=2,request=0.01",
            "us",
        ),
    ] {
        let plan = read(&format!("{TARGET}price = {typed}")).unwrap();
        let price_of = plan.targets[0].price.clone().unwrap();
        assert_eq!((price_of.to_string().as_str(), price_of.source.as_str()), (price, source));
        assert_eq!(plan.study().targets[0].price_source.as_deref(), Some(source));
    }
}

/// A key and a host are sent, and stand in nothing that is written.
#[test]
fn variables_are_secrets() {
    for text in [
        "url = \"http://h\"\napi_key = \"${KEY}\"",
        "url = \"http://h\"\napi_key_env = \"KEY\"",
        "url = \"http://h\"\nheaders = { X-Key = \"Basic ${KEY}\" }",
        "url = \"http://${HOST}/v1?k=${KEY}\"",
    ] {
        let plan = read(&format!("[[target]]\nmodel = \"m\"\n{text}")).unwrap();
        let written = serde_json::to_string(&plan).unwrap() + &plan.targets[0].shown_url;
        assert!(!written.contains("s3cr3t") && !written.contains("inner"), "{written}");
        assert_eq!(plan.secrets.redact("it was sk-s3cr3t-key!"), "it was [redacted]!", "{text}");
    }
    let plan = read("[[target]]\nmodel = \"m\"\nurl = \"http://${HOST}/v1\"").unwrap();
    assert_eq!(plan.targets[0].url, "http://inner.example/v1/chat/completions");
    assert_eq!(plan.targets[0].name, "m@[redacted]");
}

/// What is sent stands in the manifest, with one's own parameters beside it.
#[test]
fn reasoning_is_spelled_by_provider_and_dialect() {
    let check = |text: &str, right: Value| {
        let target = plan(&format!("[[target]]\nmodel = \"gemini-2.5-flash\"\n{text}"))["targets"][0].clone();
        assert_eq!((&target["extra"], target["reasoning"].is_null()), (&right, false), "{text}");
    };
    let own = "url = \"http://h\"\ndialect = ";
    let thinking = |config: Value| json!({"generationConfig": {"thinkingConfig": config}});
    check(&format!("{own}\"gemini\"\nreasoning = {{ budget = 9 }}"), thinking(json!({"thinkingBudget": 9})));
    let extra = "extra = { generationConfig = { thinkingConfig = { includeThoughts = true } } }";
    let both = json!({"thinkingBudget": 0, "includeThoughts": true});
    check(&format!("{own}\"gemini\"\nreasoning = \"off\"\n{extra}"), thinking(both));
    check(&format!("{own}\"responses\"\nreasoning = \"high\""), json!({"reasoning": {"effort": "high"}}));
    let groq = |extra: &str| {
        read(&format!(
            "[[target]]\nprovider = \"groq\"\nmodel = \"gpt-oss-120b\"\nreasoning = \"low\"\nextra = {{ {extra} }}"
        ))
    };
    assert_eq!(groq("reasoning_effort = \"low\"").unwrap().targets[0].extra["reasoning_effort"], "low");
    let refused = groq("reasoning_effort = \"high\"").unwrap_err().to_string();
    assert!(
        refused.contains("plan.toml:4:13") && refused.contains("extra says reasoning_effort otherwise"),
        "{refused}"
    );
}

/// A key that a command prints is sent, and stands nowhere else; nor does the command.
#[test]
fn a_key_may_be_printed() {
    let text = "[[target]]\nmodel = \"m\"\nurl = \"http://h\"\nkey_cmd = \"printf sk-; echo printed-key\"";
    let plan = read(text).unwrap();
    assert_eq!(plan.targets[0].headers[0].1, "Bearer sk-printed-key");
    let written = serde_json::to_string(&plan).unwrap() + &format!("{plan:?}");
    assert!(!written.contains("printed-key"), "{written}");
    assert_eq!(plan.targets[0].key_source.as_deref(), Some("key_cmd"));
    assert_eq!(plan.secrets.redact("it was sk-printed-key!"), "it was [redacted]!");
}

#[test]
fn workloads() {
    let check = |text: &str, name: &str, source: Value, max_tokens: Value| {
        let workload = with_target(&format!("[[workload]]\n{text}"))["workloads"][0].clone();
        assert_eq!(workload["name"], name, "{text}");
        assert_eq!((&workload["source"], &workload["max_tokens"]), (&source, &max_tokens), "{text}");
    };
    let lengths = |mean: u32, stddev: f64| json!({"mean": mean, "stddev": stddev});
    check("", "builtin", json!({"builtin": {"output": null}}), Value::Null);
    check("max_tokens = 9", "builtin", json!({"builtin": {"output": lengths(9, 0.0)}}), json!(9));
    let synthetic = json!({"synthetic": {"input": lengths(500, 50.0), "output": null}});
    check("isl = 500\nisl_stddev = 50", "isl500", synthetic, Value::Null);
    let dataset = json!({"dataset": {"path": "dir/mine.jsonl", "output": null}});
    check("dataset = \"mine.jsonl\"", "mine", dataset, Value::Null);
    let shipped = with_target("[[workload]]\nkind = \"rag\"\nisl = 1000")["workloads"][0].clone();
    assert_eq!(shipped["source"]["shipped"]["input"], lengths(1000, 0.0));
    assert!(shipped["max_tokens"].is_number(), "{shipped}");
    let checked = with_target("[[workload]]\ncheck = { all = [\"not_empty\", { contains = \"x\" }] }");
    assert_eq!(checked["workloads"][0]["check"], json!({"all": ["not_empty", {"contains": "x"}]}));
}

#[test]
fn loads() {
    let check = |text: &str, right: &[&str]| {
        let loads = with_target(text)["loads"].clone();
        let names: Vec<_> =
            loads.as_array().unwrap().iter().map(|load| load["name"].as_str().unwrap()).collect();
        assert_eq!(names, right, "{text}");
    };
    check("", &["c1"]);
    check("[load]\nconcurrency = [1, 4, 16]", &["c1", "c4", "c16"]);
    check("[load]\nrequest_rate = [0.5, 20]\narrival = \"constant\"", &["constant-0.5", "constant-20"]);
    check("[load]\ncoldstart = { gap = \"4s\" }\nburst = { size = 20 }", &["coldstart-4s", "burst-20"]);
    check("[load]\nconcurrency = 2\ncoldstart = { gap = 4 }", &["c2", "coldstart-4s"]);
    check("[[load]]\nname = \"a\"\n[[load]]\nname = \"b\"\nconcurrency = [1, 2]", &["a", "b-c1", "b-c2"]);
    let stop = |text: &str| with_target(text)["loads"][0]["stop"]["requests"].clone();
    assert_eq!(stop("[profile.production]"), 300);
    assert_eq!(stop("[protocol]\ntrials = 25"), 25);
    assert_eq!(stop("[protocol]\ntrials = 25\n[load]\nrequests = 9"), 9);
    assert_eq!(stop("[load]\nburst = { size = 2, episodes = 3 }"), 3);
}

#[test]
fn protocol() {
    let two = format!("{TARGET}{}", TARGET.replace("\"m\"", "\"n\""));
    let turns =
        json!({"order_seed": 7, "slice_s": 10.0, "max_lag": 3, "together": false, "patience_s": 30.0});
    assert_eq!(plan(&two)["protocol"]["blocks"], turns);
    let check = |text: &str, field: &str, right: Value| {
        assert_eq!(plan(&format!("{two}[protocol]\n{text}"))["protocol"][field], right, "{text}");
    };
    check("interleave = \"off\"", "blocks", Value::Null);
    let together =
        json!({"order_seed": 5, "slice_s": 20.0, "max_lag": 1, "together": true, "patience_s": 1.0});
    let text = "interleave = \"together\"\nslice = 20\nmax_lag = 1\npatience = \"1s\"\nseed = 5";
    check(text, "blocks", together);
    check("precision = \"10%\"", "precision", json!({"figure": "ttft_p50", "goal": 0.1}));
    let named = "precision = { goal = 0.05, figure = \"e2el_p95\" }";
    check(named, "precision", json!({"figure": "e2el_p95", "goal": 0.05}));
    check("cache = \"as-is\"", "cache", json!("as-is"));
    let plan = plan(&format!("{two}[protocol]\ngoodput = \"ttft:300\"\nfail_if = [\"ttft_p95>1s\"]"));
    assert_eq!((&plan["objectives"], &plan["gates"]), (&json!("ttft:300"), &json!(["ttft_p95>1s"])));
}

#[test]
fn profiles_and_the_rest() {
    let plan = read(&format!(
        "{TARGET}[profile.chat]\nttft_p95 = \"1s\"\nerror_rate = \"1%\"\nuseful = \"95%\"\nspeed_p50 = 30\n\
         [profile.batch]\nload = \"c1\"\n[compare]\nequivalence = {{ share = \"5%\" }}\nmonthly_requests = 1000\n\
         [budget]\nrequests = 10\nmoney = 0.5\ntime = \"1h\""
    ));
    let refused = plan.unwrap_err().to_string();
    assert!(refused.contains("a limit on money needs a price of 'm@h'"), "{refused}");
    let plan = read(&format!(
        "{TARGET}price = \"input=1,output=2\"\n[profile.chat]\nttft_p95 = \"1s\"\nerror_rate = \"1%\"\n\
         useful = \"95%\"\nspeed_p50 = 30\n[profile.batch]\nload = \"c1\"\n\
         [compare]\nequivalence = {{ share = \"5%\" }}\nmonthly_requests = 1000\n\
         [budget]\nrequests = 10\nmoney = 0.5\ntime = \"1h\""
    ))
    .unwrap();
    let study = serde_json::to_value(plan.study()).unwrap();
    let chat = json!(["ttft_p95>1s", "error_rate>1%", "useful<95%", "speed_p50<30"]);
    assert_eq!((&study["profiles"][0]["kind"], &study["profiles"][0]["limits"]), (&json!("chat"), &chat));
    assert_eq!(
        (&study["profiles"][1]["kind"], &study["profiles"][1]["load"]),
        (&json!("batch"), &json!("c1"))
    );
    assert_eq!(study["equivalence"], json!({"ratio": 0.1, "share": 0.05}));
    assert_eq!(study["monthly_requests"], 1000);
    let budget = json!({"requests": 10, "tokens": null, "money": "0.5", "time_s": 3600.0});
    assert_eq!(serde_json::to_value(plan.budget).unwrap(), budget);
}

mod refused;
