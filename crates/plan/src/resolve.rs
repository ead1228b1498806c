//! From what was typed to what it means.

use http::{HeaderName, HeaderValue};
use inferometer_metrics::{Condition, Equivalence};
use inferometer_wire::request::TokenField;
use inferometer_workload::Cache;
use serde_json::{Map, Value};

use crate::renewal::Source;
use crate::spec::{DEFAULT_REQUESTS, Key, LoadSpec, ProtocolSpec, TargetSpec, WorkloadSpec, header};
use crate::{
    Budget, CacheFlag, Connection, ConnectionFlag, Error, Plan, PriceLookup, RunFlags, Secrets, Span, Target,
    Workload,
};

impl RunFlags {
    /// What is asked for: the plan file that the flags name, or what the other flags mean.
    ///
    /// `env` reads a variable, `fresh_seed` is used where no seed was given, `book` knows the prices that the file does
    /// not state. Beside a file, the seed, the name, the limit on money, `--keep-text` and further gates are taken from
    /// the flags.
    pub fn plan(
        &self,
        env: impl Fn(&str) -> Option<String>,
        fresh_seed: u64,
        book: Option<PriceLookup<'_>>,
    ) -> Result<Plan, Error> {
        let Some(path) = &self.plan else { return self.resolve(env, fresh_seed) };
        let text = crate::file::read(path)?;
        let mut plan = Plan::from_toml(&text, path, env, self.seed.unwrap_or(fresh_seed), book)?;
        self.override_in(&mut plan)?;
        Ok(plan)
    }

    fn override_in(&self, plan: &mut Plan) -> Result<(), Error> {
        if let Some(seed) = self.seed {
            plan.reseed(seed);
        }
        if let Some(name) = &self.name {
            plan.name.clone_from(name);
        }
        if let Some(limit) = self.max_cost {
            plan.budget.money = Some(limit.0);
        }
        plan.protocol.keep_text |= self.keep_text;
        plan.gates.extend(self.fail_if.iter().filter_map(Condition::cell).cloned());
        plan.pair_gates.extend(self.fail_if.iter().filter_map(Condition::pair).cloned());
        plan.check_pair_gates()?;
        plan.check_prices()
    }

    /// What the flags mean. `env` reads a variable; `fresh_seed` is used where no seed was given.
    pub fn resolve(&self, env: impl Fn(&str) -> Option<String>, fresh_seed: u64) -> Result<Plan, Error> {
        let mut secrets = Secrets::default();
        proxy::credentials(&env, &mut secrets);
        let target = self.target(&env, &mut secrets)?;
        let plan = Plan {
            name: self
                .name
                .clone()
                .unwrap_or_else(|| crate::study::file_name(&self.model.clone().unwrap_or_default())),
            targets: vec![target],
            workloads: vec![self.workload()?],
            loads: self.load().resolve(DEFAULT_REQUESTS)?,
            protocol: self.protocol().resolve(1, fresh_seed)?,
            objectives: self.goodput.clone(),
            gates: self.fail_if.iter().filter_map(Condition::cell).cloned().collect(),
            pair_gates: self.fail_if.iter().filter_map(Condition::pair).cloned().collect(),
            profiles: Vec::new(),
            equivalence: Equivalence::default(),
            monthly_requests: None,
            budget: Budget { money: self.max_cost.map(|limit| limit.0), ..Budget::default() },
            secrets,
        };
        plan.check_pair_gates()?;
        plan.check_prices()?;
        plan.check_warm().map_err(|reason| Error::value("--cache", "warm", reason))?;
        Ok(plan)
    }

    fn target(&self, env: &impl Fn(&str) -> Option<String>, secrets: &mut Secrets) -> Result<Target, Error> {
        let missing = |flag: &str, remedy: &str| Error::Missing { flag: flag.into(), remedy: remedy.into() };
        if self.url.is_none() && self.provider.is_none() {
            let remedy = "name the endpoint, as in --url http://127.0.0.1:8000/v1, or a --provider, or give a plan file";
            return Err(missing("--url", remedy));
        }
        let model = self
            .model
            .clone()
            .ok_or_else(|| missing("--model", "name the model to ask for, as the endpoint calls it"))?;
        let mut headers = Vec::new();
        for typed in &self.headers {
            headers.push(parse_header(typed, secrets)?);
        }
        let key = [
            self.api_key_env.clone().map(Key::Variable),
            self.key_file.clone().map(|file| Key::Source(Source::File(file))),
            self.key_cmd.clone().map(|command| Key::Source(Source::Command(command))),
            self.api_key.clone().map(Key::Typed),
        ];
        let spec = TargetSpec {
            provider: self.provider.clone(),
            dialect: self.dialect,
            key: key.into_iter().flatten().next(),
            headers,
            price: self.price.clone(),
            extra: self.extra()?,
            reasoning: self.reasoning,
            token_field: self.max_completion_tokens.then_some(TokenField::MaxCompletionTokens),
            include_usage: !self.no_stream_options,
            stream: self.no_stream.then_some(false),
            connection: match self.connection {
                ConnectionFlag::Reuse => Connection::Reuse,
                ConnectionFlag::Fresh => Connection::Fresh,
            },
            http2: self.http2,
            cacert: self.cacert.clone(),
            insecure: self.insecure,
            think_tags: self.think_tags,
            ..TargetSpec::new(self.url.clone(), model)
        };
        Ok(spec.resolve(env, secrets)?)
    }

    /// The user's own parameters.
    fn extra(&self) -> Result<Map<String, Value>, Error> {
        let Some(typed) = &self.extra else { return Ok(Map::new()) };
        // What was typed may hold a key, or be one: neither it nor a piece of it is shown.
        let refuse = |why: &dyn ToString| {
            let reason = format!("not a JSON object ({}): write '{{\"top_p\":1}}'", why.to_string());
            Error::value("--extra", "…", reason)
        };
        match serde_json::from_str(typed).map_err(|error| refuse(&error))? {
            Value::Object(extra) => Ok(extra),
            _ => Err(refuse(&"no braces around it")),
        }
    }

    fn workload(&self) -> Result<Workload, Error> {
        let spec = WorkloadSpec {
            dataset: self.dataset.clone(),
            isl: self.isl,
            isl_stddev: self.isl_stddev,
            osl: self.osl,
            osl_stddev: self.osl_stddev,
            temperature: self.temperature,
            ..WorkloadSpec::default()
        };
        Ok(spec.resolve()?)
    }

    fn load(&self) -> LoadSpec {
        LoadSpec {
            concurrency: self.concurrency.clone(),
            request_rate: self.request_rate.clone(),
            arrival: self.arrival,
            burstiness: self.burstiness,
            requests: self.requests,
            duration: self.duration.map(time),
            ramp: self.ramp.map(time),
            respect_rate_limits: self.respect_rate_limits,
            ..LoadSpec::default()
        }
    }

    fn protocol(&self) -> ProtocolSpec {
        ProtocolSpec {
            warmup: Some(self.warmup),
            retries: Some(self.retries),
            seed: self.seed,
            cache: Some(match self.cache {
                CacheFlag::AsIs => Cache::AsIs,
                CacheFlag::Bust => Cache::Bust,
                CacheFlag::Warm => Cache::Warm,
            }),
            timeout: self.timeout.map(time),
            connect_timeout: self.connect_timeout.map(time),
            first_token_timeout: self.first_token_timeout.map(time),
            idle_timeout: self.idle_timeout.map(time),
            grace: self.grace.map(time),
            keep_text: self.keep_text,
            ..ProtocolSpec::default()
        }
    }
}

fn time(Span(time): Span) -> std::time::Duration {
    time
}

fn parse_header(typed: &str, secrets: &mut Secrets) -> Result<(HeaderName, HeaderValue), Error> {
    // Without a colon what was typed may be a key alone.
    let (name, value) =
        typed.split_once(':').ok_or_else(|| Error::value("--header", "…", "write it as 'Name: value'"))?;
    Ok(header(name, value, secrets)?)
}

pub(crate) mod proxy;
#[cfg(test)]
mod tests;
