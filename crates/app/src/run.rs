//! `run`: preflight, cells, summary, report.

use std::path::{Path, PathBuf};

use clap::Args;
use inferometer_clock::{Clock, Mono, Wall};
use inferometer_load::{Control, Past, Runner};
use inferometer_plan::{Arrival, Plan, RunFlags};
use inferometer_price::Book;
use inferometer_record::{Manifest, RunReader, RunWriter, Segment, State, Tail};
use inferometer_transport::Environment;
use inferometer_workload::Prompts;
use rand::TryRng;
use rand::rngs::SysRng;
use serde_json::Value;

use crate::client::RunClient;
use crate::console::say;
use crate::dry_run::dry_run;
use crate::export::{Table, export};
use crate::session::Session;
use crate::{Error, Exit, OutputFlags, machine, prices, report, self_check, signals};

/// Folder that runs go into where `--out` names none.
pub(crate) const RUNS: &str = "runs";
/// Open files beyond a connection per request in flight: timers, files, standard streams.
const SPARE_FILES: u64 = 64;
/// Open files asked for where a load does not bound its requests in flight; it gets what the system allows.
const UNBOUNDED_FILES: u64 = 65_536;

/// A plan, or the two flags without which there is nothing to measure.
const USAGE: &str =
    "inferometer run [PLAN.toml] [OPTIONS]\n       inferometer run --url <URL> --model <MODEL> [OPTIONS]";

/// What stands below the flags of `run -h`.
const EXAMPLES: &str = "\
Examples:
  inferometer run -u http://127.0.0.1:8000 -m my-model
  inferometer run -u https://host/v1 -m my-model --api-key-env MY_KEY -c 1,4,16
  inferometer run -u http://127.0.0.1:8000 -m my-model --request-rate 20 \\
      --duration 60s --isl 500 --osl 100 --fail-if 'ttft_p95>500ms'";

/// What stands below them in `run --help`.
const MORE: &str = "\
Times are 250ms, 30s, 5m or 1h; a bare number is seconds.

Exit status:
  0  done
  1  internal or file error
  2  bad arguments
  3  preflight failed: cannot reach, TLS, key refused, model unknown
  4  a gate was not met; with --strict, or is not proven
  5  no request succeeded
  6  with --strict: the result is not valid
  130, 143  interrupted by Ctrl-C or SIGTERM; the report was written
Where several hold, the first of: interrupted, 2, 1, 3, 5, 6, 4.";

/// Arguments of `run`.
#[derive(Args, Clone, Debug)]
#[command(override_usage = USAGE)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{MORE}"))]
pub struct RunCommand {
    /// What is measured.
    #[command(flatten)]
    pub measure: RunFlags,
    /// What becomes of it.
    #[command(flatten)]
    pub output: OutputFlags,
    /// Price book that targets without a price are looked up in [default: prices.toml beside the plan, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Target")]
    pub book: Option<PathBuf>,
}

/// Measures what the flags or the plan file describe. `argv` is the command line as it was typed.
pub fn run(command: &RunCommand, argv: &[String]) -> Result<Exit, Error> {
    let past = command.measure.resume.as_deref().map(RunReader::open).transpose()?;
    // A run that goes on keeps its prompts and its schedule.
    let known_seed = past.as_ref().and_then(|past| past.manifest().plan.pointer("/protocol/seed")?.as_u64());
    let seed = known_seed.map_or_else(|| random().map(|seed| seed >> 11), Ok)?;
    let book = book(command)?;
    let price = |provider: &str, model: &str| book.as_ref()?.price(provider, model);
    let plan = command.measure.plan(|name| std::env::var(name).ok(), seed, Some(&price))?;
    if command.measure.dry_run {
        return dry_run(&plan, &prepare(&plan, "dry-run")?);
    }
    execute_from(&plan, &command.output, argv, Environment::of_process(), past.as_ref())
}

/// The price book that was named, else the one beside the plan.
fn book(command: &RunCommand) -> Result<Option<Book>, Error> {
    if let Some(named) = &command.book {
        return prices::open(named).map(Some);
    }
    let beside = command.measure.plan.as_deref().map(|plan| plan.with_file_name(prices::BOOK));
    beside.filter(|book| book.exists()).map(|book| prices::open(&book)).transpose()
}

/// Runs `plan` from its first check to its report, over the proxies of `environment`.
pub(crate) fn execute(
    plan: &Plan,
    output: &OutputFlags,
    argv: &[String],
    environment: Environment,
) -> Result<Exit, Error> {
    execute_from(plan, output, argv, environment, None)
}

/// The same; `past` is the run that goes on where an earlier process was stopped.
fn execute_from(
    plan: &Plan,
    output: &OutputFlags,
    argv: &[String],
    environment: Environment,
    past: Option<&RunReader>,
) -> Result<Exit, Error> {
    raise_file_limit(plan)?;
    let created = Wall::now();
    let run_id = match past {
        None => format!("{}-{:06x}", created.compact(), random()? & 0xff_ffff),
        Some(past) => past.manifest().run_id.clone(),
    };
    let prompts = prepare(plan, &run_id)?;
    plan.check_sayable(&prompts)?;
    plan.check_spend(&prompts)?;
    let (clock, origin, control) = (Clock::monotonic(), Clock::monotonic().now(), Control::default());
    let mut runner = Runner::new(plan, &run_id, origin, environment, control.clone());
    runner.check()?;
    let mut writer = match past {
        None => create(plan, output, manifest(plan, &run_id, created, origin, argv))?,
        Some(past) => go_on(plan, past, &mut runner, origin, created)?,
    };
    let self_check = self_check::of_this_machine(output.self_check)?;
    writer.update(|manifest| manifest.self_check = self_check.clone())?;
    let interrupt = signals::listen(control.clone())
        .map_err(|source| Error::System { doing: "listening for signals", source })?;
    let mut session =
        Session { plan, output, prompts: &prompts, clock, control, self_check, runner, writer: &mut writer };
    let ran = session.run();
    let ended = Clock::monotonic().now();
    writer.update(|manifest| manifest.segments.iter_mut().last().into_iter().for_each(|it| it.end(ended)))?;
    let whole = ran.is_ok() && interrupt.signal().is_none();
    let state = if whole { State::Complete } else { State::Interrupted };
    if let Err(error) = ran {
        let dir = writer.finish(state)?;
        if !matches!(error, Error::Preflight(_)) {
            say(&format!("what was measured until then: inferometer report {}", dir.display()));
        }
        return Err(error);
    }
    finish(writer, state, output, interrupt.signal())
}

/// Makes the run's folder and says where it is.
fn create(plan: &Plan, output: &OutputFlags, manifest: Manifest) -> Result<RunWriter, Error> {
    let (out, runs) = (output.out.as_deref(), Path::new(RUNS));
    let mut writer = RunWriter::create(out, runs, &plan.name, manifest, !output.no_events)?;
    if plan.protocol.keep_text {
        writer.keep_texts()?;
    }
    say(&format!("recording in {}", writer.dir().display()));
    Ok(writer)
}

/// Opens the folder of a run that goes on, tells the runner what is done, and says what a kill tore off.
fn go_on(
    plan: &Plan,
    reader: &RunReader,
    runner: &mut Runner<'_>,
    origin: Mono,
    now: Wall,
) -> Result<RunWriter, Error> {
    if let Some(key) = differing(&reader.manifest().plan, &shown(plan)) {
        return Err(Error::OtherPlan { path: reader.dir().display().to_string(), key });
    }
    let past = Past::read(reader, plan)?;
    let mut writer = RunWriter::reopen(reader.dir(), past.segment(origin, now))?;
    // What may have changed counts from now on.
    writer.update(|manifest| (manifest.plan, manifest.study) = (shown(plan), study(plan)))?;
    say(&format!("going on in {}{}", writer.dir().display(), torn(past.tail())));
    runner.resume(past);
    Ok(writer)
}

/// Keys of a plan that say nothing of what is asked: they may change when a run goes on.
const MAY_CHANGE: [&str; 6] =
    ["budget", "gates", "pair_gates", "profiles", "equivalence", "monthly_requests"];

/// The first key in which two plans ask for something else, in the order of the first.
fn differing(before: &Value, now: &Value) -> Option<String> {
    let (Value::Object(before), Value::Object(now)) = (before, now) else {
        return (before != now).then(|| "plan".to_owned());
    };
    let keys = before.keys().chain(now.keys().filter(|key| !before.contains_key(*key)));
    let mut asks = keys.filter(|key| !MAY_CHANGE.contains(&key.as_str()));
    let key = asks.find(|key| before.get(*key) != now.get(*key))?;
    let inner = before.get(key).zip(now.get(key)).filter(|(_, now)| now.is_object());
    let within = inner.and_then(|(before, now)| differing(before, now));
    Some(within.map_or_else(|| key.clone(), |within| format!("{key}.{within}")))
}

/// What is said of the end that a kill tore off.
fn torn(tail: Tail) -> &'static str {
    if tail == Tail::default() { "" } else { " (its last line was torn, and is cut off)" }
}

/// Summary, report, exit status; all from the folder.
fn finish(
    mut writer: RunWriter,
    state: State,
    output: &OutputFlags,
    signal: Option<u8>,
) -> Result<Exit, Error> {
    // The summary says the state too, so that this comes before it; the rest of the manifest is known behind it.
    writer.flush()?;
    writer.update(|manifest| manifest.state = state)?;
    let summary = report::summarise(writer.dir(), output.baseline.as_deref())?;
    // Plain data: that it is no JSON cannot happen.
    let client = serde_json::to_value(RunClient::of(&summary)).unwrap_or_default();
    writer.update(|manifest| manifest.client = client)?;
    let dir = writer.finish(state)?;
    let reader = RunReader::open(&dir)?;
    report::show(&reader, &summary, output.format)?;
    let mut exit = report::exit(&summary, output.strict);
    if output.parquet {
        let path = dir.join(Table::Parquet.file());
        exit = exit.or(export(&reader, Table::Parquet, &path, output.parquet_writer)?);
    }
    Ok(signal.map_or(exit, |signal| Exit::Interrupted { signal }.or(exit)))
}

/// The prompts of each workload.
fn prepare(plan: &Plan, run_id: &str) -> Result<Vec<Prompts>, Error> {
    let protocol = &plan.protocol;
    // The measured prompts of the largest cell, and those of warm-up and preflight.
    let most = plan.loads.iter().map(|load| load.stop.requests).collect::<Option<Vec<_>>>();
    let most = most
        .and_then(|counts| counts.into_iter().max())
        .map(|requests| requests.saturating_add(protocol.warmup).saturating_add(1));
    let prepare = |workload: &inferometer_plan::Workload| {
        Prompts::prepare(&workload.source, most, protocol.seed, run_id, protocol.cache)
    };
    Ok(plan.workloads.iter().map(prepare).collect::<Result<_, _>>()?)
}

fn manifest(plan: &Plan, run_id: &str, created: Wall, origin: Mono, argv: &[String]) -> Manifest {
    Manifest {
        argv: plan.secrets.redact_all(argv),
        segments: vec![Segment::new(origin, created)],
        plan: shown(plan),
        study: study(plan),
        environment: machine::describe(),
        ..Manifest::new(run_id, created)
    }
}

/// What comparisons and decisions need to know of the plan.
fn study(plan: &Plan) -> Value {
    // Plain data: that it is no JSON cannot happen.
    serde_json::to_value(plan.study()).unwrap_or_default()
}

/// The plan as the manifest keeps it. It shows no key by itself; should one stand where none is looked for, it is taken
/// out here.
fn shown(plan: &Plan) -> Value {
    plan.secrets.redact_value(serde_json::to_value(plan).unwrap_or_default())
}

/// Raises the soft limit of open files to what the plan's largest load needs.
fn raise_file_limit(plan: &Plan) -> Result<(), Error> {
    let bounded = plan.loads.iter().map(|load| match load.arrival {
        Arrival::Closed { slots, .. } => Some(u64::from(slots)),
        Arrival::Open { cap, .. } => cap.map(u64::from),
        Arrival::ColdStart { .. } => Some(1),
        Arrival::Burst { size, .. } => Some(u64::from(size)),
    });
    let most = bounded.collect::<Option<Vec<u64>>>().map(|bounds| bounds.into_iter().max().unwrap_or(0));
    match inferometer_transport::raise_file_limit(most.unwrap_or(UNBOUNDED_FILES) + SPARE_FILES) {
        Err(limit) if most.is_some() => Err(Error::FileLimit { needed: limit.needed, have: limit.have }),
        // Whatever the system gave is what an unbounded load gets; beyond it samples say client_limit.
        _ => Ok(()),
    }
}

/// A random number from the system.
fn random() -> Result<u64, Error> {
    SysRng.try_next_u64().map_err(|error| Error::System {
        doing: "asking the system for a random number",
        source: std::io::Error::other(error),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_asked_may_not_change_when_a_run_goes_on() {
        let plan = json!({"targets": [1], "protocol": {"seed": 1, "warmup": 3}, "budget": {"money": "1"}});
        let check = |now: Value, right: Option<&str>| {
            assert_eq!(differing(&plan, &now).as_deref(), right, "{now}");
        };
        check(plan.clone(), None);
        check(json!({"targets": [1], "protocol": {"seed": 1, "warmup": 3}, "budget": {"money": "2"}}), None);
        check(json!({"targets": [1], "protocol": {"seed": 2, "warmup": 3}}), Some("protocol.seed"));
        check(json!({"targets": [2], "protocol": {"seed": 1, "warmup": 3}}), Some("targets"));
        check(json!({"targets": [1], "protocol": {"seed": 1, "warmup": 3}, "loads": []}), Some("loads"));
        check(Value::Null, Some("plan"));
    }
}
