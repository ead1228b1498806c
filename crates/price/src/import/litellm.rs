//! LiteLLM's price map (`model_prices_and_context_window.json`): one object, an entry a model.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::{Import, ImportError, Refusal, Sorting, own, per_million, plain};
use crate::book::{Date, Row};
use crate::parse::tier_of;
use crate::{Decimal, Price, Tier};

/// What a price of this list names as its source where the entry names none.
const SOURCE: &str = "LiteLLM's price map";

/// Kinds of service that are asked for text by tokens.
const KINDS: [&str; 3] = ["chat", "responses", "completion"];

/// How the prices of an entry are called, and how ours are; per token.
const PRICES: [(&str, &str); 5] = [
    ("input_cost_per_token", "input"),
    ("output_cost_per_token", "output"),
    ("cache_read_input_token_cost", "cache_read"),
    ("cache_creation_input_token_cost", "cache_write"),
    ("output_cost_per_reasoning_token", "reasoning"),
];

type Entry<'a> = BTreeMap<String, &'a RawValue>;

/// Reads LiteLLM's price map, as it was on `date`.
///
/// Taken are entries of text services with a price per token for both input and output, with their tiers by length of
/// input. Batch, priority and other service levels, prices per image, second, character or search are not: they are
/// nothing that a plain request pays. The model's name is the entry's without the provider in front.
pub fn litellm(json: &str, date: Date) -> Result<Import, ImportError> {
    let map: BTreeMap<String, &RawValue> = serde_json::from_str(json).map_err(|error| {
        ImportError::Shape { list: "price map of LiteLLM", line: error.line(), why: error.to_string() }
    })?;
    let mut sorting = Sorting::default();
    for (name, raw) in map {
        let row = row(&name, raw, date);
        sorting.put(name, row);
    }
    Ok(sorting.finish())
}

fn row(name: &str, raw: &RawValue, date: Date) -> Result<Row, Refusal> {
    if name == "sample_spec" {
        return Err(Refusal::Specimen);
    }
    let entry: Entry<'_> = serde_json::from_str(raw.get()).map_err(|_| Refusal::Unreadable)?;
    let text = |field: &str| serde_json::from_str::<String>(entry.get(field)?.get()).ok();
    let kind = text("mode");
    if let Some(kind) = kind.filter(|kind| !KINDS.contains(&kind.as_str())) {
        return Err(Refusal::Kind(kind));
    }
    let price = price(&entry)?;
    let is_free =
        price.input.is_some_and(|price| price.is_zero()) && price.output.is_some_and(|price| price.is_zero());
    if is_free && price.request.is_none() && !name.contains("free") {
        return Err(Refusal::Zero);
    }
    let provider = text("litellm_provider").unwrap_or_else(|| "unknown".to_owned());
    let model = name.strip_prefix(&provider).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
    let source = text("source").filter(|source| !source.trim().is_empty());
    let source = source.map_or_else(|| SOURCE.to_owned(), |page| format!("{SOURCE}: {page}"));
    Ok(Row::new(provider, model.to_owned(), price, source, date))
}

fn price(entry: &Entry<'_>) -> Result<Price, Refusal> {
    let mut base = prices_of(entry, "")?;
    let mut tiers = tiers_by_name(entry)?;
    if let Some(listed) = entry.get("tiered_pricing") {
        (base, tiers) = listed_tiers(listed)?;
    }
    if base.input.is_none() || base.output.is_none() {
        return Err(Refusal::NoTokenPrice);
    }
    Ok(Price {
        input: base.input,
        output: base.output,
        // A stated 0 is free: without it these tokens would be billed as plain input and output.
        cache_read: base.cache_read,
        cache_write: base.cache_write,
        reasoning: base.reasoning,
        request: own(plain("input_cost_per_request", entry.get("input_cost_per_request").copied())?),
        minimum: None,
        tiers,
        source: String::new(),
    })
}

/// The prices whose names end in `suffix`, per million.
fn prices_of(entry: &Entry<'_>, suffix: &str) -> Result<Tier, Refusal> {
    let mut tier = Tier::default();
    for (theirs, ours) in PRICES {
        let name = [theirs, suffix].concat();
        let price = per_million(&name, entry.get(&name).copied())?;
        if let Some(place) = tier.named_mut(ours) {
            *place = price;
        }
    }
    Ok(tier)
}

/// Tiers as `input_cost_per_token_above_200k_tokens` names them.
fn tiers_by_name(entry: &Entry<'_>) -> Result<Vec<Tier>, Refusal> {
    let mut tiers = Vec::new();
    for (theirs, ours) in PRICES {
        for (name, raw) in entry {
            let Some(above) = name.strip_prefix(theirs).and_then(tokens_above) else { continue };
            let price: Option<Decimal> = per_million(name, Some(*raw))?;
            let tier = tier_of(&mut tiers, above).ok_or(Refusal::Tiers)?;
            if let Some(place) = tier.named_mut(ours) {
                *place = price;
            }
        }
    }
    tiers.sort_by_key(|tier| tier.above);
    Ok(tiers)
}

/// The tokens of `_above_200k_tokens`; `None` for a name with a further suffix, which is another service level.
fn tokens_above(suffix: &str) -> Option<u64> {
    let thousands = suffix.strip_prefix("_above_")?.strip_suffix("k_tokens")?;
    thousands.parse::<u64>().ok()?.checked_mul(1_000)
}

/// Tiers as a list of ranges: the first, from 0 on, gives the prices without a tier.
fn listed_tiers(listed: &RawValue) -> Result<(Tier, Vec<Tier>), Refusal> {
    let ranges: Vec<Entry<'_>> = serde_json::from_str(listed.get()).map_err(|_| Refusal::Tiers)?;
    let mut tiers = Vec::new();
    for range in &ranges {
        let bounds = range.get("range").and_then(|raw| serde_json::from_str::<[f64; 2]>(raw.get()).ok());
        let [from, _] = bounds.ok_or(Refusal::Tiers)?;
        // Whole thousands, written as 256000.0.
        let above = if (0.0..1e15).contains(&from) && from.fract() == 0.0 {
            from as u64
        } else {
            return Err(Refusal::Tiers);
        };
        let place = tier_of(&mut tiers, above).ok_or(Refusal::Tiers)?;
        *place = Tier { above, ..prices_of(range, "")? };
    }
    tiers.sort_by_key(|tier| tier.above);
    let first = tiers.first().is_some_and(|tier| tier.above == 0);
    if !first {
        return Err(Refusal::Tiers);
    }
    let base = tiers.remove(0);
    Ok((base, tiers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day() -> Date {
        Date::parse("2026-11-30").expect("a day")
    }

    fn check(entry: &str, right: Result<&str, Refusal>) {
        let import = litellm(&format!("{{\"acme/m\": {entry}}}"), day()).expect("a map");
        let seen = match import.book.rows().first() {
            Some(row) => Ok(row.price.to_string()),
            None => Err(import.refused[0].1.clone()),
        };
        assert_eq!(seen, right.map(str::to_owned), "{entry}");
        assert_eq!((import.entries, import.taken + import.refused.len()), (1, 1));
    }

    #[test]
    fn entries_are_taken_or_refused() {
        let chat = |fields: &str| format!(r#"{{"litellm_provider":"acme","mode":"chat",{fields}}}"#);
        check(
            &chat(r#""input_cost_per_token":1.5e-07,"output_cost_per_token":6e-07"#),
            Ok("input=0.15,output=0.6"),
        );
        check(
            &chat(
                r#""input_cost_per_token":3e-06,"output_cost_per_token":1.5e-05,"cache_read_input_token_cost":3e-07,
                "cache_creation_input_token_cost":0.0,"input_cost_per_request":0.005,
                "input_cost_per_token_above_200k_tokens":6e-06,"output_cost_per_token_above_200k_tokens":2.25e-05,
                "input_cost_per_token_above_200k_tokens_priority":9e-06,"input_cost_per_token_batches":1e-06"#,
            ),
            Ok(
                "input=3,output=15,cache_read=0.3,cache_write=0,request=0.005,input>200000=6,output>200000=22.5",
            ),
        );
        check(
            &chat(
                r#""input_cost_per_token":1e-06,"output_cost_per_token":3e-06,"cache_read_input_token_cost":0,
                "cache_creation_input_token_cost":null,"output_cost_per_reasoning_token":0.0"#,
            ),
            Ok("input=1,output=3,cache_read=0,reasoning=0"),
        );
        check(
            &chat(
                r#""tiered_pricing":[{"input_cost_per_token":5e-08,"output_cost_per_token":4e-07,"range":[0,256000.0]},
                {"input_cost_per_token":2.5e-07,"output_cost_per_token":2e-06,"range":[256000.0,1e6]}]"#,
            ),
            Ok("input=0.05,output=0.4,input>256000=0.25,output>256000=2"),
        );
        check(&chat(r#""input_cost_per_token":1e-07"#), Err(Refusal::NoTokenPrice));
        check(&chat(r#""input_cost_per_token":0.0,"output_cost_per_token":0"#), Err(Refusal::Zero));
        check(
            &chat(r#""input_cost_per_token":-1e-07,"output_cost_per_token":1e-07"#),
            Err(Refusal::Amount("input_cost_per_token".into(), "-1e-07".into())),
        );
        check(&chat(r#""tiered_pricing":[{"input_cost_per_query":0.1}]"#), Err(Refusal::Tiers));
        check(r#"{"mode":"image_generation"}"#, Err(Refusal::Kind("image_generation".into())));
        check("3", Err(Refusal::Unreadable));
    }

    #[test]
    fn one_model_under_two_names_is_one_row() {
        let entry = |price: &str| {
            format!(
                r#"{{"litellm_provider":"acme","mode":"chat","input_cost_per_token":{price},"output_cost_per_token":1}}"#
            )
        };
        let json = format!(
            r#"{{"m":{},"acme/m":{},"n":{},"acme/n":{}}}"#,
            entry("1"),
            entry("1"),
            entry("1"),
            entry("2")
        );
        let import = litellm(&json, day()).expect("a map");
        let rows: Vec<_> =
            import.book.rows().iter().map(|row| (row.model.as_str(), row.price.to_string())).collect();
        let right = [("m", "input=1000000,output=1000000"), ("n", "input=2000000,output=1000000")];
        assert_eq!(rows, right.map(|(model, price)| (model, price.to_owned())));
        let refused = [("m", Refusal::Again("acme/m".into())), ("n", Refusal::Contradicts("acme/n".into()))];
        assert_eq!(import.refused, refused.map(|(name, refusal)| (name.to_owned(), refusal)));
    }

    /// The map as it was published, where it is at hand.
    #[test]
    fn the_real_map_is_read_whole() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/litellm-model-prices.json");
        let Ok(json) = std::fs::read_to_string(path) else {
            println!("skipped: LiteLLM's price map is not at hand");
            return;
        };
        let import = litellm(&json, day()).expect("a map");
        println!("{} of {} taken; {:?}", import.taken, import.entries, import.reasons());
        assert_eq!(import.entries, 4_256);
        assert_eq!(import.taken + import.refused.len(), import.entries);
        assert_eq!(import.taken, import.book.rows().len());
        assert!(import.taken > 2_500, "{}", import.taken);
        let price = |provider, model| import.book.price(provider, model).expect(model).to_string();
        assert_eq!(
            price("gemini", "gemini-2.5-pro"),
            "input=1.25,output=10,cache_read=0.125,input>200000=2.5,output>200000=15,cache_read>200000=0.25"
        );
        assert_eq!(
            price("deepseek", "deepseek-chat"),
            "input=0.28,output=0.42,cache_read=0.028,cache_write=0"
        );
        let again = crate::Book::parse(&import.book.to_string()).expect("what is written is read");
        assert_eq!(again, import.book);
    }
}
