//! Books of prices: filled from a list, shown, compared, and refused where they are wrong.

use std::path::Path;

use crate::support::{Ended, inferometer};

const LIST: &str = r#"{
  "acme/small": {"litellm_provider": "acme", "mode": "chat", "input_cost_per_token": 1.5e-07,
                 "output_cost_per_token": 6e-07, "input_cost_per_token_above_200k_tokens": 3e-07},
  "acme/painter": {"litellm_provider": "acme", "mode": "image_generation"}
}"#;

fn prices(dir: &Path, arguments: &str) -> Ended {
    inferometer(dir).arg("prices").args(arguments.split_whitespace()).output().unwrap().into()
}

/// What is printed on standard output, in words.
#[track_caller]
fn said(dir: &Path, arguments: &str) -> String {
    let ended = prices(dir, arguments);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{arguments}");
    ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn refused(dir: &Path, arguments: &str, says: &[&str]) {
    let ended = prices(dir, arguments);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{arguments}: {}", ended.stderr);
    for part in says {
        assert!(ended.stderr.contains(part), "`{part}` is not in: {}", ended.stderr);
    }
}

#[test]
fn a_book_is_filled_shown_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("list.json"), LIST).unwrap();
    let taken = said(dir, "import list.json --from litellm --into prices.toml --date 2026-11-30 --refused");
    assert_eq!(
        taken,
        "2 entries: 1 with a price, 1 refused 1 asked for no text: image_generation acme/painter: asked for no text: \
         image_generation 1 prices taken into prices.toml, which holds 1 now"
    );
    let shown = said(dir, "show");
    assert!(shown.contains(
        "acme small 0.15 0.6 - - - - - 2026-11-30 LiteLLM's price map above 200000 input tokens 0.3"
    ));
    assert_eq!(shown, said(dir, "show SMALL --provider Acme --book prices.toml"));
    let dearer = std::fs::read_to_string(dir.join("prices.toml")).unwrap().replace("0.6", "0.9");
    std::fs::write(dir.join("dearer.toml"), dearer).unwrap();
    assert_eq!(
        said(dir, "diff prices.toml dearer.toml"),
        "~ small at acme: output 0.6 → 0.9 (+50 %) (2026-11-30 to 2026-11-30)"
    );
    let left: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    refused(dir, "show", &["prices.toml: No such file"]);
    let row = "[[price]]\nprovider = \"acme\"\nmodel = \"small\"\ninput = 1\noutput = 2\ndate = 2026-11-30\nsource = \"page\"\n";
    for (text, says) in [
        (row.replace("input = 1", "input = -1"), "line 4: price 'input' cannot be negative ('-1')"),
        (row.replace("output", "outptu"), "line 5: unknown field `outptu`"),
        (row.replace("11-30", "11-31"), "line 6:"),
        ([row, row].concat(), "line 8: a second price for 'small' at 'acme'; the first is in line 1"),
    ] {
        std::fs::write(dir.join("prices.toml"), text).unwrap();
        refused(dir, "show", &["prices.toml: ", says]);
    }
    std::fs::write(dir.join("prices.toml"), row).unwrap();
    refused(dir, "show smal1 --provider acme", &["no price for 'smal1' at 'acme'", "'small' at 'acme'"]);
    std::fs::write(dir.join("list.json"), "{\n]").unwrap();
    refused(
        dir,
        "import list.json --from litellm --into prices.toml",
        &["list.json: line 2", "price map of LiteLLM"],
    );
    refused(dir, "import list.json --from litellm --into prices.toml --date 2026-02-30", &["no such day"]);
    assert_eq!(std::fs::read_to_string(dir.join("prices.toml")).unwrap(), row);
}
