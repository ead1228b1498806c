//! `report`: the figures of a run, made from its folder alone.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use inferometer_metrics::{GateResult, Summary, hold_against, summarize};
use inferometer_record::RunReader;
use inferometer_report::{Format, RunView, html, render};

use crate::{Error, Exit, console};

/// Arguments of `report`.
#[derive(Args, Clone, Debug)]
pub struct ReportCommand {
    /// Folder of a run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// What is printed: table, json, md or csv
    #[arg(long, default_value = "table")]
    pub format: Format,
    /// Exit 6 where the result is not valid, 4 where a gate is unproven
    #[arg(long)]
    pub strict: bool,
    /// Run that gates such as 'a.ttft_p95 > 1.1 * baseline.ttft_p95' are held against
    #[arg(long, value_name = "RUN")]
    pub baseline: Option<PathBuf>,
}

/// Makes the report of a run again, from its folder.
pub fn report(command: &ReportCommand) -> Result<Exit, Error> {
    let summary = summarise(&command.run, command.baseline.as_deref())?;
    show(&command.run, &summary, command.format)?;
    Ok(exit(&summary, command.strict))
}

/// Reads the folder at `dir`, reckons every figure and keeps them as `summary.json`, and as a page in `report.html`.
/// Gates that name a baseline are held against the run in that folder.
pub(crate) fn summarise(dir: &Path, baseline: Option<&Path>) -> Result<Summary, Error> {
    let reader = RunReader::open(dir)?;
    let (mut summary, dots) = reckon(&reader)?;
    if let Some(baseline) = baseline {
        let (baseline, _) = reckon(&RunReader::open(baseline)?)?;
        let study = serde_json::from_value(reader.manifest().study.clone()).unwrap_or_default();
        hold_against(&mut summary, &study, Some(&baseline));
    }
    reader.write_summary(&summary)?;
    let page = html::page(&RunView::new(&summary, reader.manifest(), Some(dir)), &dots);
    reader.write_report(&page)?;
    Ok(summary)
}

/// Every figure of a run, and what a page draws of its samples.
fn reckon(reader: &RunReader) -> Result<(Summary, html::Dots), Error> {
    let (mut failed, mut dots) = (None, html::Dots::new());
    let mut samples = reader.samples()?;
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
    let summary = summarize(reader.manifest(), good)
        .map_err(|source| Error::Manifest { path: reader.dir().display().to_string(), source })?;
    failed.map_or(Ok((summary, dots)), |error| Err(error.into()))
}

/// Columns where nobody's terminal says otherwise.
const DEFAULT_WIDTH: usize = 100;

/// Prints `summary` as `format`.
pub(crate) fn show(dir: &Path, summary: &Summary, format: Format) -> Result<(), Error> {
    let reader = RunReader::open(dir)?;
    let terminal = std::io::stdout().is_terminal();
    let width = terminal.then(columns).flatten().unwrap_or(DEFAULT_WIDTH);
    let color = terminal && std::env::var_os("NO_COLOR").is_none();
    let view = RunView::new(summary, reader.manifest(), Some(dir));
    console::print(&render(&view, format, width, color))
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
