//! Help, as it reads at 80 columns, and every name of a flag that people of this field type.

use std::path::Path;

use crate::support::{Ended, inferometer};

/// The texts beside this file. To write them anew after a change that was meant:
///
/// ```text
/// INFEROMETER_WRITE_HELP=1 cargo test --package inferometer --test cli help
/// ```
#[test]
fn help_reads_well() {
    let dir = tempfile::tempdir().unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/help");
    for (name, arguments) in [
        ("inferometer", "--help"),
        ("run-short", "run -h"),
        ("run", "run --help"),
        ("report", "report -h"),
        ("prices", "prices -h"),
        ("prices-show", "prices show -h"),
        ("prices-import", "prices import -h"),
        ("prices-diff", "prices diff -h"),
        ("simulate", "simulate -h"),
        ("demo", "demo -h"),
        ("discover", "discover -h"),
        ("self-check", "self-check -h"),
    ] {
        let mut command = inferometer(dir.path());
        let ended: Ended = command.args(arguments.split_whitespace()).output().unwrap().into();
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
        let wide: Vec<_> = ended.stdout.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{arguments}: {wide:#?}");
        let path = kept.join(format!("{name}.txt"));
        if std::env::var_os("INFEROMETER_WRITE_HELP").is_some() {
            std::fs::write(&path, &ended.stdout).unwrap();
        }
        let right = std::fs::read_to_string(&path).unwrap();
        assert!(right == ended.stdout, "{} has changed:\n{}", path.display(), ended.stdout);
    }
}

#[test]
fn no_command_shows_help() {
    let dir = tempfile::tempdir().unwrap();
    let ended: Ended = inferometer(dir.path()).output().unwrap().into();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("Usage: inferometer <COMMAND>"), "{}", ended.stderr);
}

/// Each is understood: what is refused is only the address, which is looked at last.
#[test]
fn every_name_of_every_flag() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [
        "--url ftp://h --model m",
        "-u ftp://h -m m -c 1,4,16 -n 10 -H X:y",
        "--concurrency 4 --request-rate 5 --arrival gamma --burstiness 0.5",
        "--request-rate 5 --arrival-pattern constant",
        "--request-rate 5 --arrival-pattern poisson",
        "--isl 500 --isl-stddev 50 --osl 100 --osl-stddev 10",
        "--max-tokens 100",
        "--requests 5 --duration 30s --grace 5s --warmup 2",
        "--request-count 5 --benchmark-duration 30 --benchmark-grace-period 5 --warmup-request-count 2",
        "--num-prompts 5 --duration .5m",
        "--goodput ttft:300,tpot:20,e2el:5000 --fail-if ttft_p95>500ms --fail-if error_rate>1%",
        "--seed 7",
        "--random-seed 7",
        "--api-key-env HOME --header X:y --extra {}",
        "--extra-inputs {} --dataset file.jsonl",
        "--input-file file.jsonl",
        "--timeout 60 --retries 2 --connect-timeout .5s --first-token-timeout 500ms --idle-timeout 1m",
        "--out dir --format json",
        "--artifact-dir dir --format csv",
        "--format md --cacert ca.pem --insecure --no-progress --no-preflight --strict --keep-text",
        "--dialect chat",
        "--dialect completions",
        "--endpoint-type completions",
        "--price input=3,output=15,cache_read=0.3,cache_write=3.75,reasoning=15,request=0.01",
        "--no-stream --no-stream-options --max-completion-tokens --no-events --self-check",
        "--cache as-is --temperature 0.7 --connection fresh --http2 --ramp 0 --name mine",
    ] {
        // A flag given twice is refused, so that the address is added where it is not the flag at hand.
        let target = if flags.contains("-u ") || flags.contains("--url ") { "" } else { " -u ftp://h -m m" };
        let typed = format!("run {flags}{target}");
        let ended: Ended = inferometer(dir.path()).args(typed.split_whitespace()).output().unwrap().into();
        assert_eq!(ended.code, Some(2), "{flags}");
        assert!(ended.stderr.contains("--url 'ftp://h'"), "{flags}: {}", ended.stderr);
    }
}
