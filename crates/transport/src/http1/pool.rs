//! Connections that wait for their next request.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::Poll;

use super::Connection;

/// The idle connections of one client, the last one kept on top. There are never more than there were requests at once.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "an exchange holds its connection boxed: kept so, it moves as a pointer")]
pub(crate) struct Pool(RefCell<Vec<Box<Connection>>>);

impl Pool {
    pub(crate) fn put(&self, connection: Box<Connection>) {
        self.0.borrow_mut().push(connection);
    }

    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// The last connection kept that still stands; `dead` is told of each that does not.
    pub(crate) async fn take(&self, dead: impl Fn()) -> Option<Box<Connection>> {
        loop {
            let mut connection = self.0.borrow_mut().pop()?;
            if poll_fn(|cx| Poll::Ready(connection.is_quiet(cx))).await {
                return Some(connection);
            }
            dead();
        }
    }
}
