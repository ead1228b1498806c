//! The IETF's headers: `ratelimit-policy` and `ratelimit`, of every draft.
//!
//! Since draft 8: `ratelimit-policy: "burst";q=100;w=60` and `ratelimit: "burst";r=50;t=30`, items of which may be
//! several. Before: `ratelimit: limit=100, remaining=50, reset=5` and `ratelimit-policy: 100;w=60`.

use super::value::reset_ns;
use super::{Kind, Limit, MAX_LIMITS};

/// What both headers say, item by item.
#[derive(Default)]
pub(super) struct Policies(Vec<(String, Limit)>);

impl Policies {
    /// Takes the value of `ratelimit-policy`.
    pub(super) fn push_policy(&mut self, value: &str) {
        for item in items(value) {
            let Item { name, quantity, parameters } = item;
            let mut limit = Limit { limit: quantity, ..Limit::default() };
            for (key, number) in parameters {
                match key {
                    "q" => limit.limit = number.parse().ok(),
                    "w" => limit.window_s = number.parse().ok(),
                    // Bytes and places are other things than requests.
                    "qu" if unquoted(number) != "requests" => return,
                    _ => {}
                }
            }
            self.join(name, limit);
        }
    }

    /// Takes the value of `ratelimit`.
    pub(super) fn push_state(&mut self, value: &str, now_ns: i64) {
        let mut old = Limit::default();
        for item in items(value) {
            let Item { name, parameters, .. } = item;
            let mut limit = Limit::default();
            for (key, number) in parameters {
                match key {
                    "r" => limit.remaining = number.parse().ok(),
                    "t" => limit.reset_ns = reset_ns(number, now_ns),
                    "limit" => old.limit = number.parse().ok(),
                    "remaining" => old.remaining = number.parse().ok(),
                    "reset" => old.reset_ns = reset_ns(number, now_ns),
                    _ => {}
                }
            }
            self.join(name, limit);
        }
        self.join(String::new(), old);
    }

    /// What is said of one name in either header is said of one limit.
    fn join(&mut self, name: String, said: Limit) {
        if said == Limit::default() {
            return;
        }
        let is_alone = self.0.len() == 1;
        let is_full = self.0.len() >= MAX_LIMITS;
        let known = self.0.iter_mut().find(|(known, _)| *known == name || (is_alone && name.is_empty()));
        match known {
            Some((_, limit)) => {
                limit.window_s = limit.window_s.or(said.window_s);
                limit.limit = limit.limit.or(said.limit);
                limit.remaining = limit.remaining.or(said.remaining);
                limit.reset_ns = limit.reset_ns.or(said.reset_ns);
            }
            None if is_full => {}
            None => self.0.push((name, said)),
        }
    }

    /// The limits; two that cannot be told apart are one, the tighter.
    pub(super) fn finish(self) -> impl Iterator<Item = Limit> {
        let mut limits: Vec<Limit> = Vec::new();
        for (_, said) in self.0 {
            let said = Limit { kind: Kind::Requests, ..said };
            match limits.iter_mut().find(|known| known.window_s == said.window_s) {
                Some(known) if said.remaining.is_some() && said.remaining < known.remaining => *known = said,
                Some(_) => {}
                None => limits.push(said),
            }
        }
        limits.into_iter()
    }
}

/// One item of a list, with its parameters.
struct Item<'a> {
    name: String,
    /// Where it is a number and not a name.
    quantity: Option<u64>,
    parameters: Vec<(&'a str, &'a str)>,
}

fn items(value: &str) -> impl Iterator<Item = Item<'_>> {
    value.split(',').map(|item| {
        let mut read = Item { name: String::new(), quantity: None, parameters: Vec::new() };
        for part in item.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            if let Some((key, number)) = part.split_once('=') {
                read.parameters.push((key.trim(), number.trim()));
                continue;
            }
            read.quantity = part.parse().ok();
            // Some put what kind of window it is before the name: the last stands for it.
            if read.quantity.is_none() {
                unquoted(part).clone_into(&mut read.name);
            }
        }
        read
    })
}

fn unquoted(text: &str) -> &str {
    text.trim_matches('"')
}
