//! Every figure, defined once: sample to values, summary of a cell, goodput, gates, validity.
//!
//! Three steps. [`fill`] turns one attempt's stamps into its own figures, when it has ended. A [`CellAccumulator`]
//! takes the attempts of a cell one by one and makes its [`CellSummary`]; what it must know beyond the samples is the
//! [`CellContext`]. A [`Summary`] is `summary.json`: the cells of a run.
//!
//! Invariants: no input makes this crate panic; a value that does not exist is `None`, never 0; every JSON that comes
//! from here is strict (infinity is `"inf"`, NaN cannot be made).

mod accumulator;
mod causes;
mod checks;
mod client;
mod compare;
mod condition;
mod context;
mod decide;
mod distribution;
mod episode;
mod estimate;
mod evaluate;
mod figures;
mod fill;
mod finish;
mod gate;
mod goodput;
mod health;
mod histogram;
mod hold_against;
mod kept;
mod limit;
mod money;
mod names;
mod num;
mod objective;
mod pair_gate;
mod pool;
mod resumed;
mod row;
mod run;
mod spans;
mod stability;
mod steady;
mod study;
mod summary;
mod tally;
mod throughput;
mod timeline;
mod told;
mod warnings;

pub use accumulator::CellAccumulator;
pub use checks::{CellCheck, CheckState};
pub use compare::{Comparison, Standing, Statistic, lower_is_better};
pub use condition::Condition;
pub use context::{Arrival, CellContext, Window};
pub use decide::{Candidate, Certainty, Decision, Fallback, Lever, RetryAdvice, Setting, Settings, Spread};
pub use episode::{Bursts, ColdStart, ColdStarts, role};
pub use fill::{Stamped, THROTTLED, VECTORS, events_of, fill};
pub use gate::{Gate, GateError, GateOutcome, GateResult, Op};
pub use health::{Ceiling, ClientHealth, Lateness};
pub use hold_against::hold_against;
pub use names::name;
pub use num::Num;
pub use objective::{Objective, ObjectiveError, Objectives};
pub use pair_gate::PairGate;
pub use pool::pooled;
pub use resumed::resumed;
pub use run::summarize;
pub use study::{Equivalence, Profile, ProfileKind, Study, TargetInfo};
pub use summary::{
    Buckets, Cause, CellSummary, Client, Cost, Counts, Drift, Goodput, Metric, Over, Proportion,
    QuantilePoint, Rate, Stability, Stalls, Steady, Summary, TailFigure, Throughput, Tokens, Validity,
};
pub use told::{Pacing, ToldLimit, limits_of};
