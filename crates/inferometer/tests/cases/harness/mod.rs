//! A simulator and the binary that measures it.

mod outcome;
mod sample;

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use inferometer_clock::{Clock, Mono, block_until};
use inferometer_sim::{Config, Running, Server};
use tempfile::TempDir;

use crate::support::{Ended, inferometer};

pub(crate) use outcome::{Outcome, strict};
pub(crate) use sample::Sample;

/// A run of these tests that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(90);

/// Rest between two looks at whether something has happened.
const REST: Duration = Duration::from_millis(5);

/// Whether nothing else runs on this machine, so that times can be held to a few milliseconds.
pub(crate) fn is_quiet() -> bool {
    std::env::var_os("INFEROMETER_QUIET").is_some()
}

/// How far a time in ms may lie from the one a script states: 8 where nothing else runs.
pub(crate) fn tolerance_ms() -> f64 {
    if is_quiet() { 8.0 } else { 500.0 }
}

/// Asserts that `value` is `right`, as near as this machine allows.
#[track_caller]
pub(crate) fn assert_ms(what: &str, value: Option<f64>, right: f64) {
    let value = value.unwrap_or_else(|| panic!("{what} is absent"));
    // Nothing comes earlier than its script says; a millisecond is left for the server's own timer.
    assert!((right - 8.0..=right + tolerance_ms()).contains(&value), "{what}: {value} is not {right}");
}

/// The instant, on the clock that the binary and the simulator stamp with.
pub(crate) fn now() -> Mono {
    Clock::monotonic().now()
}

/// Waits until `is_so`, and panics where it never is.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = now() + PATIENCE;
    while !is_so() {
        assert!(now() < until, "never: {what}");
        block_until(now() + REST);
    }
}

/// A simulated provider and a folder for what is measured of it.
pub(crate) struct Bench {
    pub(crate) server: Running,
    pub(crate) dir: TempDir,
}

impl Bench {
    /// The simulator as it is by itself: every named scenario is a model.
    pub(crate) fn new() -> Self {
        Self::with(Config::default())
    }

    pub(crate) fn with(config: Config) -> Self {
        Self { server: Server::start(config).unwrap(), dir: tempfile::tempdir().unwrap() }
    }

    /// `run` against `model`, with further arguments between blanks.
    pub(crate) fn run(&self, model: &str, arguments: &str) -> Measure {
        self.run_at(&self.server.base_url(), model, arguments)
    }

    /// `run` at a base URL of its own.
    pub(crate) fn run_at(&self, url: &str, model: &str, arguments: &str) -> Measure {
        let out = tempfile::Builder::new().prefix("run-").tempdir_in(self.dir.path()).unwrap().keep();
        let base = ["run", "--url", url, "--model", model, "--format", "json", "--no-progress"];
        let warmup = ["--warmup", "0"].into_iter().filter(|_| !arguments.contains("--warmup"));
        let mut measure = Measure { command: inferometer(self.dir.path()), out };
        measure
            .command
            .args(base)
            .args(warmup)
            .arg("--out")
            .arg(&measure.out)
            .args(arguments.split_whitespace());
        measure
    }

    /// What a run without preflight came to.
    #[track_caller]
    pub(crate) fn measure(&self, model: &str, arguments: &str) -> Outcome {
        self.run(model, arguments).arg("--no-preflight").done(self)
    }
}

/// A command line of `run` in the making.
pub(crate) struct Measure {
    command: Command,
    out: PathBuf,
}

impl Measure {
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// The same, going on with the run in `out`.
    pub(crate) fn resume(mut self, out: &Path) -> Self {
        self.command.arg("--resume").arg(out);
        Self { out: out.to_owned(), ..self }
    }

    /// Starts it, without waiting for its end.
    pub(crate) fn start(mut self) -> Started {
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Started { child: self.command.spawn().unwrap(), out: self.out }
    }

    /// Runs it to its end and reads what it left.
    #[track_caller]
    pub(crate) fn done(self, bench: &Bench) -> Outcome {
        Outcome::read(self.start().end(), bench)
    }

    /// Runs it to its end, which is not to leave a report.
    pub(crate) fn refused(self) -> Left {
        self.start().end()
    }
}

/// The binary at work.
pub(crate) struct Started {
    child: Child,
    pub(crate) out: PathBuf,
}

impl Started {
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Left {
        let (stdout, stderr) = (self.child.stdout.take().unwrap(), self.child.stderr.take().unwrap());
        let readers = [reader(stdout), reader(stderr)];
        let mut status = None;
        wait_until("the binary ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let [stdout, stderr] = readers.map(|reader| reader.join().unwrap());
        let ended = Ended { code: status.and_then(|status: ExitStatus| status.code()), stdout, stderr };
        Left { ended, out: std::mem::take(&mut self.out) }
    }
}

impl Drop for Started {
    /// Leaves nothing running where a test fails before its end.
    fn drop(&mut self) {
        // It may have ended long ago: then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn reader(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    })
}

/// How it ended, and the folder that it was told to leave its run in.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) ended: Ended,
    pub(crate) out: PathBuf,
}

/// The report of a run, made again from its folder in `format`.
#[track_caller]
pub(crate) fn report(out: &Path, format: &str) -> String {
    let ended: Ended =
        inferometer(out).arg("report").arg(out).args(["--format", format]).output().unwrap().into();
    assert!(!ended.stdout.is_empty(), "{format}: {}", ended.stderr);
    ended.stdout
}
