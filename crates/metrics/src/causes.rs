//! Why attempts failed: each distinct cause once, with its count.

use inferometer_record::Sample;

use crate::Cause;

/// Distinct causes that are kept; a server that makes up a new code for each failure fills no memory.
const MAX_CAUSES: usize = 32;

/// Causes of failure in the order in which they were first seen.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    causes: Vec<Cause>,
    /// Failures beyond [`MAX_CAUSES`] distinct ones.
    pub(crate) others: u64,
}

impl Causes {
    /// Counts a failed attempt. Status, HTTP status and code tell causes apart; messages carry ids and times.
    pub(crate) fn push(&mut self, sample: &Sample) {
        let is_same = |cause: &&mut Cause| {
            cause.status == sample.status
                && cause.http_status == sample.http_status
                && cause.code == sample.error_code
        };
        if let Some(cause) = self.causes.iter_mut().find(is_same) {
            cause.count += 1;
        } else if self.causes.len() < MAX_CAUSES {
            self.causes.push(Cause {
                status: sample.status,
                http_status: sample.http_status,
                code: sample.error_code.clone(),
                message: sample.error_message.clone(),
                count: 1,
                first_request: sample.request,
            });
        } else {
            self.others += 1;
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Cause> {
        self.causes
    }
}
