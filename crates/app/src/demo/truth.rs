//! What is planted in the demo's providers: one table, from which the simulators, the plan's prices and the tests are
//! made.

/// A provider's way with a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planted {
    /// Who serves it.
    pub provider: &'static str,
    /// What it serves.
    pub model: Model,
    /// Median of the time to first token, ms; it is lognormal with [`SIGMA`].
    pub ttft_ms: u64,
    /// US dollars for a million tokens of input and of output, as the provider charges them.
    pub price: (f64, f64),
    /// The same as the plan believes them to be.
    pub listed: (f64, f64),
    /// The provider's character.
    pub character: Character,
}

/// A model, whoever serves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// What it is called.
    pub name: &'static str,
    /// What its targets are called, before the provider's name.
    pub short: &'static str,
    /// Tokens a second of one stream.
    pub rate: u32,
    /// Share of right answers.
    pub accuracy: f64,
    /// Median of its reasoning tokens; they are lognormal with [`REASONING_SIGMA`]. 0: it does not think.
    pub reasoning: u32,
}

/// What a provider does to each of its models.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Character {
    /// Steady, with one price list that is out of date.
    Stale,
    /// A fine median and a bad tail: so large a share of the first tokens comes late.
    Tailed,
    /// Fast, and fails a share of its requests at once.
    Failing,
    /// Has to start after a rest, and lets only so many requests in at once.
    Sleepy,
}

/// Standard deviation of the logarithm of the time to first token.
pub const SIGMA: f64 = 0.25;
/// Share of the first tokens that come late where there is a tail, their median in ms, and the standard deviation of
/// their logarithm.
pub const TAIL: (f64, u64, f64) = (0.12, 1_200, 0.25);
/// Share of failing requests where they fail.
pub const FAILING: f64 = 0.04;
/// How long a model rests before it is cold, and how long it takes to start, ms.
pub const COLD_MS: (u64, u64) = (4_000, 1_000);
/// Requests let in at once by a provider that limits them, of [`BURST`].
pub const LET_IN: u32 = 18;
/// Requests of a burst.
pub const BURST: u32 = 20;
/// Requests a second that it lets in for ever.
pub const LET_IN_PER_S: f64 = 30.0;
/// Standard deviation of the logarithm of the number of reasoning tokens.
pub const REASONING_SIGMA: f64 = 0.6;
/// The plan's token limit.
pub const MAX_TOKENS: u32 = 256;

/// Small and cheap.
pub const FINCH: Model = Model { name: "finch-8b", short: "finch", rate: 500, accuracy: 0.93, reasoning: 0 };
/// Mainstream.
pub const HERON: Model = Model { name: "heron-70b", short: "heron", rate: 400, accuracy: 0.97, reasoning: 0 };
/// Thinks before it speaks.
pub const OWL: Model = Model { name: "owl-r1", short: "owl", rate: 900, accuracy: 0.99, reasoning: 300 };

const fn planted(
    provider: &'static str,
    character: Character,
    model: Model,
    ttft_ms: u64,
    price: (f64, f64),
) -> Planted {
    Planted { provider, model, ttft_ms, price, listed: price, character }
}

/// Every target. No provider is fastest for every model.
pub const TARGETS: [Planted; 12] = {
    use Character::{Failing, Sleepy, Stale, Tailed};
    [
        planted("aurora", Stale, FINCH, 120, (0.05, 0.08)),
        // The list still says what it cost last year.
        Planted { listed: (0.59, 0.79), ..planted("aurora", Stale, HERON, 240, (0.88, 0.88)) },
        planted("aurora", Stale, OWL, 160, (3.0, 8.0)),
        planted("borealis", Tailed, FINCH, 100, (0.06, 0.08)),
        planted("borealis", Tailed, HERON, 190, (0.60, 0.80)),
        planted("borealis", Tailed, OWL, 230, (2.8, 8.0)),
        planted("cirrus", Failing, FINCH, 90, (0.04, 0.07)),
        planted("cirrus", Failing, HERON, 210, (0.55, 0.75)),
        planted("cirrus", Failing, OWL, 190, (3.0, 7.0)),
        planted("dune", Sleepy, FINCH, 170, (0.05, 0.10)),
        planted("dune", Sleepy, HERON, 150, (0.65, 0.85)),
        planted("dune", Sleepy, OWL, 260, (3.3, 9.0)),
    ]
};

impl Planted {
    /// The target's name in the plan and in every report.
    pub fn target(&self) -> String {
        format!("{}@{}", self.model.short, self.provider)
    }

    /// The law of its time to first token, as the simulator reads it.
    pub fn ttft(&self) -> String {
        let body = format!("lognormal({}ms, {SIGMA})", self.ttft_ms);
        match self.character {
            Character::Tailed => {
                let (share, median, sigma) = TAIL;
                format!("{body} tail {share} lognormal({median}ms, {sigma})")
            }
            _ => body,
        }
    }
}
