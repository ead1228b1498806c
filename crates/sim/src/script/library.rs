//! The named scenarios that come with the simulator.

use super::{Script, parse};

/// The scenarios, as they are read.
const TEXT: &str = include_str!("scenarios.txt");

/// Marks a scenario's first line: its name and its title.
const HEADING: &str = "= ";

/// The scenario called `name`. `depth` counts how many scenarios have sent us here.
pub(super) fn find_at(name: &str, depth: u32) -> Option<Result<Script, String>> {
    sections().find(|(found, _)| *found == name).map(|(_, body)| {
        parse::script(&body, parse::Raw::ToLineEnd, depth).map_err(|error| format!("{name}: {error}"))
    })
}

/// The scenario called `name`.
pub(crate) fn find(name: &str) -> Option<Result<Script, String>> {
    find_at(name, 0)
}

/// The named scenarios that come with the simulator: name and title.
pub fn scenarios() -> impl Iterator<Item = (&'static str, &'static str)> {
    let headings = TEXT.lines().filter_map(|line| line.strip_prefix(HEADING));
    headings.map(|heading| heading.split_once(' ').unwrap_or((heading, "")))
}

/// Names and scripts.
fn sections() -> impl Iterator<Item = (&'static str, String)> {
    let mut lines = TEXT.lines().filter(|line| !line.starts_with('#')).peekable();
    std::iter::from_fn(move || {
        let heading = lines.find_map(|line| line.strip_prefix(HEADING))?;
        let mut body = String::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with(HEADING)) {
            body.push_str(line);
            body.push('\n');
        }
        Some((heading.split(' ').next().unwrap_or(heading), body))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_scenario_can_be_read_and_has_a_name_of_its_own() {
        let mut seen = HashSet::new();
        for (name, title) in scenarios() {
            assert!(!title.is_empty(), "{name} has no title");
            assert!(seen.insert(name), "{name} is there twice");
            assert!(matches!(find(name), Some(Ok(_))), "{:?}", find(name).map(Result::err));
        }
    }

    /// A slip of the pen in a scenario would be taken for the quirk that it shows.
    #[test]
    fn what_should_be_json_is() {
        // These break their JSON on purpose, or carry it over several writes or lines.
        let broken = ["s05", "w52b", "w56", "w56b", "w59c", "w63", "w66", "w68", "w68b", "w70b"];
        for (name, body) in sections().filter(|(name, _)| !broken.contains(name)) {
            for line in body.lines().filter(|line| line.contains("data:")) {
                for event in line.split("data:").skip(1) {
                    let payload = event.split(['⏎', '␍']).next().unwrap().trim();
                    let known =
                        payload.is_empty() || payload == "[DONE]" || payload == "overloaded, try later";
                    let json = serde_json::from_str::<serde_json::Value>(payload);
                    assert!(known || json.is_ok(), "{name}: {payload}");
                }
            }
        }
    }

    #[test]
    fn none_of_the_catalogue_is_missing() {
        let known: HashSet<_> = scenarios().map(|(name, _)| name).collect();
        for w in 1..=76 {
            // W74 is a property of connections: any scenario on a fresh one.
            assert!(w == 74 || known.contains(format!("w{w:02}").as_str()), "w{w:02}");
        }
        for case in [1, 3, 5, 7, 10, 12, 16, 18, 20, 22, 24, 26, 28, 30, 33, 35, 37, 38, 39] {
            assert!(known.contains(format!("c{case:02}").as_str()), "c{case:02}");
        }
        for case in [1, 3, 5, 7, 9, 12] {
            assert!(known.contains(format!("s{case:02}").as_str()), "s{case:02}");
        }
    }
}
