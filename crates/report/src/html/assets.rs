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
            let (file, hash) = (quoted.next().unwrap(), quoted.last().unwrap());
            let digest = Sha256::digest(std::fs::read(folder.join(file)).unwrap());
            let byte = |at: usize| u8::from_str_radix(&hash[at * 2..at * 2 + 2], 16).unwrap();
            assert_eq!(digest.as_slice(), (0..32).map(byte).collect::<Vec<_>>(), "{file}");
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

    /// Relative luminance of `#rgb` or `#rrggbb`, and from it the contrast of two colours (WCAG 2.2).
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |color: &str| {
            let digits: Vec<f64> = color.chars().filter_map(|c| c.to_digit(16)).map(f64::from).collect();
            let channels: Vec<f64> = match digits.as_slice() {
                [r, g, b] => [r, g, b].map(|digit| digit * 17.0).to_vec(),
                long => long.chunks(2).map(|pair| pair[0] * 16.0 + pair[1]).collect(),
            };
            let linear = |channel: &f64| {
                let share = channel / 255.0;
                if share <= 0.039_28 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
            };
            let linear: Vec<f64> = channels.iter().map(linear).collect();
            0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_lines_can_be_told_from_the_page() {
        let themes: Vec<&str> =
            STYLE.split(":root {").skip(1).map(|part| part.split('}').next().unwrap()).collect();
        assert_eq!(themes.len(), 3, "light, dark, paper");
        for theme in themes {
            let color = |name: &str| {
                let (_, rest) = theme.split_once(&format!("--{name}: ")).unwrap();
                rest.split(';').next().unwrap()
            };
            let check = |name: &str, on: &str, least: f64| {
                let found = contrast(color(name), color(on));
                assert!(found >= least, "{name} on {on}: {found:.2}");
            };
            for name in ["ink", "faint", "link", "good", "warn", "bad"] {
                check(name, "page", 4.5);
            }
            for name in ["good", "warn", "bad"] {
                check(name, &format!("{name}-soft"), 4.5);
            }
            for i in 1..=8 {
                check(&format!("s{i}"), "page", 3.0);
            }
        }
    }
}
