//! The dialects: how a provider speaks.

use std::fmt;
use std::str::FromStr;

/// How a provider speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenAI's chat completions: messages in, deltas out.
    #[default]
    Chat,
    /// OpenAI's older text completions: a prompt in, text out.
    Completions,
}

impl Dialect {
    /// Every dialect, in the order of help texts.
    pub const ALL: [Dialect; 2] = [Dialect::Chat, Dialect::Completions];

    /// The name on the command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Dialect::Chat => "chat",
            Dialect::Completions => "completions",
        }
    }

    /// The path of its endpoint below the API's prefix, without slashes at its ends.
    pub const fn path(self) -> &'static str {
        match self {
            Dialect::Chat => "chat/completions",
            Dialect::Completions => "completions",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect(
    /// What was given.
    pub String,
);

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown dialect '{}': use chat or completions", self.0)
    }
}

impl std::error::Error for UnknownDialect {}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Dialect, UnknownDialect> {
        Dialect::ALL.into_iter().find(|d| d.name() == name).ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.to_string().parse(), Ok(dialect));
        }
        let error = "ollama".parse::<Dialect>().unwrap_err();
        assert_eq!(error.to_string(), "unknown dialect 'ollama': use chat or completions");
    }
}
