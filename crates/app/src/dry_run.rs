//! `run --dry-run`: what a plan would send, cost and prove. Nothing is sent, and no folder is made.

use std::fmt::Write as _;

use inferometer_plan::{Arrival, CellEstimate, Estimate, Plan};
use inferometer_price::Decimal;
use inferometer_workload::Prompts;

use crate::console::{columns, print};
use crate::{Error, Exit};

/// What so many requests can say, as long as all goes well.
const CAN_SAY: [(u64, &str); 4] = [
    (25, "the median, gross failure, large paired shifts"),
    (60, "a p95 limit, if nothing exceeds it"),
    (100, "a p95 to a factor"),
    (300, "p95 compared; p99 or 99 % reliability, only if spotless"),
];

/// Prints what `plan` would do. `prompts` are those of each workload, in order.
pub(crate) fn dry_run(plan: &Plan, prompts: &[Prompts]) -> Result<Exit, Error> {
    plan.check_sayable(prompts)?;
    plan.check_spend(prompts)?;
    print(&text(plan, &plan.estimate(prompts)))?;
    Ok(Exit::Done)
}

fn text(plan: &Plan, estimate: &Estimate) -> String {
    let mut text = format!("Dry run of {}: nothing is sent.\n\n", plan.name);
    let _ = writeln!(text, "{}", table(&estimate.cells));
    let open = || "open: a load ends by time".to_string();
    let requests = estimate.requests.map_or_else(open, |requests| {
        format!("{}, warm-ups and one request ahead of each target among them", count(requests))
    });
    let input = estimate.input_tokens.map_or_else(open, |tokens| format!("about {}", count(tokens)));
    let output = estimate
        .output_tokens_max
        .map_or("no limit is known".to_string(), |tokens| format!("at most {}", count(tokens)));
    for (name, value) in [
        ("requests", requests),
        ("input tokens", input),
        ("output tokens", output),
        ("cost", cost(plan, estimate)),
        ("time", time(estimate)),
        ("budget", budget(plan)),
    ] {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<14} {value}");
        }
    }
    text.push_str(&proofs(plan, estimate));
    text
}

/// What the chosen number of requests can say, and what it cannot prove.
fn proofs(plan: &Plan, estimate: &Estimate) -> String {
    let mut text = String::new();
    let loads = plan.loads.iter();
    let single = loads.filter(|load| matches!(load.arrival, Arrival::Closed { .. } | Arrival::Open { .. }));
    let names: Vec<&str> = single.map(|load| load.name.as_str()).collect();
    let cells = estimate.cells.iter().filter(|cell| names.contains(&cell.load.as_str()));
    if let Some(fewest) = cells.filter_map(|cell| cell.requests).min() {
        let said = CAN_SAY.iter().rev().find(|(n, _)| *n <= fewest);
        let said = said.map_or("too few for any figure but the median", |(_, said)| said);
        let _ = writeln!(text, "\n{} requests of a cell can say: {said}.", count(fewest));
    }
    for (nth, line) in estimate.slices.iter().enumerate() {
        let head = if nth == 0 { "Slices, in which the targets take turns:\n" } else { "" };
        let _ = writeln!(text, "{head}  {line}");
    }
    if estimate.conditions == 0 {
        text.push_str(if plan.pair_gates.is_empty() { "There is no gate and no limit.\n" } else { "" });
    } else if estimate.unprovable.is_empty() && estimate.requests.is_none() {
        text.push_str("Whether gates and limits can be proved is up to the requests that the time allows.\n");
    } else if estimate.unprovable.is_empty() {
        text.push_str("Every gate and limit can be proved, if the targets are good enough.\n");
    } else {
        text.push_str("Cannot be proved, whatever the answers are:\n");
        estimate.unprovable.iter().for_each(|line| {
            let _ = writeln!(text, "  {line}");
        });
    }
    text
}

/// One line a cell, columns aligned.
fn table(cells: &[CellEstimate]) -> String {
    let head = ["target", "workload", "load", "requests", "input", "output", "cost, USD"].map(String::from);
    let head = std::iter::once(head.to_vec());
    columns(&head.chain(cells.iter().map(row)).collect::<Vec<_>>())
}

fn row(cell: &CellEstimate) -> Vec<String> {
    let requests = cell.requests.map_or("by time".to_string(), count);
    vec![
        cell.target.clone(),
        cell.workload.clone(),
        cell.load.clone(),
        format!("{requests} + {}", cell.warmup),
        format!("~{}", count(cell.input_tokens_mean)),
        cell.output_tokens_max_mean.map_or("no limit".to_string(), |tokens| format!("≤ {}", count(tokens))),
        match (cell.cost_min_usd, cell.cost_max_usd) {
            (Some(min), Some(max)) => format!("{} to {}", dollars(min), dollars(max)),
            (Some(min), None) => format!("{} and more", dollars(min)),
            _ => "no price".to_string(),
        },
    ]
}

fn cost(plan: &Plan, estimate: &Estimate) -> String {
    let said = match (estimate.cost_min_usd, estimate.cost_max_usd) {
        (Some(min), Some(max)) => {
            let range = "from no output to every answer at its token limit";
            format!("{} to {} USD, {range}", dollars(min), dollars(max))
        }
        (Some(min), None) => format!("{} USD and more: not every request has a token limit", dollars(min)),
        _ => return "not known: a target has no price, or a load ends by time".to_string(),
    };
    let retries = plan.protocol.retries;
    if retries > 0 { format!("{said}; each of {retries} retries costs as well") } else { said }
}

fn time(estimate: &Estimate) -> String {
    if estimate.at_least.is_zero() {
        return "up to the targets".to_string();
    }
    format!(
        "at least {} s of schedules and rests; the rest is up to the targets",
        estimate.at_least.as_secs()
    )
}

fn budget(plan: &Plan) -> String {
    let budget = plan.budget;
    let bounds = [
        budget.requests.map(|requests| format!("{} requests", count(requests))),
        budget.tokens.map(|tokens| format!("{} tokens", count(tokens))),
        budget.money.map(|money| format!("{} USD", money.normalize())),
        budget.time.map(|time| format!("{} s", time.as_secs())),
    ];
    bounds.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Rounded up to a hundredth of a cent: an estimate of money that is too low is of no use.
fn dollars(amount: Decimal) -> String {
    let scaled = amount.checked_mul(Decimal::from(10_000)).map(|scaled| scaled.ceil());
    let rounded = scaled.map_or(amount, |scaled| scaled / Decimal::from(10_000));
    rounded.normalize().to_string()
}

/// With a comma between thousands.
fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn printed(toml: &str) -> String {
        let plan = Plan::from_toml(toml, Path::new("p.toml"), |_| None, 1, None).unwrap();
        let prepare = |workload: &inferometer_plan::Workload| {
            Prompts::prepare(&workload.source, Some(10), 1, "x", plan.protocol.cache).unwrap()
        };
        let prompts: Vec<Prompts> = plan.workloads.iter().map(prepare).collect();
        text(&plan, &plan.estimate(&prompts))
    }

    #[test]
    fn says_what_would_be_sent_and_what_it_could_not_prove() {
        let target = "[[target]]\nname = \"a\"\nurl = \"http://h\"\nmodel = \"m\"\n";
        let rest = "[[workload]]\nisl = 100\nmax_tokens = 50\n[protocol]\ntrials = 25\n\
                    [[load]]\n[[load]]\nburst = { size = 4, rest = \"2s\", episodes = 3 }\n\
                    [profile.chat]\n[budget]\ntime = \"1m\"\n";
        let right = "\
Dry run of p: nothing is sent.

target  workload      load     requests  input  output  cost, USD
a       isl100-osl50  c1       25 + 3    ~100   ≤ 50    0.0028 to 0.0042
a       isl100-osl50  burst-4  18 + 3    ~100   ≤ 50    0.0021 to 0.0032

requests       50, warm-ups and one request ahead of each target among them
input tokens   about 4,900
output tokens  at most 2,450
cost           0.0049 to 0.0074 USD, from no output to every answer at its token limit
time           at least 6 s of schedules and rests; the rest is up to the targets
budget         60 s

25 requests of a cell can say: the median, gross failure, large paired shifts.
Cannot be proved, whatever the answers are:
";
        let price = "price = { input = 1, output = 1 }\n";
        let said = printed(&format!("{target}{price}{rest}"));
        assert!(said.starts_with(right), "{said}");
        let line = "  chat, ttft_p95>2s at c1: 25 requests cannot prove it, 59 could if none is over\n";
        assert!(said.contains(line), "{said}");
        let warm = "[[workload]]\nisl = 100\n[protocol]\ntrials = 25\ncache = \"warm\"";
        let said = printed(&format!("{target}{warm}"));
        assert!(said.contains("25 + 28"), "each of 25 prompts once more, and 3 warm-ups: {said}");
        assert!(said.contains("requests       54, "), "{said}");
        let said = printed(&format!("{target}{rest}").replace("max_tokens = 50", ""));
        assert!(said.contains("no limit  no price\n"), "{said}");
        assert!(said.contains("cost           not known: a target has no price"), "{said}");
        assert!(said.contains("output tokens  no limit is known\n"), "{said}");
    }

    #[test]
    fn says_of_proofs_and_slices_what_is_known() {
        let target = "[[target]]\nname = \"a\"\nurl = \"http://h\"\nmodel = \"m\"\n";
        let two = format!("{target}{}", target.replace("\"a\"", "\"b\""));
        let one = "c4: 1 of 10 s for each target: each target is measured in one piece: use more trials, or interleave";
        for (targets, rest, says, not) in [
            (target, "", "There is no gate and no limit.", "Every gate"),
            (
                target,
                "[protocol]\nfail_if = \"error_rate>50%\"",
                "Every gate and limit can be proved",
                "no gate",
            ),
            (
                target,
                "[protocol]\nfail_if = \"availability<99%\"",
                "gate availability<99%: it takes time",
                "Every gate",
            ),
            (target, "[profile.production]", "production, availability<99%: it takes time", "Every gate"),
            (target, "[load]\nconcurrency = 4", "can say", "Slices"),
            (&two, "[load]\nconcurrency = 4", "c4: how many slices of 10 s each target gets", "one piece"),
            (&two, "[load]\nconcurrency = 4\nduration = \"10s\"", one, "shorter"),
            (
                &two,
                "[load]\nrequest_rate = 1\nrequests = 100",
                "poisson-1: 10 of 10 s for each target\n",
                "pieces",
            ),
            (&two, "[load]\nconcurrency = 4\n[protocol]\ninterleave = \"together\"", "can say", "Slices"),
        ] {
            let said = printed(&format!("{targets}{rest}"));
            assert!(said.contains(says) && !said.contains(not), "{rest}: {said}");
        }
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let dollars = |typed: &str| super::dollars(typed.parse().unwrap());
        assert_eq!(["0", "0.00001", "1.5", "12"].map(dollars), ["0", "0.0001", "1.5", "12"]);
    }
}
