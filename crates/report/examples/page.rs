//! Writes the page of a made-up run to standard output: `cargo run -p inferometer-report --example page > page.html`.
//! With `single`, that of one target and one cell; with `pair`, of two targets.

use std::io::Write as _;
use std::path::Path;

use inferometer_report::RunView;
use inferometer_report::html::page;

#[path = "../tests/html/fixture.rs"]
mod fixture;
#[path = "../tests/html/verdicts.rs"]
mod verdicts;

fn main() -> std::io::Result<()> {
    let made = match std::env::args().nth(1).as_deref() {
        Some("single") => fixture::single(),
        Some("pair") => fixture::pair(),
        _ => fixture::full(300),
    };
    let run = RunView::new(&made.summary, &made.manifest, Some(Path::new("runs/20261130T101500Z-providers")));
    std::io::stdout().write_all(page(&run, &made.dots).as_bytes())
}
