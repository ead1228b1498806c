//! The arithmetic that the numbers of a usage themselves satisfy (W36, W38).

use super::Identity;
use super::counts::Counts;

/// Counts in one form: input with the cached tokens, output with the reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolved {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) identity: Identity,
}

/// Brings counts to one form. Counts are at most 2^53, so that no sum here overflows.
pub(super) fn resolve(counts: &Counts) -> Resolved {
    let sums = Sums::of(counts);
    let (reasoning_beside, cache_beside) = (sums.reasoning_beside(), sums.cache_beside(counts));
    let beside = |is_beside, part: u64| if is_beside { part } else { 0 };
    Resolved {
        input: counts.prompt.map(|prompt| prompt + beside(cache_beside, sums.cached)),
        output: output(counts, reasoning_beside),
        identity: match () {
            () if reasoning_beside => Identity::Additive,
            () if cache_beside => Identity::Disjoint,
            () if sums.is_inclusive() => Identity::Inclusive,
            () => Identity::Unknown,
        },
    }
}

fn output(counts: &Counts, reasoning_beside: bool) -> Option<u64> {
    let reasoning = counts.reasoning.filter(|_| reasoning_beside);
    match (counts.completion, reasoning) {
        (None, None) => None,
        (completion, reasoning) => Some(completion.unwrap_or(0) + reasoning.unwrap_or(0)),
    }
}

struct Sums {
    prompt: u64,
    completion: u64,
    reasoning: u64,
    cached: u64,
    /// A total of 0 is none.
    total: Option<u64>,
    known: bool,
}

impl Sums {
    fn of(counts: &Counts) -> Sums {
        Sums {
            prompt: counts.prompt.unwrap_or(0),
            completion: counts.completion.unwrap_or(0),
            reasoning: counts.reasoning.unwrap_or(0),
            cached: counts.cache_read.unwrap_or(0) + counts.cache_write.unwrap_or(0),
            total: counts.total.filter(|total| *total > 0),
            known: counts.prompt.is_some() && counts.completion.is_some(),
        }
    }

    fn is_total(&self, further: u64) -> bool {
        self.total == Some(self.prompt + self.completion + further)
    }

    /// Without a total, or with one that says nothing, more reasoning than output can only stand beside it.
    fn reasoning_beside(&self) -> bool {
        let by_total = self.is_total(self.reasoning) || self.is_total(self.reasoning + self.cached);
        self.reasoning > 0
            && !self.is_total(0)
            && (by_total || self.total.is_none() && self.reasoning > self.completion)
    }

    /// Anthropic's names decide where the total does not; a total that leaves the cache out does not.
    fn cache_beside(&self, counts: &Counts) -> bool {
        if self.cached == 0 {
            return false;
        }
        let by_total = self.is_total(self.cached) || self.is_total(self.cached + self.reasoning);
        let inside_by_total = self.is_total(0) || (self.is_total(self.reasoning) && !counts.cache_beside);
        let by_name = counts.cache_beside && (counts.input_named || self.cached > self.prompt);
        (by_total && !inside_by_total) || (by_name && !(inside_by_total && self.cached <= self.prompt))
    }

    fn is_inclusive(&self) -> bool {
        if self.total.is_some() && self.known {
            self.is_total(0)
        } else {
            self.prompt + self.completion > 0 || self.known
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(usage: &str, input: u64, output: u64, identity: Identity) {
        let counts = Counts::read(usage, &mut crate::Flags::default());
        let expected = Resolved { input: Some(input), output: Some(output), identity };
        assert_eq!(resolve(&counts), expected, "{usage}");
    }

    #[test]
    fn identities() {
        use Identity::{Additive, Disjoint, Inclusive, Unknown};
        check(r#"{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}"#, 9, 5, Inclusive);
        check(r#"{"prompt_tokens":9,"completion_tokens":5}"#, 9, 5, Inclusive);
        check(r#"{"prompt_tokens":9,"completion_tokens":5,"total_tokens":0}"#, 9, 5, Inclusive);
        check(r#"{"prompt_tokens":9,"completion_tokens":5,"total_tokens":99}"#, 9, 5, Unknown);
        let details = r#""prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}"#;
        check(
            &format!(r#"{{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,{details}}}"#),
            9,
            5,
            Inclusive,
        );
        check(
            &format!(r#"{{"prompt_tokens":9,"completion_tokens":5,"total_tokens":17,{details}}}"#),
            9,
            8,
            Additive,
        );
        check(
            r#"{"prompt_tokens":21,"completion_tokens":0,"total_tokens":81,"completion_tokens_details":{"reasoning_tokens":60}}"#,
            21,
            60,
            Additive,
        );
        check(
            r#"{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":20}"#,
            130,
            5,
            Disjoint,
        );
        check(r#"{"input_tokens":200,"output_tokens":5,"cache_read_input_tokens":100}"#, 300, 5, Disjoint);
        check(
            r#"{"prompt_tokens":110,"completion_tokens":5,"total_tokens":115,"cache_read_input_tokens":100}"#,
            110,
            5,
            Inclusive,
        );
        check(
            r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"cache_read_input_tokens":100}"#,
            110,
            5,
            Disjoint,
        );
        check(
            r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":115,"prompt_tokens_details":{"cached_tokens":100}}"#,
            110,
            5,
            Disjoint,
        );
    }
}
