//! Waking at a planned instant, finer than a timer wheel.
//!
//! Lateness at the median on a two-core machine: tokio's wheel 1,070 µs, a timerfd in an `AsyncFd` 50 to 60 µs. The
//! wheel also quantises: a thousand arrivals a second would leave in bunches.

use std::io;

use crate::{Clock, Mono};

/// Waits for planned instants, one at a time. On Linux an absolute timerfd; elsewhere a sleeping thread per wait.
#[derive(Debug)]
pub struct Pacer {
    clock: Clock,
    #[cfg(target_os = "linux")]
    timer: Option<tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>>,
}

impl Pacer {
    /// A pacer on `clock`, for the runtime it is called in. Fails where the process has no file descriptor left.
    #[cfg(target_os = "linux")]
    pub fn new(clock: &Clock) -> io::Result<Self> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        use tokio::io::{Interest, unix::AsyncFd};

        if clock.is_virtual() {
            return Ok(Self { clock: clock.clone(), timer: None });
        }
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe for types whose as_raw_fd may lie; an OwnedFd's cannot"
        )]
        let timer = AsyncFd::with_interest(fd, Interest::READABLE)?;
        Ok(Self { clock: clock.clone(), timer: Some(timer) })
    }

    /// A pacer on `clock`.
    #[cfg(not(target_os = "linux"))]
    pub fn new(clock: &Clock) -> io::Result<Self> {
        Ok(Self { clock: clock.clone() })
    }

    /// Waits until `at`; returns at once where it has passed. Safe to drop while it waits.
    pub async fn wait_until(&mut self, at: Mono) -> io::Result<()> {
        if self.clock.now() >= at {
            return Ok(());
        }
        self.wait_in_future(at).await
    }

    #[cfg(target_os = "linux")]
    async fn wait_in_future(&mut self, at: Mono) -> io::Result<()> {
        let Some(timer) = &self.timer else {
            self.clock.sleep_until(at).await;
            return Ok(());
        };
        arm(timer.get_ref(), at)?;
        while self.clock.now() < at {
            let mut ready = timer.readable().await?;
            let mut expirations = [0; 8];
            // Reading clears the expiry; an empty read only says that the wake-up was stale.
            let _ = ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut expirations)?));
        }
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    async fn wait_in_future(&mut self, at: Mono) -> io::Result<()> {
        if self.clock.is_virtual() {
            self.clock.sleep_until(at).await;
            return Ok(());
        }
        tokio::task::spawn_blocking(move || crate::block_until(at)).await.map_err(io::Error::other)
    }
}

/// Sets the timer to fire once, at the absolute instant `at`.
#[cfg(target_os = "linux")]
fn arm(fd: &std::os::fd::OwnedFd, at: Mono) -> io::Result<()> {
    use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};

    let nanos = at.as_nanos();
    let value = Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ };
    let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
    timerfd_settime(fd, TimerfdTimerFlags::ABSTIME, &once)?;
    Ok(())
}
