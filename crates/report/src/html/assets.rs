//! What the page embeds: style, the chart library, and our own script, each allowed by its hash.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The style sheet.
pub(super) const STYLE: &str = include_str!("../../assets/report.css");

/// The scripts in the order they run. `assets/README.md` says where the vendored ones come from.
pub(super) fn scripts() -> [&'static str; 4] {
    const VEGA: &str = include_str!("../../assets/vega-6.4.0.min.js");
    const INTERPRETER: &str = include_str!("../../assets/vega-interpreter-2.3.0.min.js");
    const VEGA_LITE: &str = include_str!("../../assets/vega-lite-6.5.0.min.js");
    const OWN: &str = include_str!("../../assets/report.js");
    [VEGA, INTERPRETER, VEGA_LITE, OWN].map(without_source_map)
}

/// A source map is a file that is not there, and that a browser with open tools would ask for.
fn without_source_map(script: &'static str) -> &'static str {
    script.split("\n//# sourceMappingURL=").next().unwrap_or(script)
}

/// What the page may do: run the scripts of these hashes, and nothing that leaves it. A script that slipped through an
/// escape would not run.
pub(super) fn policy(scripts: &[&str]) -> String {
    let hash = |script: &&str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())));
    let hashes: Vec<String> = scripts.iter().map(hash).collect();
    format!(
        "default-src 'none'; script-src {}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
        hashes.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_vendored_is_what_the_readme_says() {
        let readme = include_str!("../../assets/README.md");
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
        let mut seen = 0;
        for line in readme.lines().filter(|line| line.starts_with("| `")) {
            let mut quoted = line.split('`').skip(1).step_by(2);
            let (file, hash) = (quoted.next().unwrap(), quoted.next_back().unwrap());
            let digest = Sha256::digest(std::fs::read(folder.join(file)).unwrap());
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, hash, "{file}");
            seen += 1;
        }
        assert_eq!(seen, 3);
    }

    #[test]
    fn no_script_can_end_its_element() {
        for script in scripts() {
            let lower = script.to_lowercase();
            assert!(
                !lower.contains("</script")
                    && !lower.contains("<!--")
                    && !script.contains("sourceMappingURL")
            );
        }
    }

    #[test]
    fn the_policy_names_hashes_only() {
        let policy = policy(&["alert(1)"]);
        assert!(
            policy.contains("script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe-eval") && !policy.contains("http"));
    }
}
