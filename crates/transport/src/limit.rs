//! The file descriptors that a load needs.

use std::fmt;

/// This process may not open as many files as a load needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitError {
    /// Most descriptors that this process may open, after the soft limit was raised as far as it goes.
    pub have: u64,
    /// What the load needs.
    pub needed: u64,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { have, needed } = self;
        write!(
            f,
            "the load needs {needed} file descriptors and this process may open {have}: raise the hard limit \
             (`ulimit -Hn`, or LimitNOFILE of a service) or lower the load"
        )
    }
}

impl std::error::Error for LimitError {}

/// Raises the soft limit on open files to the hard one where `needed` asks for it, and returns the limit in force
/// (`u64::MAX` where there is none).
#[cfg(unix)]
pub fn raise_file_limit(needed: u64) -> Result<u64, LimitError> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let have = current.unwrap_or(u64::MAX);
    if have >= needed {
        return Ok(have);
    }
    // Some systems refuse the hard limit as a soft one; then what is in force stays.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let have = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if have >= needed { Ok(have) } else { Err(LimitError { have, needed }) }
}

/// Elsewhere than on Unix there is no such limit.
#[cfg(not(unix))]
pub fn raise_file_limit(_needed: u64) -> Result<u64, LimitError> {
    Ok(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raises_or_tells_the_numbers() {
        let have = raise_file_limit(1).unwrap();
        assert_eq!(raise_file_limit(have), Ok(have));
        if have < u64::MAX {
            let error = raise_file_limit(u64::MAX).unwrap_err();
            assert!(error.have >= have);
            assert!(error.to_string().contains(&error.have.to_string()));
        }
    }
}
