//! `discover`: who serves a model, at what price and declared precision, and who answers for it.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use inferometer_clock::{Clock, Wall};
use inferometer_plan::{Plan, Workload, found_in, with_found};
use inferometer_price::Book;
use inferometer_price::import::offers;
use inferometer_transport::Environment;
use inferometer_workload::{Cache, Prompts, Source};

use crate::discover::ask::{Asker, Said};
use crate::discover::found::{Found, json, table};
use crate::{Error, Exit, console, prices};

mod ask;
mod found;

/// Models of one provider that are tried out, where several go by the name.
const TRIED_MAX: usize = 4;

/// Arguments of `discover`.
#[derive(Args, Clone, Debug)]
pub struct DiscoverCommand {
    /// The model, as anybody calls it: vendor, date and variant may be left out
    pub model: String,
    /// Ask the targets of this plan [default: each provider whose key is in the environment]
    #[arg(long, value_name = "PLAN.toml")]
    pub plan: Option<PathBuf>,
    /// Take prices from this book [default: prices.toml, if it is there]
    #[arg(long, value_name = "BOOK")]
    pub book: Option<PathBuf>,
    /// Where OpenRouter is asked who serves a model of the name AUTHOR/MODEL
    #[arg(long, value_name = "URL", default_value = "https://openrouter.ai/api/v1")]
    pub openrouter: String,
    /// Leave OpenRouter alone
    #[arg(long)]
    pub no_openrouter: bool,
    /// Only read lists: send no request of one sentence to see who answers
    #[arg(long)]
    pub no_probe: bool,
    /// Write what can be asked into this plan; one that is not there is begun
    #[arg(long, value_name = "PLAN.toml")]
    pub into: Option<PathBuf>,
    /// How what was found is printed
    #[arg(long, value_enum, default_value_t = DiscoverFormat::Table)]
    pub format: DiscoverFormat,
}

/// How what was found is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiscoverFormat {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Looks for whoever serves a model and says what they say.
pub fn discover(command: &DiscoverCommand) -> Result<Exit, Error> {
    let plan = plan(command)?;
    let book = book(command)?;
    let failed = |source| Error::System { doing: "looking for a model", source };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let found = runtime.block_on(look(command, plan.as_ref(), book.as_ref()))?;
    match command.format {
        DiscoverFormat::Table => console::print(&table(&command.model, &found))?,
        DiscoverFormat::Json => console::print(&json(&found))?,
    }
    if let Some(path) = &command.into {
        write_into(path, &found)?;
    }
    Ok(if found.iter().any(Found::is_served) { Exit::Done } else { Exit::NothingSucceeded })
}

/// The targets to ask, as a plan: the one that was named, or one made of the keys in the environment, if there are any.
fn plan(command: &DiscoverCommand) -> Result<Option<Plan>, Error> {
    let env = |name: &str| std::env::var(name).ok();
    if let Some(path) = &command.plan {
        let read = |source| inferometer_plan::Error::Read { path: path.clone(), source };
        let text = std::fs::read_to_string(path).map_err(read)?;
        return Ok(Some(Plan::from_toml(&text, path, env, 0, None)?));
    }
    let found = found_in(env);
    let model = serde_json::Value::from(command.model.as_str());
    let target =
        |name: &str| format!("[[target]]\nname = \"{name}\"\nprovider = \"{name}\"\nmodel = {model}\n");
    let targets: String = found.iter().map(|preset| target(&preset.name)).collect();
    let source = Path::new("the keys of the environment");
    Ok(if found.is_empty() { None } else { Some(Plan::from_toml(&targets, source, env, 0, None)?) })
}

fn book(command: &DiscoverCommand) -> Result<Option<Book>, Error> {
    let beside = || Some(PathBuf::from(prices::BOOK)).filter(|book| book.exists());
    command.book.clone().or_else(beside).map(|book| prices::open(&book)).transpose()
}

async fn look(
    command: &DiscoverCommand,
    plan: Option<&Plan>,
    book: Option<&Book>,
) -> Result<Vec<Found>, Error> {
    let workload = probe();
    let prompts = Prompts::prepare(&workload.source, Some(1), 0, "discover", Cache::AsIs)?;
    let probe = (!command.no_probe).then(|| (&workload, prompts.item(0, 0)));
    let asker = Asker { clock: Clock::monotonic(), environment: Environment::of_process(), probe };
    let mut found = Vec::new();
    match (plan, command.no_openrouter) {
        (None, true) => console::say(
            "no provider's key is in the environment: there is nobody to ask (--plan names a plan)",
        ),
        (_, true) => {}
        (_, false) => found.extend(routed(command, &asker).await),
    }
    for target in plan.into_iter().flat_map(|plan| &plan.targets) {
        let secrets = plan.map(|plan| &plan.secrets);
        let say = |text: String| secrets.map_or(text.clone(), |secrets| secrets.redact(&text).into_owned());
        match asker.listed(target, &command.model).await {
            Err(reason) => console::say(&say(format!("{}: {reason}", target.name))),
            Ok(listed) if listed.is_empty() => {
                console::say(&format!("{}: its list has no model of this name", target.name));
            }
            Ok(listed) => {
                for listed in listed.into_iter().take(TRIED_MAX) {
                    let Said { id, context, availability, evidence } = asker.try_out(target, listed).await;
                    let evidence = evidence.map(&say);
                    found.push(Found::of(target, book, Said { id, context, availability, evidence }));
                }
            }
        }
    }
    Ok(found)
}

/// One sentence, whose answer may have a few tokens.
fn probe() -> Workload {
    Workload {
        name: "probe".to_owned(),
        source: Source::Builtin { output: None },
        temperature: 0.0,
        max_tokens: None,
        check: None,
        degraded_is_useful: None,
    }
}

/// Who serves the model behind OpenRouter. It asks for no key, and only knows names of the form AUTHOR/MODEL.
async fn routed(command: &DiscoverCommand, asker: &Asker<'_>) -> Vec<Found> {
    if !command.model.contains('/') {
        console::say("OpenRouter is not asked: it knows models as AUTHOR/MODEL");
        return Vec::new();
    }
    let page = format!("{}/models/{}/endpoints", command.openrouter.trim_end_matches('/'), command.model);
    let read = async {
        let got = asker.get(&page).await?;
        if got.status != 200 {
            return Err(format!("answered {}", got.status));
        }
        let today = prices::today().ok_or("the clock shows no day")?;
        offers(&String::from_utf8_lossy(&got.body), today).map_err(|error| error.to_string())
    };
    match read.await {
        Ok(offers) => offers.into_iter().map(Found::routed).collect(),
        Err(reason) => {
            console::say(&format!("OpenRouter: {reason}"));
            Vec::new()
        }
    }
}

fn write_into(path: &Path, found: &[Found]) -> Result<(), Error> {
    let wrong = |reason| Error::Discover { what: path.display().to_string(), reason };
    let failed = |source| inferometer_plan::Error::Write { path: path.to_owned(), source };
    let old = match std::fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error).into()),
    };
    let today = Wall::now().to_string();
    let today = today.get(..10).unwrap_or_default();
    let has_router_key = std::env::var("OPENROUTER_API_KEY").is_ok_and(|key| !key.trim().is_empty());
    let (routed, own): (Vec<_>, Vec<_>) =
        found.iter().filter(|found| found.is_served()).partition(|found| found.is_routed());
    if !routed.is_empty() && !has_router_key {
        console::say(&format!(
            "{} offers behind OpenRouter are not written: set OPENROUTER_API_KEY",
            routed.len()
        ));
    }
    let routed = routed.into_iter().filter(|_| has_router_key);
    let targets: Vec<_> = own.into_iter().chain(routed).map(|found| found.as_target(today)).collect();
    let (text, new) = with_found(old.as_deref(), &targets).map_err(wrong)?;
    // Whole or not at all: a plan is somebody's work.
    let beside = path.with_extension("toml.new");
    if new > 0 {
        std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path)).map_err(failed)?;
    }
    console::say(&format!("{}: {new} targets written, {} were there", path.display(), targets.len() - new));
    Ok(())
}
