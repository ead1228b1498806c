//! Cases of keys that change while a run goes on: read again before they expire and where they are refused, used by what
//! is sent later, and nowhere in what the run leaves.

use std::fs;
use std::path::PathBuf;

use inferometer_sim::Config;

use crate::harness::{Bench, Left, Outcome, report};

/// The keys are this and a number.
const KEY: &str = "sk-live-9z8y7x6w5v4u";

/// A provider whose key changes after so many requests; and a command that prints the next one each time it is run.
struct Changing {
    bench: Bench,
    runs: PathBuf,
}

impl Changing {
    fn new(requests: u64) -> Self {
        let config = "[[model]]\nname = \"m\"\nttft = \"20ms\"\nrate = \"flood\"\ntokens = 3\n";
        let config = Config {
            require_key: Some(KEY.to_owned()),
            key_requests: Some(requests),
            ..Config::from_toml(config).unwrap()
        };
        let bench = Bench::with(config);
        let runs = bench.dir.path().join("runs");
        Self { bench, runs }
    }

    /// A script whose `print` knows `$n`, how often it has been run.
    fn command(&self, print: &str) -> String {
        let (runs, script) = (self.runs.display(), self.bench.dir.path().join("key.sh"));
        let text = format!("echo x >> {runs}\nn=$(($(wc -l < {runs})))\n{print}\n");
        fs::write(&script, text).unwrap();
        format!("sh {}", script.display())
    }

    fn runs(&self) -> usize {
        fs::read_to_string(&self.runs).unwrap_or_default().lines().count()
    }

    #[track_caller]
    fn measure(&self, print: &str, arguments: &str) -> (Outcome, usize) {
        let run = self.bench.run("m", arguments).arg("--key-cmd").arg(self.command(print));
        let left = run.start().end();
        assert_absent(&left);
        (Outcome::read(left, &self.bench), self.runs())
    }
}

/// No key, and no most of one, is in anything that was printed or left behind.
#[track_caller]
fn assert_absent(left: &Left) {
    let files = fs::read_dir(&left.out).unwrap().map(|entry| entry.unwrap().path());
    let files = files.map(|path| fs::read_to_string(path).unwrap());
    for text in files.chain([left.ended.stdout.clone(), left.ended.stderr.clone()]) {
        assert!(!text.contains(&KEY[..KEY.len() - 4]), "a key is in {text}");
    }
}

fn flagged(run: &Outcome, name: &str) -> usize {
    run.measured().filter(|sample| sample.has_flag(name)).count()
}

const PLAIN: &str = "echo sk-live-9z8y7x6w5v4u-$n";

/// The command runs once for each key that is refused, however many requests find that out at once; what was refused stays
/// in the record, and its repetition is an attempt of its own.
#[test]
fn a_refused_key_is_read_again_once() {
    for slots in [1, 4] {
        let changing = Changing::new(10);
        let (run, runs) = changing.measure(PLAIN, &format!("-n 35 -c {slots} --keep-text"));
        // With the preflight, 36 requests that are let in: four keys.
        assert_eq!((run.code, run.count("ok"), runs), (0, 35, 4), "{}", run.stderr);
        let refused: Vec<_> =
            run.measured().filter(|sample| sample.count("http_status") == Some(401)).collect();
        assert!((3..=3 * slots).contains(&refused.len()), "{}", refused.len());
        assert_eq!(
            (flagged(&run, "key_renewed"), run.count("attempts")),
            (refused.len(), 35 + refused.len() as u64)
        );
        for sample in refused {
            assert!(!sample.is_final() && sample.status() == "http_error");
            let said = sample.text("error_message");
            assert!(
                said.contains("[redacted]") && said.contains("key_cmd was read again and gave another key"),
                "{said}"
            );
        }
    }
}

/// A command that has no other key is not run over and over, and the error says what was done.
#[test]
fn a_key_that_stays_refused_is_said_to_be() {
    let check = |print: &str, says: &str, runs: usize| {
        let changing = Changing::new(3);
        let (run, ran) = changing.measure(print, "-n 8 -c 2 --no-preflight");
        assert_eq!((run.count("ok"), run.count("http_error"), ran), (3, 5, runs), "{print}: {}", run.stderr);
        let refused = run.measured().filter(|sample| sample.status() == "http_error" && sample.is_final());
        let told: Vec<&str> = refused.map(|sample| sample.text("error_message")).collect();
        assert!(told.iter().all(|said| said.contains(says)), "{print}: {told:?}");
        assert!(report(&run.dir, "md").contains(says), "{print}");
    };
    check("echo sk-live-9z8y7x6w5v4u-1", "gave the same key", 2);
    check(
        "[ $n = 1 ] && echo sk-live-9z8y7x6w5v4u-1 || exit 3",
        "gave none: the command failed: exit status: 3",
        2,
    );
}

#[test]
fn a_new_key_that_is_refused_too_ends_it() {
    let changing = Changing::new(2);
    let print = "[ $n = 1 ] && echo sk-live-9z8y7x6w5v4u-1 || echo sk-live-9z8y7x6w5v4u-$((n + 10))";
    let (run, runs) = changing.measure(print, "-n 3 --no-preflight");
    assert_eq!((run.count("ok"), run.count("http_error"), runs), (2, 1, 2), "{}", run.stderr);
    let last = run.measured().find(|sample| sample.is_final() && sample.status() == "http_error").unwrap();
    assert!(last.has_flag("key_renewed"), "{:?}", last.0);
    assert!(last.text("error_message").contains("its new key is refused too"), "{:?}", last.0);
}

/// A key that says when it expires is another before that, and nothing is refused; the requests meanwhile go on with the
/// old one.
#[test]
fn a_key_is_read_again_before_it_expires() {
    let config = "[[model]]\nname = \"m\"\nttft = \"200ms\"\nrate = \"flood\"\ntokens = 3\n";
    let bench = Bench::with(Config::from_toml(config).unwrap());
    let changing = Changing { runs: bench.dir.path().join("runs"), bench };
    // The first has expired when it is printed; the others hold.
    let print = "[ $n = 1 ] && life=-5 || life=1000; sleep 0.3; \
                 echo \"{\\\"key\\\": \\\"sk-live-9z8y7x6w5v4u-$n\\\", \\\"expires_in\\\": $life}\"";
    let (run, runs) = changing.measure(print, "-n 6 -c 2 --no-preflight");
    assert_eq!((run.count("ok"), run.count("attempts"), runs), (6, 6, 2), "{}", run.stderr);
}

/// A file is read again where its key is refused; what is in the address is kept out as well.
#[test]
fn a_file_is_read_again_too() {
    let changing = Changing::new(2);
    let file = changing.bench.dir.path().join("key");
    fs::write(&file, format!("{KEY}-1\n")).unwrap();
    let url = format!("{}/v1?api-key={KEY}", changing.bench.server.base_url());
    let run = changing.bench.run_at(&url, "m", "-n 4 --no-preflight").arg("--key-file").arg(&file);
    let left = run.start().end();
    assert_absent(&left);
    let outcome = Outcome::read(left, &changing.bench);
    assert_eq!((outcome.count("ok"), outcome.count("http_error")), (2, 2), "{}", outcome.stderr);
    let said = outcome.measured().last().unwrap().text("error_message").to_owned();
    assert!(said.contains("key_file was read again and gave the same key"), "{said}");
}
