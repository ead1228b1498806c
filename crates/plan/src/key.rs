//! Keys that no variable holds: in a file, or printed by a command.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use inferometer_clock::{Clock, Mono, block_until};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

/// The most that a key's file may hold, or its command print, in bytes.
const KEY_BYTES_MAX: usize = 1 << 16;
/// How long a command may take.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(30);
/// How often it is looked whether a command has ended that has closed its output.
const ENDED_STEP: Duration = Duration::from_millis(5);

/// What a command may print instead of the key alone.
#[derive(Deserialize)]
struct Printed {
    key: String,
}

/// The key that the file at `path` holds.
pub(crate) fn from_file(path: &Path) -> Result<String, String> {
    let refuse = |error: std::io::Error| format!("the file cannot be read: {error}");
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(refuse)?;
    file.take(KEY_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(refuse)?;
    if bytes.len() > KEY_BYTES_MAX {
        return Err(format!("the file is larger than {KEY_BYTES_MAX} bytes, which no key is"));
    }
    key_in(bytes).map_err(|what| format!("the file {what}"))
}

/// The key that `command` prints, run by `sh -c`: as text, or as JSON `{"key": …}`. What it prints elsewhere is dropped,
/// and nothing of what it printed is ever in an error.
pub(crate) fn from_command(command: &str) -> Result<String, String> {
    run(command, COMMAND_TIME_MAX)
}

fn run(command: &str, time: Duration) -> Result<String, String> {
    let clock = Clock::monotonic();
    let end = clock.now() + time;
    let mut shell = Command::new("sh");
    // A group of its own, so that what the shell started ends with it.
    shell.arg("-c").arg(command).stdin(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = shell
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the command cannot be started: {error}"))?;
    let printed = printed(&mut child, &clock, end);
    if printed.is_err() {
        stop(&mut child);
    }
    key_in(printed?).map_err(|what| format!("the command {what}"))
}

/// What `child` prints until it ends.
fn printed(child: &mut Child, clock: &Clock, end: Mono) -> Result<Vec<u8>, String> {
    let late = || format!("the command has not ended after {} s", COMMAND_TIME_MAX.as_secs());
    let mut bytes = Vec::new();
    if let Some(mut out) = child.stdout.take() {
        while wait(&out, clock, end).ok_or_else(late)? {
            let mut piece = [0; 4096];
            let len = out.read(&mut piece).map_err(|error| format!("the command cannot be read: {error}"))?;
            if len == 0 {
                break;
            }
            bytes.extend_from_slice(piece.get(..len).unwrap_or_default());
            if bytes.len() > KEY_BYTES_MAX {
                return Err(format!("the command prints more than {KEY_BYTES_MAX} bytes, which no key is"));
            }
        }
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(bytes),
            Ok(Some(status)) => return Err(format!("the command failed: {status}")),
            Ok(None) if clock.now() < end => block_until(clock.now() + ENDED_STEP),
            Ok(None) => return Err(late()),
            Err(error) => return Err(format!("the command cannot be waited for: {error}")),
        }
    }
}

/// Waits until `out` can be read; `None` where it is `end` before that.
fn wait(out: &ChildStdout, clock: &Clock, end: Mono) -> Option<bool> {
    while clock.now() < end {
        let step = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        // An interruption is a step that was short.
        if poll(&mut [PollFd::new(out, PollFlags::IN)], Some(&step)).unwrap_or(0) > 0 {
            return Some(true);
        }
    }
    None
}

/// Ends `child` and all that it started. That it has ended already is no error.
fn stop(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

/// The key among `bytes`: what is not said of it would be wrong.
fn key_in(bytes: Vec<u8>) -> Result<String, &'static str> {
    let text = String::from_utf8(bytes).map_err(|_| "holds no text")?;
    let text = text.trim();
    let key = match text.strip_prefix('{') {
        Some(_) => {
            serde_json::from_str::<Printed>(text).map_err(|_| "holds JSON without a text under \"key\"")?.key
        }
        None => text.to_owned(),
    };
    match key.trim() {
        "" => Err("holds no key: it is empty"),
        key if key.contains(char::is_whitespace) => Err("holds more than one word: a key has no space in it"),
        key => Ok(key.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, right: Result<&str, &str>) {
        let said = run(command, Duration::from_secs(20));
        match right {
            Ok(key) => assert_eq!(said.as_deref(), Ok(key), "{command}"),
            Err(says) => {
                let said = said.unwrap_err();
                assert!(said.contains(says) && !said.contains("s3cr3t"), "{command}: {said}");
            }
        }
    }

    #[test]
    fn commands_print_keys() {
        check("printf ' sk-s3cr3t\\n'", Ok("sk-s3cr3t"));
        check("echo '{\"key\": \"sk-s3cr3t\", \"more\": 1}'", Ok("sk-s3cr3t"));
        check("echo sk-s3cr3t; echo s3cr3t noise >&2", Ok("sk-s3cr3t"));
    }

    #[test]
    fn commands_that_fail_say_nothing_of_what_they_print() {
        check("echo sk-s3cr3t; exit 3", Err("failed: exit status: 3"));
        check("echo sk-s3cr3t sk-other", Err("more than one word"));
        check("echo '{\"token\": \"sk-s3cr3t\"}'", Err("without a text under \"key\""));
        check("true", Err("it is empty"));
        check("yes sk-s3cr3t", Err("prints more than 65536 bytes"));
        check("printf '\\377'", Err("holds no text"));
    }

    /// Neither one that is silent, nor one that closed its output, nor one that goes on printing slowly, holds up the run;
    /// and none is left behind.
    #[test]
    fn commands_that_hang_are_ended() {
        for command in ["sleep 1000", "exec >&-; sleep 1000", "while :; do echo s3cr3t; sleep 0.1; done"] {
            let said = run(command, Duration::from_millis(400)).unwrap_err();
            assert!(said.contains("has not ended") && !said.contains("s3cr3t"), "{said}");
        }
    }

    #[test]
    fn files_hold_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let check = |text: &str, right: Result<&str, &str>| {
            std::fs::write(&path, text).unwrap();
            match (from_file(&path), right) {
                (Ok(key), Ok(right)) => assert_eq!(key, right),
                (Err(said), Err(says)) => assert!(said.contains(says) && !said.contains("s3cr3t"), "{said}"),
                (said, right) => panic!("{said:?}, not {right:?}"),
            }
        };
        check("sk-s3cr3t\n", Ok("sk-s3cr3t"));
        check("", Err("it is empty"));
        check("sk-s3cr3t and s3cr3t", Err("more than one word"));
        check(&"s3cr3t".repeat(20_000), Err("larger than 65536 bytes"));
        assert!(from_file(&folder.path().join("none")).unwrap_err().contains("cannot be read"));
    }
}
