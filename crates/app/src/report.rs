//! `report`: the figures of a run, made from its folder alone.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use inferometer_metrics::{
    Condition, Gate, GateResult, PairGate, Study, Summary, hold_against, pooled, summarize,
};
use inferometer_record::{Manifest, Pool, RUN_FILE, Recording, RunReader, open_recording};
use inferometer_report::{Format, RunView, html, render};
use serde_json::Value;

use crate::export::{ParquetWriter, Table, export};
use crate::{Error, Exit, console};

/// Arguments of `report`.
#[derive(Args, Clone, Debug)]
pub struct ReportCommand {
    /// Folders of runs, or AIPerf's profile_export.jsonl; several are pooled by their samples and compared
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// What is printed: table, json, md or csv
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Exit 6 where the result is not valid, 4 where a gate is unproven
    #[arg(long)]
    pub strict: bool,
    /// Run that gates such as 'a.ttft_p95 > 1.1 * baseline.ttft_p95' are held against
    #[arg(long, value_name = "RUN")]
    pub baseline: Option<PathBuf>,
    /// Fail where this is so, beside the gates of the run itself; may be repeated
    #[arg(long, value_name = "GATE")]
    pub fail_if: Vec<Condition>,
    /// Write the page to this file [default: report.html in the run's folder]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the samples as a table instead
    #[arg(long, value_enum, value_name = "TABLE", conflicts_with_all = ["html", "baseline", "fail_if", "strict"])]
    pub export: Option<Table>,
    /// Where to [default: samples.csv or samples.parquet in the run's folder, or here for several]
    #[arg(long, value_name = "FILE", requires = "export")]
    pub to: Option<PathBuf>,
}

/// Makes the report of runs again, from what was recorded.
pub fn report(command: &ReportCommand, parquet: Option<ParquetWriter>) -> Result<Exit, Error> {
    let recording = open(&command.runs)?;
    if let Some(table) = command.export {
        let path = command.to.clone().unwrap_or_else(|| beside(&command.runs).join(table.file()));
        return export(&*recording, table, &path, parquet);
    }
    let manifest =
        with_gates(recording.manifest().clone(), command.fail_if.iter().filter_map(Condition::cell));
    let (mut summary, dots) = reckon(&*recording, &manifest)?;
    let pairs: Vec<PairGate> = command.fail_if.iter().filter_map(Condition::pair).cloned().collect();
    let mut study = study(&manifest);
    check_gates(&study, &pairs)?;
    study.pair_gates.extend(pairs);
    let baseline = command.baseline.as_deref().map(baseline_of).transpose()?;
    hold_against(&mut summary, &study, baseline.as_ref());
    let folder = run_folder(&command.runs);
    let view = RunView::new(&summary, &manifest, folder);
    let page = html::page(&view, &dots);
    if let Some(dir) = folder {
        let reader = RunReader::open(dir)?;
        reader.write_summary(&summary)?;
        reader.write_report(&page)?;
    }
    if let Some(path) = &command.html {
        let failed = |source| Error::System { doing: "writing the page", source };
        std::fs::write(path, &page).map_err(failed)?;
    }
    print(&view, command.format)?;
    Ok(exit(&summary, command.strict))
}

/// One recording as it is, several as a pool.
fn open(runs: &[PathBuf]) -> Result<Box<dyn Recording>, Error> {
    let mut opened = Vec::new();
    for path in runs {
        opened.push(open_recording(path)?);
    }
    if opened.len() == 1
        && let Some(only) = opened.pop()
    {
        return Ok(only);
    }
    let mut pool = Pool::new(opened)?;
    pooled(&mut pool).map_err(|source| Error::Manifest { path: names(runs), source })?;
    Ok(Box::new(pool))
}

fn names(runs: &[PathBuf]) -> String {
    runs.iter().map(|run| run.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// The folder of the one run that is shown. Another tool's folder is not ours to write into.
fn run_folder(runs: &[PathBuf]) -> Option<&Path> {
    let [only] = runs else { return None };
    only.join(RUN_FILE).is_file().then_some(only.as_path())
}

/// Where an export goes that names no file.
fn beside(runs: &[PathBuf]) -> PathBuf {
    run_folder(runs).map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Gates that name no target of this run would never fail.
fn check_gates(study: &Study, gates: &[PairGate]) -> Result<(), Error> {
    let targets: Vec<&str> = study.targets.iter().map(|target| target.name.as_str()).collect();
    gates.iter().try_for_each(|gate| gate.check(&targets)).map_err(|error| Error::Gate(error.to_string()))
}

/// Puts further gates on every cell.
fn with_gates<'a>(mut manifest: Manifest, gates: impl Iterator<Item = &'a Gate>) -> Manifest {
    for gate in gates {
        for cell in manifest.cells.iter_mut().filter_map(Value::as_object_mut) {
            if let Value::Array(gates) = cell.entry("gates").or_insert_with(|| Value::Array(Vec::new())) {
                gates.push(Value::String(gate.to_string()));
            }
        }
    }
    manifest
}

fn study(manifest: &Manifest) -> Study {
    serde_json::from_value(manifest.study.clone()).unwrap_or_default()
}

fn baseline_of(path: &Path) -> Result<Summary, Error> {
    let recording = open_recording(path)?;
    Ok(reckon(&*recording, recording.manifest())?.0)
}

/// Reads the folder at `dir`, reckons every figure and keeps them as `summary.json`, and as a page in `report.html`.
/// Gates that name a baseline are held against the run in that folder.
pub(crate) fn summarise(dir: &Path, baseline: Option<&Path>) -> Result<Summary, Error> {
    let reader = RunReader::open(dir)?;
    let (mut summary, dots) = reckon(&reader, reader.manifest())?;
    if let Some(baseline) = baseline {
        hold_against(&mut summary, &study(reader.manifest()), Some(&baseline_of(baseline)?));
    }
    reader.write_summary(&summary)?;
    let page = html::page(&RunView::new(&summary, reader.manifest(), Some(dir)), &dots);
    reader.write_report(&page)?;
    Ok(summary)
}

/// Every figure of a recording, and what a page draws of its samples.
fn reckon(recording: &dyn Recording, manifest: &Manifest) -> Result<(Summary, html::Dots), Error> {
    let (mut failed, mut dots) = (None, html::Dots::new());
    let mut samples = recording.stream()?;
    let good = std::iter::from_fn(|| match samples.next()? {
        Ok((sample, events)) => {
            dots.push(&sample, events.as_ref());
            Some((sample, events))
        }
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    let summary = summarize(manifest, good)
        .map_err(|source| Error::Manifest { path: manifest.run_id.clone(), source })?;
    failed.map_or(Ok((summary, dots)), |error| Err(error.into()))
}

/// Columns where nobody's terminal says otherwise.
const DEFAULT_WIDTH: usize = 100;

/// Prints `summary` as `format`.
pub(crate) fn show(run: &RunReader, summary: &Summary, format: Format) -> Result<(), Error> {
    print(&RunView::new(summary, run.manifest(), Some(run.dir())), format)
}

fn print(view: &RunView<'_>, format: Format) -> Result<(), Error> {
    let terminal = std::io::stdout().is_terminal();
    let width = terminal.then(columns).flatten().unwrap_or(DEFAULT_WIDTH);
    let color = terminal && std::env::var_os("NO_COLOR").is_none();
    console::print(&render(view, format, width, color))
}

fn columns() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// What the figures mean for the exit status.
pub(crate) fn exit(summary: &Summary, strict: bool) -> Exit {
    let mut exit = Exit::Done;
    let gates = || summary.cells.iter().flat_map(|cell| &cell.gates).chain(&summary.gates);
    if !summary.cells.is_empty() && summary.cells.iter().all(|cell| cell.counts.ok == 0) {
        exit = exit.or(Exit::NothingSucceeded);
    }
    if strict && summary.cells.iter().any(|cell| !cell.client.valid) {
        exit = exit.or(Exit::NotValid);
    }
    let fails = |result: &GateResult| match result {
        GateResult::Met => false,
        GateResult::Missed => true,
        GateResult::Unproven => strict,
    };
    if gates().any(|gate| fails(&gate.result)) {
        exit = exit.or(Exit::Gate);
    }
    exit
}
