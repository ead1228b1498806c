//! The runner: schedules, shards, stop rules, warm-up, drain; emits samples.
