//! Happy eyeballs: a dead address family costs a quarter of a second, not a timeout.
//!
//! RFC 8305: families alternate, a further address is tried 250 ms after the last or at once when one fails, and the
//! first connection that stands wins.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use inferometer_clock::{Clock, Deadline};

use crate::Dial;

/// The recommended connection attempt delay of RFC 8305 §5.
const STAGGER: Duration = Duration::from_millis(250);

/// Most addresses that are tried; some names have dozens.
const MAX_ADDRESSES: usize = 16;

/// The addresses in the order in which they are tried: families alternate, the resolver's first one first.
pub(crate) fn interleave(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (preferred, other): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == first_is_v6);
    let mut other = other.into_iter();
    let mut order = Vec::new();
    for address in preferred {
        order.push(address);
        order.extend(other.next());
    }
    order.extend(other);
    order.truncate(MAX_ADDRESSES);
    order
}

type Attempts<'a, T> = Vec<Pin<Box<dyn Future<Output = io::Result<T>> + 'a>>>;

/// Dials `addresses` until one stands. Where none does, the first failure is told: it is the preferred address's.
pub(crate) async fn race<D: Dial>(
    dialer: &D,
    clock: &Clock,
    addresses: Vec<SocketAddr>,
) -> io::Result<D::Io> {
    let mut waiting = addresses.into_iter();
    let mut attempts: Attempts<'_, D::Io> = Vec::new();
    let mut first_failure = None;
    let mut stagger = Deadline::new(clock);
    let mut start_next = true;
    poll_fn(|cx| {
        loop {
            if std::mem::take(&mut start_next) {
                let next = waiting.next();
                stagger.set(next.map(|_| clock.now() + STAGGER));
                attempts.extend(next.map(|address| Box::pin(dialer.dial(address)) as Pin<Box<_>>));
            }
            match poll_attempts(&mut attempts, cx) {
                Poll::Ready(Ok(stream)) => return Poll::Ready(Ok(stream)),
                Poll::Ready(Err(failure)) => {
                    let failure = first_failure.take().unwrap_or(failure);
                    if attempts.is_empty() && waiting.len() == 0 {
                        return Poll::Ready(Err(failure));
                    }
                    first_failure = Some(failure);
                    start_next = true;
                }
                Poll::Pending if stagger.poll_expired(cx).is_pending() => return Poll::Pending,
                Poll::Pending => start_next = true,
            }
        }
    })
    .await
}

/// The first attempt that ended, taken out.
fn poll_attempts<T>(attempts: &mut Attempts<'_, T>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
    for index in 0..attempts.len() {
        if let Poll::Ready(ended) = attempts[index].as_mut().poll(cx) {
            drop(attempts.remove(index));
            return Poll::Ready(ended);
        }
    }
    if attempts.is_empty() { Poll::Ready(Err(io::ErrorKind::AddrNotAvailable.into())) } else { Poll::Pending }
}
