//! Keys that no variable holds: in a file, or printed by a command.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use inferometer_clock::{Clock, Mono, Wall, block_until};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::Life;

/// The most that a key's file may hold, or its command print, in bytes.
const KEY_BYTES_MAX: usize = 1 << 16;
/// How long a command may take.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(30);
/// How often it is looked whether a command has ended that has closed its output.
const ENDED_STEP: Duration = Duration::from_millis(5);

/// Where JSON has the key, by the tools that print it: Inferometer's own name, OAuth's, Azure's, kubectl's.
const KEY_FIELDS: [&str; 4] = ["key", "access_token", "accessToken", "token"];
/// Where it has the key's end, as an instant.
const EXPIRY_FIELDS: [&str; 7] =
    ["expires_at", "expires_on", "expiresOn", "token_expiry", "expirationTimestamp", "expiration", "expiry"];
/// Where some have all of it (gcloud's `config-helper`, kubectl's plugins).
const WRAPPERS: [&str; 2] = ["credential", "status"];
/// From here on a number of seconds is one of milliseconds.
const EPOCH_MILLIS: f64 = 1e11;

/// A key as a file holds it or a command prints it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) key: String,
    read: Wall,
    expires: Option<Wall>,
}

impl Held {
    /// How long it holds.
    pub(crate) fn life(&self) -> Life {
        Life { read: self.read, expires: self.expires }
    }
}

/// The key that the file at `path` holds.
pub(crate) fn from_file(path: &Path) -> Result<Held, String> {
    let refuse = |error: std::io::Error| format!("the file cannot be read: {error}");
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(refuse)?;
    file.take(KEY_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(refuse)?;
    if bytes.len() > KEY_BYTES_MAX {
        return Err(format!("the file is larger than {KEY_BYTES_MAX} bytes, which no key is"));
    }
    key_in(bytes).map_err(|what| format!("the file {what}"))
}

/// The key that `command` prints, run by `sh -c`: as text, or as JSON. What it prints elsewhere is dropped, and nothing of
/// what it printed is ever in an error.
pub(crate) fn from_command(command: &str) -> Result<Held, String> {
    run(command, COMMAND_TIME_MAX)
}

fn run(command: &str, time: Duration) -> Result<Held, String> {
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
fn key_in(bytes: Vec<u8>) -> Result<Held, &'static str> {
    let read = Wall::now();
    let text = String::from_utf8(bytes).map_err(|_| "holds no text")?;
    let text = text.trim();
    let (key, told) = match text.strip_prefix('{') {
        Some(_) => in_json(text, read).ok_or("holds JSON without a text under \"key\"")?,
        None => (text.to_owned(), None),
    };
    match key.trim() {
        "" => Err("holds no key: it is empty"),
        key if key.contains(char::is_whitespace) => Err("holds more than one word: a key has no space in it"),
        key => Ok(Held { key: key.to_owned(), read, expires: told.or_else(|| end_of_jwt(key)) }),
    }
}

/// The key in JSON, and when it expires, where that is said.
fn in_json(text: &str, read: Wall) -> Option<(String, Option<Wall>)> {
    let value: Value = serde_json::from_str(text).ok()?;
    let of = WRAPPERS.iter().filter_map(|name| value.get(name)).find(|inner| inner.is_object());
    let fields = of.unwrap_or(&value);
    let key = KEY_FIELDS.iter().find_map(|name| fields.get(name)?.as_str())?;
    let at = EXPIRY_FIELDS.iter().find_map(|name| instant(fields.get(name)?));
    let after = || {
        let seconds = number(fields.get("expires_in")?)?.clamp(0.0, 1e9);
        Some(Wall::from_unix_nanos(read.unix_nanos().saturating_add((seconds * 1e9) as i64)))
    };
    Some((key.to_owned(), at.or_else(after)))
}

/// An instant in RFC 3339, or in seconds since 1970, as a number or as its digits. A time without an offset is none: it may
/// be of any place.
fn instant(value: &Value) -> Option<Wall> {
    let of_text = || Wall::from_rfc3339(value.as_str()?);
    let of_number = |number: f64| {
        let scale = if number < EPOCH_MILLIS { 1e9 } else { 1e6 };
        Some(Wall::from_unix_nanos((number * scale) as i64)).filter(|_| number > 0.0)
    };
    number(value).and_then(of_number).or_else(of_text)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number| number.is_finite())
}

/// When a key expires that is a JSON web token (RFC 7519): its `exp`. It is read, not checked: that is the server's.
fn end_of_jwt(key: &str) -> Option<Wall> {
    let [_, claims, _] = key.split('.').collect::<Vec<_>>().try_into().ok()?;
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    instant(serde_json::from_slice::<Value>(&claims).ok()?.get("exp")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(command: &str, right: Result<&str, &str>) {
        let said = run(command, Duration::from_secs(20));
        match right {
            Ok(key) => assert_eq!(said.map(|held| held.key).as_deref(), Ok(key), "{command}"),
            Err(says) => {
                let said = said.map(|held| held.key).unwrap_err();
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
        check("echo '{\"secret\": \"sk-s3cr3t\"}'", Err("without a text under \"key\""));
        check("true", Err("it is empty"));
        check("yes sk-s3cr3t", Err("prints more than 65536 bytes"));
        check("printf '\\377'", Err("holds no text"));
    }

    /// The tools that print keys say in their own ways when those expire.
    #[test]
    fn keys_say_when_they_expire() {
        let check = |text: &str, right: Option<i64>| {
            let held = key_in(text.as_bytes().to_vec()).map_err(str::to_owned).unwrap();
            let seconds = held.expires.map(|at| at.unix_nanos() / 1_000_000_000);
            assert!(held.key.starts_with("sk-1") || held.key.contains('.'), "{text}");
            assert_eq!(seconds, right, "{text}");
        };
        check("sk-1", None);
        check(r#"{"key": "sk-1"}"#, None);
        check(r#"{"key": "sk-1", "expires_at": "2026-12-01T04:00:00Z"}"#, Some(1_796_097_600));
        check(r#"{"key": "sk-1", "expires_at": 1796097600}"#, Some(1_796_097_600));
        // Azure, whose expiresOn is of no said place; gcloud; kubectl.
        let azure =
            r#"{"accessToken": "sk-1", "expiresOn": "2026-12-01 05:00:00.0", "expires_on": "1796097600"}"#;
        check(azure, Some(1_796_097_600));
        let gcloud = r#"{"credential": {"access_token": "sk-1", "token_expiry": "2026-12-01T04:00:00Z"}}"#;
        check(gcloud, Some(1_796_097_600));
        let kubectl = r#"{"status": {"token": "sk-1", "expirationTimestamp": "2026-12-01T05:00:00+01:00"}}"#;
        check(kubectl, Some(1_796_097_600));
        check("{\"key\": \"sk-1\", \"expires_at\": \"soon\"}", None);
        let claims = URL_SAFE_NO_PAD.encode(r#"{"sub":"x","exp":1796097600}"#);
        check(&format!("e30.{claims}.c2ln"), Some(1_796_097_600));
        check("e30.bm9uZQ.c2ln", None);
        let held = key_in(br#"{"token": "sk-1", "expires_in": 100}"#.to_vec()).ok().unwrap();
        assert_eq!(held.expires.map(|at| at.unix_nanos() - held.read.unix_nanos()), Some(100_000_000_000));
    }

    /// Neither one that is silent, nor one that closed its output, nor one that goes on printing slowly, holds up the run;
    /// and none is left behind.
    #[test]
    fn commands_that_hang_are_ended() {
        for command in ["sleep 1000", "exec >&-; sleep 1000", "while :; do echo s3cr3t; sleep 0.1; done"] {
            let said = run(command, Duration::from_millis(400)).map(|held| held.key).unwrap_err();
            assert!(said.contains("has not ended") && !said.contains("s3cr3t"), "{said}");
        }
    }

    #[test]
    fn files_hold_keys() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let check = |text: &str, right: Result<&str, &str>| {
            std::fs::write(&path, text).unwrap();
            match (from_file(&path).map(|held| held.key), right) {
                (Ok(key), Ok(right)) => assert_eq!(key, right),
                (Err(said), Err(says)) => assert!(said.contains(says) && !said.contains("s3cr3t"), "{said}"),
                (said, right) => panic!("{said:?}, not {right:?}"),
            }
        };
        check("sk-s3cr3t\n", Ok("sk-s3cr3t"));
        check("", Err("it is empty"));
        check("sk-s3cr3t and s3cr3t", Err("more than one word"));
        check(&"s3cr3t".repeat(20_000), Err("larger than 65536 bytes"));
        let none = from_file(&folder.path().join("none")).map(|held| held.key);
        assert!(none.unwrap_err().contains("cannot be read"));
    }
}
