//! What a plan declares beyond its cells, for the manifest; and what holds for the plan as a whole.

use inferometer_metrics::{Study, TargetInfo};
use inferometer_price::Price;

use crate::{Error, Plan, Target};

impl Plan {
    /// What comparisons and decisions need to know, as `run.json` keeps it.
    pub fn study(&self) -> Study {
        Study {
            targets: self.targets.iter().map(info).collect(),
            profiles: self.profiles.clone(),
            equivalence: self.equivalence,
            monthly_requests: self.monthly_requests,
            pair_gates: self.pair_gates.clone(),
            seed: self.protocol.seed,
        }
    }

    /// Refuses a limit on money where a price is not known: nothing could hold a request to it.
    pub(crate) fn check_prices(&self) -> Result<(), Error> {
        let has_price = |target: &&Target| {
            let is_priced = |price: &Price| {
                price.input.is_some() && (price.output.is_some() || !target.dialect.generates())
            };
            target.price.as_ref().is_some_and(is_priced)
        };
        match self.targets.iter().find(|target| !has_price(target)) {
            Some(target) if self.budget.money.is_some() => Err(Error::Money {
                needs: format!("a price of '{}'", target.name),
                remedy: "give it with --price input=3,output=15, or as price in the plan",
            }),
            _ => Ok(()),
        }
    }

    /// Refuses a condition on a target that is not in the plan.
    pub(crate) fn check_pair_gates(&self) -> Result<(), Error> {
        let names: Vec<&str> = self.targets.iter().map(|target| target.name.as_str()).collect();
        self.pair_gates.iter().try_for_each(|gate| {
            gate.check(&names).map_err(|error| Error::value("--fail-if", gate.to_string(), error.to_string()))
        })
    }

    /// Another seed for prompts and schedule, and for the order of targets where it was the same.
    pub(crate) fn reseed(&mut self, seed: u64) {
        let before = std::mem::replace(&mut self.protocol.seed, seed);
        if let Some(blocks) = self.protocol.blocks.as_mut().filter(|blocks| blocks.order_seed == before) {
            blocks.order_seed = seed;
        }
    }
}

fn info(target: &Target) -> TargetInfo {
    TargetInfo {
        url: Some(target.shown_url.clone()),
        name: target.name.clone(),
        provider: target.provider.clone(),
        model: target.model.clone(),
        price: target.price.as_ref().map(ToString::to_string),
        price_source: target.price.as_ref().map(|price| price.source.clone()),
        region: target.declared.region.clone(),
        precision: target.declared.precision.clone(),
        terms: target.declared.terms.clone(),
    }
}

/// `name` as a part of a folder's name.
pub(crate) fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
    name.chars().take(60).map(safe).collect::<String>().trim_matches(['.', '-']).to_string()
}
