//! What was found of a model at one provider.

use inferometer_plan::{FoundTarget, Target};
use inferometer_price::import::Offer;
use inferometer_price::{Book, Price};
use inferometer_wire::Dialect;
use inferometer_wire::listing::Availability;
use serde_json::{Value, json};

use super::ask::Said;
use crate::console::columns;

/// Longest piece of a provider's words in the table.
const WORDS_MAX: usize = 60;

/// A model at one provider.
#[derive(Clone, Debug)]
pub(super) struct Found {
    provider: String,
    model: String,
    pub(super) availability: Availability,
    price: Option<Price>,
    precision: Option<String>,
    context: Option<u64>,
    region: Option<String>,
    evidence: Option<String>,
    /// The target that was asked, as a plan writes it; of an offer behind OpenRouter, its tag.
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Target { name: String, url: String, dialect: Dialect, key: Option<String>, preset: Option<&'static str> },
    Routed { tag: String },
}

impl Found {
    /// What `target` said.
    pub(super) fn of(target: &Target, book: Option<&Book>, said: Said) -> Self {
        let Said { id, context, availability, evidence } = said;
        let price = target.price.clone().filter(|_| id == target.model);
        let declared = &target.declared;
        Self {
            price: price.or_else(|| book?.price(&target.provider, &id)),
            provider: target.provider.clone(),
            availability,
            precision: declared.precision.clone(),
            context,
            region: declared.region.clone(),
            evidence,
            place: Place::Target {
                name: target.name.clone(),
                url: target.shown_url.clone(),
                dialect: target.dialect,
                key: target.key_source.clone(),
                preset: inferometer_plan::preset(&target.provider).map(|preset| preset.name.as_str()),
            },
            model: id,
        }
    }

    /// An offer behind OpenRouter: the router says whether it is served, and nobody was asked.
    pub(super) fn routed(offer: Offer) -> Self {
        let Offer { provider, tag, model, price, precision, context, status, uptime } = offer;
        let status = status.map(|status| format!("status {status}"));
        let uptime = uptime.map(|uptime| format!("up {uptime} % of a day"));
        let words: Vec<_> = status.into_iter().chain(uptime).collect();
        Self {
            provider: format!("openrouter/{provider}"),
            model,
            availability: Availability::Unknown,
            price,
            precision,
            context,
            region: None,
            evidence: Some(words.join(", ")).filter(|words| !words.is_empty()),
            place: Place::Routed { tag },
        }
    }

    pub(super) fn is_routed(&self) -> bool {
        matches!(self.place, Place::Routed { .. })
    }

    /// Whether nothing says that it cannot be asked.
    pub(super) fn is_served(&self) -> bool {
        matches!(self.availability, Availability::Callable | Availability::Unknown)
    }

    /// As a plan writes it.
    pub(super) fn as_target(&self, day: &str) -> FoundTarget {
        let evidence = self.evidence.as_deref().unwrap_or("listed");
        let mut target = FoundTarget {
            model: self.model.clone(),
            price: self.price.as_ref().map(ToString::to_string),
            precision: self.precision.clone(),
            region: self.region.clone(),
            comment: format!("found on {day}: {}, {}", self.availability, short(evidence)),
            ..FoundTarget::default()
        };
        match &self.place {
            Place::Routed { tag } => {
                target.provider = Some("openrouter".to_owned());
                target.name = Some(format!("{}@openrouter/{tag}", self.model));
                target.pinned = Some(tag.clone());
            }
            Place::Target { preset: Some(preset), .. } => target.provider = Some((*preset).to_owned()),
            Place::Target { url, dialect, key, .. } => {
                target.url = Some(url.clone());
                target.dialect = Some(dialect.name().to_owned()).filter(|_| *dialect != Dialect::default());
                target.api_key_env.clone_from(key);
            }
        }
        target
    }

    fn cells(&self) -> Vec<String> {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let amount = |of: fn(&Price) -> Option<String>| or_dash(self.price.as_ref().and_then(of));
        vec![
            self.provider.clone(),
            self.model.clone(),
            self.availability.to_string(),
            amount(|price| price.input.map(|input| input.to_string())),
            amount(|price| price.output.map(|output| output.to_string())),
            or_dash(self.precision.clone()),
            or_dash(self.context.map(|context| context.to_string())),
            or_dash(self.region.clone()),
            short(self.evidence.as_deref().unwrap_or("-")),
        ]
    }
}

/// What was found, for people.
pub(super) fn table(model: &str, found: &[Found]) -> String {
    if found.is_empty() {
        return format!("nobody who was asked serves {model}\n");
    }
    let head = [
        "provider",
        "model",
        "availability",
        "in $/M",
        "out $/M",
        "precision",
        "context",
        "region",
        "in its own words",
    ];
    let head = head.map(str::to_owned).to_vec();
    let lines: Vec<_> = std::iter::once(head).chain(found.iter().map(Found::cells)).collect();
    let note = "Price, precision, context and region are as declared or booked, not measured.";
    format!("{}\n{note}\n", columns(&lines))
}

/// The same for programs: an array.
pub(super) fn json(found: &[Found]) -> String {
    let one = |found: &Found| {
        json!({
            "provider": found.provider,
            "model": found.model,
            "availability": found.availability.name(),
            "price": found.price.as_ref().map(ToString::to_string),
            "precision": found.precision,
            "context": found.context,
            "region": found.region,
            "evidence": found.evidence,
            "target": match &found.place {
                Place::Target { name, .. } => Value::from(name.as_str()),
                Place::Routed { .. } => Value::Null,
            },
        })
    };
    format!("{:#}\n", Value::Array(found.iter().map(one).collect()))
}

/// One line, and not a long one.
fn short(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(WORDS_MAX) {
        Some((at, _)) => format!("{}…", &words[..at]),
        None => words,
    }
}
