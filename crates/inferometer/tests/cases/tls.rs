//! Cases of a private certificate authority.

use std::path::{Path, PathBuf};

use inferometer_sim::Config;
use inferometer_sim::config::Tls;

use crate::harness::{Bench, Left, report};

/// Writes a CA and a certificate of it for `host`: the CA's path, and what the server needs.
fn authority(dir: &Path, host: &str) -> (PathBuf, Tls) {
    let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = rcgen::CertifiedIssuer::self_signed(params, rcgen::KeyPair::generate().unwrap()).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let leaf = rcgen::CertificateParams::new(vec![host.to_owned()]).unwrap().signed_by(&key, &ca).unwrap();
    let write = |name: &str, text: String| {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let tls = Tls { cert: write("leaf.pem", leaf.pem()), key: write("key.pem", key.serialize_pem()) };
    (write("ca.pem", ca.pem()), tls)
}

/// A simulator whose certificate is for `host`, and the CA behind it.
fn bench(host: &str) -> (Bench, PathBuf, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let (ca, tls) = authority(dir.path(), host);
    (Bench::with(Config { tls: Some(tls), ..Config::default() }), ca, dir)
}

/// It stopped in preflight with one clear line about TLS, and sent nothing.
#[track_caller]
fn assert_refused(bench: &Bench, refused: &Left, word: &str) {
    assert_eq!(refused.ended.code, Some(3), "{}", refused.ended.stderr);
    let errors: Vec<_> =
        refused.ended.stderr.lines().filter(|line| line.starts_with("inferometer:")).collect();
    let [error] = errors.as_slice() else { panic!("one error, not {errors:?}") };
    assert!(error.contains("certificate") && error.contains(word), "{error}");
    assert_eq!(bench.server.truth().counters.requests, 0, "no load was sent");
}

#[test]
fn c38_a_private_ca() {
    let (bench, ca, _dir) = bench("localhost");
    let run = || bench.run("c28", "-n 2");
    assert_refused(&bench, &run().refused(), "--cacert");
    for measure in [run().arg("--cacert").arg(&ca), run().env("SSL_CERT_FILE", &ca)] {
        let run = measure.done(&bench);
        assert_eq!((run.code, run.count("ok"), run.count("preflight")), (0, 2, 1), "{}", run.stderr);
        assert!(
            run.measured()
                .any(|sample| sample.count("tls_ns").is_some() || sample.field("conn_reused") == true)
        );
        assert_eq!(run.manifest["plan"]["targets"][0]["insecure"], false);
    }
    let run = run().arg("--insecure").done(&bench);
    assert_eq!((run.code, run.count("ok")), (0, 2), "{}", run.stderr);
    assert_eq!(run.manifest["plan"]["targets"][0]["insecure"], true);
    let report = report(&run.dir, "table");
    assert!(report.contains("not verified"), "{report}");
}

#[test]
fn c38_a_wrong_host_name_fails_whoever_signed_it() {
    let (bench, ca, _dir) = bench("elsewhere.test");
    let refused = bench.run("c28", "-n 2").arg("--cacert").arg(&ca).refused();
    assert_refused(&bench, &refused, "localhost");
    let refused = bench.run("c28", "-n 2").env("SSL_CERT_FILE", &ca).refused();
    assert_refused(&bench, &refused, "localhost");
}
