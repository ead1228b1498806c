//! Processor time, by which the client proves that it was not the bottleneck.

use std::time::Duration;

/// Processor time (user and system) that the calling thread has used, or `None` where the system does not tell.
pub fn thread_cpu() -> Option<Duration> {
    cpu(Scope::Thread)
}

/// Processor time (user and system) that this process has used, or `None` where the system does not tell.
pub fn process_cpu() -> Option<Duration> {
    cpu(Scope::Process)
}

#[derive(Clone, Copy)]
enum Scope {
    Process,
    Thread,
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have no such clock")]
fn cpu(scope: Scope) -> Option<Duration> {
    use rustix::time::ClockId;

    let used = rustix::time::clock_gettime(match scope {
        Scope::Process => ClockId::ProcessCPUTime,
        Scope::Thread => ClockId::ThreadCPUTime,
    });
    Some(Duration::new(used.tv_sec as u64, used.tv_nsec as u32))
}

#[cfg(not(unix))]
fn cpu(_scope: Scope) -> Option<Duration> {
    None
}
