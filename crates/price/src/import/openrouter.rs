//! OpenRouter's `/models` (the router's own prices) and `/models/{author}/{slug}/endpoints` (those of each provider).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Import, ImportError, Refusal, Sorting, own, per_million, plain};
use crate::Price;
use crate::book::{Date, Row};

#[derive(Deserialize)]
struct Model<'a> {
    id: String,
    #[serde(borrow, default)]
    pricing: BTreeMap<String, &'a RawValue>,
}

#[derive(Deserialize)]
struct Endpoints<'a> {
    id: String,
    #[serde(borrow)]
    endpoints: Vec<Endpoint<'a>>,
}

#[derive(Deserialize)]
struct Endpoint<'a> {
    tag: Option<String>,
    provider_name: Option<String>,
    quantization: Option<String>,
    context_length: Option<u64>,
    status: Option<i64>,
    uptime_last_1d: Option<f64>,
    #[serde(borrow, default)]
    pricing: BTreeMap<String, &'a RawValue>,
}

/// One provider's offer of a model behind the router, as the router tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// The provider, as the router calls it.
    pub provider: String,
    /// The router's tag of the offer, by which a request is pinned to it.
    pub tag: String,
    /// The model, as the router calls it.
    pub model: String,
    /// What it costs; absent where the router states no price.
    pub price: Option<Price>,
    /// Precision of the weights, as the provider declares it; absent where it is `unknown`.
    pub precision: Option<String>,
    /// Tokens of context.
    pub context: Option<u64>,
    /// The router's status: 0 is served, a negative number is not, or badly.
    pub status: Option<i64>,
    /// Share of the last day in which it answered, 0 to 100.
    pub uptime: Option<f64>,
}

/// Reads OpenRouter's `/models/{author}/{slug}/endpoints`: who serves the model, as of `date`.
pub fn offers(json: &str, date: Date) -> Result<Vec<Offer>, ImportError> {
    #[derive(Deserialize)]
    struct Answer<'a> {
        #[serde(borrow)]
        data: Endpoints<'a>,
    }
    let answer: Answer<'_> = serde_json::from_str(json).map_err(|error| shape(&error))?;
    let model = answer.data.id;
    let offer = |endpoint: Endpoint<'_>| {
        let price =
            row(String::new(), &model, &endpoint.pricing, "/endpoints", date).ok().map(|row| row.price);
        let named = || "unknown".to_owned();
        Offer {
            provider: endpoint.provider_name.clone().unwrap_or_else(named),
            tag: endpoint.tag.or(endpoint.provider_name).unwrap_or_else(named),
            model: model.clone(),
            price,
            precision: endpoint.quantization.filter(|name| name != "unknown" && !name.is_empty()),
            context: endpoint.context_length,
            status: endpoint.status,
            uptime: endpoint.uptime_last_1d,
        }
    };
    Ok(answer.data.endpoints.into_iter().map(offer).collect())
}

fn shape(error: &serde_json::Error) -> ImportError {
    ImportError::Shape { list: "list of OpenRouter", line: error.line().max(1), why: error.to_string() }
}

/// Reads OpenRouter's `/models`, or the `endpoints` of one model, as they were on `date`.
///
/// Of `/models` the provider is `openrouter`; of `endpoints` it is `openrouter/TAG`, since one provider may serve a model
/// twice. A price of -1 is set by the router for each request and is refused. A `discount` is named in the source and
/// not taken off.
pub fn openrouter(json: &str, date: Date) -> Result<Import, ImportError> {
    let outer: BTreeMap<String, &RawValue> = serde_json::from_str(json).map_err(|error| shape(&error))?;
    let data = outer.get("data").map_or("null", |data| data.get());
    let mut sorting = Sorting::default();
    if data.starts_with('[') {
        let models: Vec<Model<'_>> = serde_json::from_str(data).map_err(|error| shape(&error))?;
        for model in models {
            let row = row("openrouter".to_owned(), &model.id, &model.pricing, "/models", date);
            sorting.put(model.id, row);
        }
    } else {
        let model: Endpoints<'_> = serde_json::from_str(data).map_err(|error| shape(&error))?;
        for endpoint in model.endpoints {
            let tag = endpoint.tag.or(endpoint.provider_name).unwrap_or_else(|| "unknown".to_owned());
            let row = row(format!("openrouter/{tag}"), &model.id, &endpoint.pricing, "/endpoints", date);
            sorting.put(format!("{} at {tag}", model.id), row);
        }
    }
    Ok(sorting.finish())
}

fn row(
    provider: String,
    model: &str,
    pricing: &BTreeMap<String, &RawValue>,
    page: &str,
    date: Date,
) -> Result<Row, Refusal> {
    let get = |name: &str| pricing.get(name).copied();
    let token = |name: &str| per_million(name, get(name));
    let price = Price {
        input: token("prompt")?,
        output: token("completion")?,
        cache_read: own(token("input_cache_read")?),
        cache_write: own(token("input_cache_write")?),
        reasoning: own(token("internal_reasoning")?),
        request: own(plain("request", get("request"))?),
        ..Price::default()
    };
    if price.input.is_none() || price.output.is_none() {
        return Err(Refusal::NoTokenPrice);
    }
    let discount = own(plain("discount", get("discount"))?);
    let discount = discount.map_or_else(String::new, |share| format!(", discount of {share} not taken off"));
    let source = format!("OpenRouter's {page}{discount}");
    Ok(Row::new(provider, model.to_owned(), price, source, date))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day() -> Date {
        Date::parse("2026-11-30").expect("a day")
    }

    fn check(json: &str, rows: &[(&str, &str, &str)], refused: &[&str]) {
        let import = openrouter(json, day()).expect(json);
        let seen: Vec<_> = import
            .book
            .rows()
            .iter()
            .map(|row| (row.provider.clone(), row.model.clone(), row.price.to_string()))
            .collect();
        let right: Vec<_> =
            rows.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect();
        assert_eq!(seen, right);
        let seen: Vec<_> = import.refused.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        assert_eq!(seen, refused);
        assert_eq!(import.entries, rows.len() + refused.len());
    }

    #[test]
    fn models() {
        check(
            r#"{"data":[
                {"id":"maker/small","pricing":{"prompt":"0.00000015","completion":"0.0000006","request":"0","image":"0.1",
                 "internal_reasoning":"0","input_cache_read":"0.000000075"}},
                {"id":"maker/small:free","pricing":{"prompt":"0","completion":"0"}},
                {"id":"openrouter/auto","pricing":{"prompt":"-1","completion":"-1"}},
                {"id":"maker/none"}]}"#,
            &[
                ("openrouter", "maker/small", "input=0.15,output=0.6,cache_read=0.075"),
                ("openrouter", "maker/small:free", "input=0,output=0"),
            ],
            &[
                "maker/none: no price per token for both input and output",
                "openrouter/auto: an amount that is no price: prompt is \"-1\"",
            ],
        );
    }

    #[test]
    fn endpoints() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/openrouter-endpoints-shape.json");
        let Ok(json) = std::fs::read_to_string(path) else {
            println!("skipped: the shape of OpenRouter's endpoints is not at hand");
            return;
        };
        check(
            &json,
            &[
                ("openrouter/alpha/fp8", "maker/model-120b", "input=0.1,output=0.5,cache_read=0.02"),
                ("openrouter/beta", "maker/model-120b", "input=0.09,output=0.45"),
            ],
            &["maker/model-120b at gamma/bf16: an amount that is no price: prompt is \"-1\""],
        );
        let import = openrouter(&json, day()).expect("a list");
        assert!(import.book.rows()[1].source.ends_with("discount of 0.1 not taken off"));
    }

    #[test]
    fn offers_keep_what_is_declared() {
        let json = r#"{"data":{"id":"maker/model","endpoints":[
            {"provider_name":"Alpha","tag":"alpha/fp8","quantization":"fp8","context_length":131072,"status":0,
             "uptime_last_1d":99.2,"pricing":{"prompt":"0.0000001","completion":"0.0000005"}},
            {"provider_name":"Gamma","quantization":"unknown","status":-2,"pricing":{"prompt":"-1","completion":"-1"}}]}}"#;
        let seen: Vec<_> = offers(json, day())
            .expect("offers")
            .into_iter()
            .map(|offer| {
                let price = offer.price.map(|price| price.to_string());
                (offer.provider, offer.tag, price, offer.precision, offer.context, offer.status, offer.uptime)
            })
            .collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            seen,
            [
                (
                    "Alpha".into(),
                    "alpha/fp8".into(),
                    text("input=0.1,output=0.5"),
                    text("fp8"),
                    Some(131_072),
                    Some(0),
                    Some(99.2)
                ),
                ("Gamma".into(), "Gamma".into(), None, None, None, Some(-2), None),
            ]
        );
        assert!(offers(r#"{"data":[]}"#, day()).is_err());
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for (json, said) in [
            ("", "EOF"),
            ("[]", "invalid type"),
            ("{}", "invalid type"),
            (r#"{"data":{"id":1}}"#, "invalid type"),
        ] {
            let error = openrouter(json, day()).expect_err(json).to_string();
            assert!(error.contains("no list of OpenRouter") && error.contains(said), "{json}: {error}");
        }
    }
}
