//! The formats a run can be shown in.

use std::fmt;
use std::str::FromStr;

/// How a run is shown: `--format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For a person at a terminal.
    #[default]
    Table,
    /// `summary.json` as it is.
    Json,
    /// One row per cell, for a spreadsheet.
    Csv,
    /// Tables that paste into an issue.
    Md,
}

impl Format {
    /// Every format, in the order of the help.
    pub const ALL: [Format; 4] = [Format::Table, Format::Json, Format::Csv, Format::Md];

    /// The name as it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Csv => "csv",
            Format::Md => "md",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A format that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format `{0}`: use table, json, csv or md")]
pub struct FormatError(String);

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let known = Format::ALL.into_iter().find(|format| format.name() == text);
        known.ok_or_else(|| FormatError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways_and_an_error_says_what_would_be_right() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let error = "yaml".parse::<Format>().unwrap_err();
        assert_eq!(error.to_string(), "there is no format `yaml`: use table, json, csv or md");
    }
}
