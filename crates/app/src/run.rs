//! `run`: preflight, cells, summary, report.

use std::path::Path;

use clap::Args;
use inferometer_clock::{Clock, Mono, Wall};
use inferometer_load::{Control, Runner};
use inferometer_metrics::CellContext;
use inferometer_plan::{Arrival, Cell, Plan, RunFlags};
use inferometer_record::{Manifest, RunWriter, Segment, State};
use inferometer_transport::Environment;
use inferometer_workload::Prompts;
use rand::TryRng;
use rand::rngs::SysRng;
use serde_json::Value;

use crate::client::RunClient;
use crate::console::say;
use crate::machine::{self, Moment};
use crate::preflight::{self, Finding};
use crate::progress::{Progress, Waiting};
use crate::sink::RunSink;
use crate::{Error, Exit, OutputFlags, report, self_check, signals};

/// Folder that runs go into where `--out` names none.
pub(crate) const RUNS: &str = "runs";
/// Open files beyond a connection per request in flight: timers, files, standard streams.
const SPARE_FILES: u64 = 64;
/// Open files asked for where a load does not bound its requests in flight; it gets what the system allows.
const UNBOUNDED_FILES: u64 = 65_536;

/// The two flags without which there is nothing to measure.
const USAGE: &str = "inferometer run --url <URL> --model <MODEL> [OPTIONS]";

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
}

/// Measures what the flags describe. `argv` is the command line as it was typed.
pub fn run(command: &RunCommand, argv: &[String]) -> Result<Exit, Error> {
    let plan = command.measure.resolve(|name| std::env::var(name).ok(), random()? >> 11)?;
    execute(&plan, &command.output, argv, Environment::of_process())
}

/// Runs `plan` from its first check to its report, over the proxies of `environment`.
pub(crate) fn execute(
    plan: &Plan,
    output: &OutputFlags,
    argv: &[String],
    environment: Environment,
) -> Result<Exit, Error> {
    raise_file_limit(plan)?;
    let created = Wall::now();
    let run_id = format!("{}-{:06x}", created.compact(), random()? & 0xff_ffff);
    let prompts = prepare(plan, &run_id)?;
    let (clock, origin, control) = (Clock::monotonic(), Clock::monotonic().now(), Control::default());
    let runner = Runner::new(plan, &run_id, origin, environment, control.clone());
    runner.check()?;
    let mut writer = create(plan, output, manifest(plan, &run_id, created, origin, argv))?;
    let self_check = self_check::of_this_machine(output.self_check)?;
    writer.update(|manifest| manifest.self_check = self_check.clone())?;
    let interrupt = signals::listen(control.clone())
        .map_err(|source| Error::System { doing: "listening for signals", source })?;
    let mut session =
        Session { plan, output, prompts: &prompts, clock, control, self_check, runner, writer: &mut writer };
    let ran = session.run();
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
    let summary = report::summarise(writer.dir())?;
    // Plain data: that it is no JSON cannot happen.
    let client = serde_json::to_value(RunClient::of(&summary)).unwrap_or_default();
    writer.update(|manifest| manifest.client = client)?;
    let dir = writer.finish(state)?;
    report::show(&dir, &summary, output.format)?;
    let exit = report::exit(&summary, output.strict);
    Ok(signal.map_or(exit, |signal| Exit::Interrupted { signal }.or(exit)))
}

/// A run between its first request and its last.
struct Session<'a> {
    plan: &'a Plan,
    output: &'a OutputFlags,
    /// One for each workload of the plan, in its order.
    prompts: &'a [Prompts],
    clock: Clock,
    control: Control,
    self_check: Value,
    runner: Runner<'a>,
    writer: &'a mut RunWriter,
}

impl<'a> Session<'a> {
    fn run(&mut self) -> Result<(), Error> {
        let (plan, prompts) = (self.plan, self.prompts);
        prompts.iter().flat_map(Prompts::notes).for_each(|note| say(&note.to_string()));
        unprovable(plan).for_each(|note| say(&note));
        for target in &plan.targets {
            say(&format!("asking {}", target.shown_url));
            let cells = plan.cells().filter(|cell| cell.target.name == target.name);
            for (place, cell) in cells.enumerate() {
                let Some(prompts) = self.prompts_of(cell) else { continue };
                if place == 0 && !self.output.no_preflight {
                    self.preflight(cell, prompts)?;
                }
                if self.control.is_cut() {
                    return Ok(());
                }
                self.measure(cell, prompts)?;
            }
        }
        Ok(())
    }

    fn prompts_of(&self, cell: Cell<'_>) -> Option<&'a Prompts> {
        let place = self.plan.workloads.iter().position(|workload| workload.name == cell.workload.name)?;
        self.prompts.get(place)
    }

    fn preflight(&mut self, cell: Cell<'a>, prompts: &Prompts) -> Result<(), Error> {
        let mut sink = RunSink::new(self.writer, &self.clock, !self.output.no_events);
        let waiting = Waiting::start(self.output.no_progress, "waiting for one answer before the load");
        let asked = self.runner.preflight(cell, prompts, &mut sink);
        drop(waiting);
        asked?;
        let Some(sample) = sink.preflight else { return Ok(()) };
        match preflight::read(&sample, cell.target) {
            Finding::Ready => Ok(()),
            Finding::Warning(warning) => {
                say(&warning);
                Ok(())
            }
            Finding::Stop(reason) => Err(Error::Preflight(reason)),
        }
    }

    fn measure(&mut self, cell: Cell<'a>, prompts: &Prompts) -> Result<(), Error> {
        let title = format!("{} {}", cell.load.name, cell.target.model);
        let warmup = self.plan.protocol.warmup;
        let progress = Progress::start(self.output.no_progress, title, cell.load, warmup, self.runner.live());
        let place = self.writer.manifest().cells.len();
        self.record(self.runner.planned(cell), place)?;
        let before = Moment::now(&self.clock);
        let mut sink = RunSink::new(self.writer, &self.clock, !self.output.no_events);
        let ran = self.runner.measure(cell, prompts, &mut sink);
        drop(progress);
        let context = self.complete(ran?, before);
        self.record(context, place)
    }

    /// Writes what is known of the cell at `place` into the manifest, over what was known before.
    fn record(&mut self, mut context: CellContext, place: usize) -> Result<(), Error> {
        context.no_events = self.output.no_events;
        // A context is plain data: that it is no JSON cannot happen, and an absent one only costs its own figures.
        let context = serde_json::to_value(&context).unwrap_or_default();
        let cells = |manifest: &mut Manifest| match manifest.cells.get_mut(place) {
            Some(known) => *known = context,
            None => manifest.cells.push(context),
        };
        Ok(self.writer.update(cells)?)
    }

    /// Adds what the machine knows to what the runner knows.
    fn complete(&self, mut context: CellContext, before: Moment) -> CellContext {
        let after = Moment::now(&self.clock);
        context.health.steal_share = before.steal_share_until(&after);
        context.health.clock_step_ms = Some(before.clock_step_ms_until(&after));
        context.health.ceiling = self_check::ceiling(&self.self_check);
        context
    }
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
        // The plan shows no key by itself. Should one stand where none is looked for, it is taken out here.
        plan: plan.secrets.redact_value(serde_json::to_value(plan).unwrap_or_default()),
        environment: machine::describe(),
        ..Manifest::new(run_id, created)
    }
}

/// A line for each gate that a load's number of requests cannot prove to be met, whatever the answers are.
fn unprovable(plan: &Plan) -> impl Iterator<Item = String> {
    let is_sweep = plan.loads.len() > 1;
    plan.loads.iter().flat_map(move |load| {
        plan.gates.iter().filter_map(move |gate| {
            let (n, needed) = (load.stop.requests?, gate.needed_n()?);
            let at = if is_sweep { format!(" at {}", load.name) } else { String::new() };
            let requests = if n == 1 { "request" } else { "requests" };
            let none = match gate.quantile() {
                Some(_) if gate.op().is_upper() => "if none is over",
                Some(_) => "if none is under",
                None => "if none counts against it",
            };
            (n < needed)
                .then(|| format!("gate {gate}{at}: {n} {requests} cannot prove it, {needed} could {none}"))
        })
    })
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
