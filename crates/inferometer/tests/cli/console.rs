//! What is said beside the report: on standard error, and the progress line only to a person.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use inferometer_sim::{Config, Model};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::bench::{Bench, quick};
use crate::support::inferometer;

/// A model that lets a person watch.
fn slow() -> Bench {
    let slow = Model { ttft: "300ms".parse().unwrap(), ..quick("a-model-with-quite-a-long-name-of-its-own") };
    Bench::with(Config { models: vec![slow], ..Config::default() })
}

const MODEL: &str = "a-model-with-quite-a-long-name-of-its-own";

#[test]
fn the_report_alone_is_on_standard_output() {
    let bench = slow();
    let ended = bench.run(MODEL, "-n 4 -c 2 --warmup 0 --out run --format json");
    assert!(serde_json::from_str::<serde_json::Value>(&ended.stdout).is_ok(), "{}", ended.stdout);
    let url = format!("{}/v1/chat/completions", bench.server.base_url());
    assert_eq!(
        ended.stderr,
        format!("recording in run\nasking {url}\n"),
        "and no progress where nobody looks"
    );
}

/// Whoever read what the run says has gone: it is measured to its end all the same.
#[test]
fn nobody_listens_any_more() {
    let bench = slow();
    let mut command = inferometer(bench.dir.path());
    command.args(["run", "-u", &bench.server.base_url(), "-m", MODEL, "-n", "2", "--warmup", "0"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(bench.truth().counters.requests, 3);
}

/// What a terminal of `columns` is sent on standard error.
fn on_a_terminal(bench: &Bench, columns: u16, flags: &str) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
    let line = OpenOptions::new().read(true).write(true).open(PathBuf::from(name)).unwrap();
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&line, size).unwrap();
    let mut command = inferometer(bench.dir.path());
    command.args(["run", "-u", &bench.server.base_url(), "-m", MODEL]).args(flags.split_whitespace());
    command.env("TERM", "xterm").stdout(std::process::Stdio::null()).stderr(OwnedFd::from(line));
    let mut child = command.spawn().unwrap();
    // The command holds the line's other end too; without it the reader below sees its end.
    drop(command);
    let mut said = Vec::new();
    let mut terminal = std::fs::File::from(terminal);
    let mut part = [0; 4096];
    // Linux ends a terminal whose last writer has gone with an error.
    while let Ok(read @ 1..) = terminal.read(&mut part) {
        said.extend_from_slice(&part[..read]);
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8(said).unwrap()
}

/// `text` without what only moves the cursor.
fn visible(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            let _ = rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(c);
        }
    }
    plain
}

#[test]
fn the_progress_line_fits_the_terminal() {
    let bench = slow();
    for columns in [60, 80, 120] {
        let said = visible(&on_a_terminal(&bench, columns, "-n 8 -c 2 --warmup 0"));
        let lines: Vec<&str> = said.split(['\r', '\n']).filter(|line| line.contains("in flight")).collect();
        assert!(lines.len() >= 3, "{said:?}");
        for line in &lines {
            assert!(line.trim_end().chars().count() <= usize::from(columns), "{columns}: {line:?}");
            assert!(
                line.contains(" ended · ") && line.contains("/s · ") && line.contains(" failed · "),
                "{line:?}"
            );
        }
        assert!(lines.iter().any(|line| line.contains(" s left")), "{said:?}");
    }
    let quiet = visible(&on_a_terminal(&bench, 80, "-n 2 --warmup 0 --no-progress"));
    assert!(!quiet.contains("in flight"), "{quiet:?}");
}
