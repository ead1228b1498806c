//! Who is out of a decision: told together where it is for one reason.

/// What stands between the name of a target that is out and the reason.
pub(crate) const IS_OUT: &str = " is out: ";

/// Targets that are out for one reason.
struct Group {
    /// The reason without its numbers, by which they are one.
    kind: String,
    /// The reason of the first, without its counts.
    reason: String,
    /// All that was said of the first.
    sentence: String,
    names: Vec<String>,
}

/// The reasons of a decision, of which those why a target is out are one for those that are out alike; of more than
/// `most` kinds only the names, with where the rest is told.
pub(crate) fn together(reasons: &[String], most: usize, elsewhere: &str) -> Vec<String> {
    let mut groups: Vec<Group> = Vec::new();
    let mut shown: Vec<String> = Vec::new();
    let mut at = None;
    for sentence in reasons {
        let Some((name, why)) = sentence.split_once(IS_OUT) else {
            shown.push(sentence.clone());
            continue;
        };
        at = at.or(Some(shown.len()));
        let reason = first(why);
        let kind: String = reason.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect();
        if let Some(group) = groups.iter_mut().find(|group| group.kind == kind) {
            group.names.push(name.to_owned());
        } else {
            let names = vec![name.to_owned()];
            groups.push(Group { kind, reason, sentence: sentence.clone(), names });
        }
    }
    let others: Vec<String> = groups.iter().skip(most).flat_map(|group| group.names.clone()).collect();
    let mut said: Vec<String> = groups.iter().take(most).map(told).collect();
    if !others.is_empty() {
        said.push(format!("Out too, for reasons in {elsewhere}: {}.", others.join(", ")));
    }
    let at = at.unwrap_or(shown.len());
    shown.splice(at..at, said);
    shown
}

/// One alone with all that was said of it.
fn told(group: &Group) -> String {
    match group.names.as_slice() {
        [names @ .., last] if !names.is_empty() => {
            format!("Out since {}: {} and {last}.", group.reason, names.join(", "))
        }
        _ => group.sentence.clone(),
    }
}

/// The first of several reasons, without what stands in parentheses.
fn first(why: &str) -> String {
    let mut depth = 0_u32;
    let mut kept = String::new();
    for c in why.split("; ").next().unwrap_or_default().trim_end_matches('.').chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept.replace("  ", " ").replace(" :", ":").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(reasons: &[&str], told: &[&str]) {
        let reasons: Vec<String> = reasons.iter().map(|said| (*said).to_owned()).collect();
        assert_eq!(together(&reasons, 4, "report.html"), told);
    }

    #[test]
    fn who_is_out_alike_is_told_together() {
        check(
            &[
                "a is the best.",
                "b is out: it fails more than 2 % of its requests (16 of 300).",
                "c is out: its TTFT p95 is more than 500 ms (35 of 300 took longer or failed); it fails more than 2 %.",
                "d is out: it fails more than 2 % of its requests (9 of 100); its TTFT p95 is more than 500 ms.",
                "It rests on one window.",
            ],
            &[
                "a is the best.",
                "Out since it fails more than 2 % of its requests: b and d.",
                "c is out: its TTFT p95 is more than 500 ms (35 of 300 took longer or failed); it fails more than 2 %.",
                "It rests on one window.",
            ],
        );
    }

    #[test]
    fn of_many_reasons_the_last_are_names() {
        let out: Vec<String> =
            ["v", "w", "x", "y", "z"].map(|who| format!("{who} is out: {who} broke.")).to_vec();
        assert_eq!(
            together(&out, 4, "report.html")[3..],
            ["y is out: y broke.", "Out too, for reasons in report.html: z."]
        );
        // Numbers alone make no other reason.
        check(
            &[
                "a is out: not valid: 8 of 300 late (0 dropped): at most 1 %.",
                "b is out: not valid: 9 of 300 late: at most 1 %.",
            ],
            &["Out since not valid: 8 of 300 late: at most 1 %: a and b."],
        );
    }
}
