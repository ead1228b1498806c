//! The check that a plan's workload names: it grades the answers to prompts that bring none of their own.

use std::fs;

use inferometer_sim::{Config, Model, Server};
use serde_json::Value;

use crate::support::{Ended, inferometer};

/// A run of two prompts, of which the second brings a check that every answer passes; the grades by prompt.
fn grades(check: &str) -> Vec<(String, Value)> {
    let dir = tempfile::tempdir().unwrap();
    let sim = Server::start(Config::single(Model::default())).unwrap();
    let prompts = "{\"id\":\"plain\",\"prompt\":\"Say a word.\"}\n\
                   {\"id\":\"own\",\"prompt\":\"Say two.\",\"check\":\"not_empty\"}\n";
    fs::write(dir.path().join("prompts.jsonl"), prompts).unwrap();
    let plan = format!(
        "[[target]]\nname = \"a\"\nurl = \"{}\"\nmodel = \"sim\"\n\
         [[workload]]\ndataset = \"prompts.jsonl\"\nmax_tokens = 4\n{check}\n\
         [load]\nconcurrency = 1\nrequests = 2\n[protocol]\nwarmup = 0\n",
        sim.base_url()
    );
    fs::write(dir.path().join("plan.toml"), plan).unwrap();
    let mut command = inferometer(dir.path());
    let ended: Ended = command.args(["run", "plan.toml", "--out", "out"]).output().unwrap().into();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let samples = fs::read_to_string(dir.path().join("out/samples.jsonl")).unwrap();
    let samples = samples.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let measured = samples.filter(|sample| sample["phase"] == "measure");
    measured
        .map(|sample| (sample["prompt_id"].as_str().unwrap().to_owned(), sample["grade"].clone()))
        .collect()
}

#[test]
fn a_workload_s_check_grades_what_has_none_of_its_own() {
    let check = |check: &str, plain: Value| {
        let right = [("plain".to_owned(), plain), ("own".to_owned(), Value::Bool(true))];
        assert_eq!(grades(check), right, "{check:?}");
    };
    check("", Value::Null);
    check("check = { contains = \"never said by a simulator\" }", Value::Bool(false));
    check("check = { max_length = 10000 }", Value::Bool(true));
}
