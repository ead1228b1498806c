//! The plan file: from its text to a [`Plan`].
//!
//! | question | module |
//! |---|---|
//! | which keys are there, and what do they hold? | `shape` |
//! | is this key known, this value of its kind? | `table` |
//! | how does an error point at its line, and what must it not show? | `source` |
//! | what does a table mean? | `target`, `workload`, `load`, `protocol`, `profile` |
//! | may this name stand twice, does that one exist? | `names` |
//! | what else is wrong? | `wrong` |
//!
//! What a table means is said in `spec`, where the command line's flags get their meaning as well: a module here only
//! carries keys over. Each table is read on its own, so that all that is wrong is said at once, the first mistake of each
//! table and every wrong key; nothing that may be a key is shown in it.

mod load;
mod names;
mod profile;
mod protocol;
mod shape;
mod source;
mod table;
mod target;
mod workload;
mod wrong;

#[cfg(test)]
mod tests;

use std::io::Read as _;
use std::path::Path;

use inferometer_metrics::{Condition, ProfileKind};
use inferometer_price::Price;
use toml::de::DeTable;

use self::source::Source;
use self::table::Table;
use self::wrong::Wrong;
use crate::resolve::proxy;
use crate::spec::{DEFAULT_REQUESTS, PRODUCTION_REQUESTS};
use crate::{Budget, Error, Plan, Secrets};

#[cfg(test)]
pub(crate) use self::shape::SHAPES;
pub(crate) use self::shape::{Kind, PLAN, Shape, providers};
pub(crate) use self::table::nearest;

/// Looks a price up: provider and model, as the provider calls it.
pub type PriceLookup<'a> = &'a dyn Fn(&str, &str) -> Option<Price>;

/// The largest plan file, in bytes: what is larger is something else.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The text of the plan file at `path`.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    let failed = |source| Error::Read { path: path.to_path_buf(), source };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        let reason = format!("it is larger than {FILE_BYTES_MAX} bytes, which no plan is");
        return Err(failed(std::io::Error::new(std::io::ErrorKind::FileTooLarge, reason)));
    }
    Ok(text)
}

/// What reading a file needs beyond its text.
struct Reader<'a, E> {
    env: E,
    book: Option<PriceLookup<'a>>,
    path: &'a Path,
    secrets: Secrets,
}

impl Plan {
    /// The plan that `text` describes. `path` stands in errors, and files that it names are sought beside it; `env` reads
    /// a variable; `fresh_seed` is used where no seed is given; `book` knows the prices that are not stated.
    pub fn from_toml(
        text: &str,
        path: &Path,
        env: impl Fn(&str) -> Option<String>,
        fresh_seed: u64,
        book: Option<PriceLookup<'_>>,
    ) -> Result<Plan, Error> {
        let source = Source { path, text };
        let document = DeTable::parse(text).map_err(|error| {
            source.error_of_secret(error.span().unwrap_or_default(), error.message().to_string())
        })?;
        let mut wrong = Wrong::default();
        let root = Table::check(source, &PLAN, document.get_ref(), 0..0, &mut wrong);
        let mut secrets = Secrets::default();
        proxy::credentials(&env, &mut secrets);
        let mut reader = Reader { env, book, path, secrets };
        let plan = reader.plan(&root, fresh_seed, &mut wrong);
        match (plan, wrong.into_error()) {
            (Some(plan), None) => checked(plan, &root),
            (_, Some(error)) => Err(error),
            // Whatever is left out has left its error.
            (None, None) => Err(root.error_here("the plan cannot be read")),
        }
    }
}

impl<E: Fn(&str) -> Option<String>> Reader<'_, E> {
    /// The plan, where every part of it can be read.
    fn plan(&mut self, root: &Table<'_>, fresh_seed: u64, wrong: &mut Wrong) -> Option<Plan> {
        let sound = |key: &str, wrong: &Wrong| root.table(key).filter(|table| wrong.is_sound(table));
        let targets = self.targets(root, wrong);
        let protocol_table = sound("protocol", wrong);
        let protocol_table = protocol_table.as_ref();
        let workloads = self.workloads(root, protocol_table, wrong);
        let profiles = profile::kinds(root);
        let default =
            if profiles.contains(&ProfileKind::Production) { PRODUCTION_REQUESTS } else { DEFAULT_REQUESTS };
        let trials = wrong.keep(protocol::trials(protocol_table)).flatten().unwrap_or(default);
        let loads = load::loads(root, trials, wrong);
        names::filters(root, targets.as_deref(), workloads.as_deref(), wrong);
        let conditions = wrong.keep(protocol::conditions(protocol_table, targets.as_deref()));
        let count = root.tables("target").len();
        let protocol = wrong.keep(protocol::protocol(protocol_table, count, fresh_seed));
        let objectives = wrong.keep(protocol::objectives(protocol_table));
        let profiles = profile::profiles(root, workloads.as_deref(), loads.as_deref(), wrong);
        let compare = sound("compare", wrong);
        let equivalence = wrong.keep(profile::equivalence(compare.as_ref()));
        let monthly_requests = wrong.keep(profile::monthly_requests(compare.as_ref()));
        let budget = wrong.keep(budget(sound("budget", wrong).as_ref()));
        let conditions = conditions?;
        Some(Plan {
            name: root.text("name").unwrap_or_else(|| self.stem()),
            protocol: protocol?,
            objectives: objectives?,
            gates: conditions.iter().filter_map(Condition::cell).cloned().collect(),
            pair_gates: conditions.iter().filter_map(Condition::pair).cloned().collect(),
            profiles: profiles?,
            equivalence: equivalence?,
            monthly_requests: monthly_requests?,
            budget: budget?,
            targets: targets?,
            workloads: workloads?,
            loads: loads?,
            secrets: std::mem::take(&mut self.secrets),
        })
    }

    /// The run's name where none is given: the file's.
    fn stem(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        crate::study::file_name(&stem)
    }
}

/// The plan, unless its parts do not go together.
fn checked(plan: Plan, root: &Table<'_>) -> Result<Plan, Error> {
    if plan.cells().next().is_none() {
        return Err(
            root.error("load", "no load is meant for any target and workload: nothing would be asked")
        );
    }
    if let Some(protocol) = root.table("protocol") {
        plan.check_warm().map_err(|reason| protocol.error("cache", format!("cache: {reason}")))?;
    }
    if let Some(budget) = root.table("budget") {
        plan.check_prices().map_err(|error| budget.error("money", error.to_string()))?;
    }
    Ok(plan)
}

fn budget(table: Option<&Table<'_>>) -> Result<Budget, Error> {
    let Some(table) = table else { return Ok(Budget::default()) };
    Ok(Budget {
        requests: table.parse("requests")?,
        tokens: table.parse("tokens")?,
        money: table.parse::<crate::Dollars>("money")?.map(|dollars| dollars.0),
        time: table.parse::<crate::Span>("time")?.map(|span| span.0),
    })
}
