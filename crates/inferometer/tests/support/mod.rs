//! The binary, cut off from what surrounds the tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// Variables that would change what is asked, where, and how it is shown.
const FOREIGN: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NO_COLOR",
];

/// Columns of everything that is printed.
const COLUMNS: &str = "80";

/// Makes `command` (the binary, or something that starts it) independent of this machine's user, working in `work`.
pub(crate) fn apart(mut command: Command, work: &Path) -> Command {
    for name in FOREIGN {
        command.env_remove(name);
    }
    command.env("XDG_CACHE_HOME", cache()).env("COLUMNS", COLUMNS);
    command.current_dir(work).stdin(Stdio::null());
    command
}

/// The binary, working in `work`.
pub(crate) fn inferometer(work: &Path) -> Command {
    apart(Command::new(env!("CARGO_BIN_EXE_inferometer")), work)
}

/// How often this machine is measured: one that was too busy to hold any rate keeps nothing of it.
const SELF_CHECKS: usize = 5;

/// A cache folder with the self-check in it: measured once, not by every run of these tests.
fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        for _ in 0..SELF_CHECKS {
            if cache.join("inferometer/self-check.json").exists() {
                break;
            }
            let mut check = Command::new(env!("CARGO_BIN_EXE_inferometer"));
            assert!(check.arg("self-check").env("XDG_CACHE_HOME", &cache).output().unwrap().status.success());
        }
        cache
    })
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
