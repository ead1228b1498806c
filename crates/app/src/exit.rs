//! Exit status: an interface that scripts lean on.

/// How a command ended, by what it exits with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: internal or file error.
    Internal,
    /// 2: bad arguments or configuration.
    Usage,
    /// 3: preflight failed: cannot reach, TLS, key refused, model unknown.
    Preflight,
    /// 4: a gate was not met.
    Gate,
    /// 5: no request succeeded.
    NothingSucceeded,
    /// 6: the result is not valid, under `--strict`.
    NotValid,
    /// 130 or 143: interrupted by SIGINT or SIGTERM, report written.
    Interrupted {
        /// The signal's number.
        signal: u8,
    },
}

impl Exit {
    /// The status that the process exits with.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Preflight => 3,
            Self::Gate => 4,
            Self::NothingSucceeded => 5,
            Self::NotValid => 6,
            Self::Interrupted { signal } => 128 + signal,
        }
    }

    /// Where several hold: a signal before 2, 1, 3, 5, 6, 4, 0.
    const fn precedence(self) -> u8 {
        match self {
            Self::Interrupted { .. } => 0,
            Self::Usage => 1,
            Self::Internal => 2,
            Self::Preflight => 3,
            Self::NothingSucceeded => 4,
            Self::NotValid => 5,
            Self::Gate => 6,
            Self::Done => 7,
        }
    }

    /// Whichever of the two goes first.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if other.precedence() < self.precedence() { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence() {
        let order = [
            Exit::Interrupted { signal: 2 },
            Exit::Usage,
            Exit::Internal,
            Exit::Preflight,
            Exit::NothingSucceeded,
            Exit::NotValid,
            Exit::Gate,
            Exit::Done,
        ];
        for (place, first) in order.iter().enumerate() {
            for later in &order[place..] {
                assert_eq!(first.or(*later), *first);
                assert_eq!(later.or(*first), *first);
            }
        }
        assert_eq!(order.map(Exit::code), [130, 2, 1, 3, 5, 6, 4, 0]);
    }
}
