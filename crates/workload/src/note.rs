//! What a report must say about the prompts.

use std::fmt;

use crate::Cache;

/// What a report must say about the prompts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Fewer prompts than requests.
    Cycled {
        /// Prompts there are.
        prompts: u64,
        /// Requests that want one; `None` where time ends the run.
        requests: Option<u64>,
        /// Whether each repetition is still a new prompt.
        cache: Cache,
    },
    /// Not all prompts that were wanted are held.
    HeldBound {
        /// Prompts that are held.
        prompts: u64,
        /// The limit that they reached.
        bytes_max: usize,
    },
    /// Conversations that offered no prompt.
    Skipped {
        /// How many.
        conversations: u64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Cycled { prompts, requests, cache } => {
                let prompts = counted(prompts, "prompt");
                match requests {
                    Some(requests) => write!(f, "{prompts} for {}", counted(requests, "request"))?,
                    None => write!(f, "{prompts} for a run limited by time")?,
                }
                f.write_str(match cache {
                    Cache::AsIs => ": they repeat unchanged, and a prefix cache may answer",
                    Cache::Bust => ": they repeat, each time with a new nonce",
                    Cache::Warm => ": they repeat unchanged, and each is sent once before it is measured",
                })
            }
            Self::HeldBound { prompts, bytes_max } => {
                write!(
                    f,
                    "only the first {} of the dataset used: {bytes_max} bytes are held at most",
                    counted(prompts, "prompt")
                )
            }
            Self::Skipped { conversations } => {
                write!(f, "{} without a human turn skipped", counted(conversations, "conversation"))
            }
        }
    }
}

fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_read_as_sentences() {
        let check = |note: Note, text: &str| assert_eq!(note.to_string(), text);
        let (prompts, requests) = (1, Some(40));
        check(
            Note::Cycled { prompts, requests, cache: Cache::Bust },
            "1 prompt for 40 requests: they repeat, each time with a new nonce",
        );
        check(
            Note::Cycled { prompts: 3, requests: None, cache: Cache::AsIs },
            "3 prompts for a run limited by time: they repeat unchanged, and a prefix cache may answer",
        );
        check(
            Note::Cycled { prompts: 3, requests: Some(9), cache: Cache::Warm },
            "3 prompts for 9 requests: they repeat unchanged, and each is sent once before it is measured",
        );
        check(
            Note::HeldBound { prompts: 9, bytes_max: 100 },
            "only the first 9 prompts of the dataset used: 100 bytes are held at most",
        );
        check(Note::Skipped { conversations: 2 }, "2 conversations without a human turn skipped");
    }
}
