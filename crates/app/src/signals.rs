//! Ctrl-C and SIGTERM: once for a full report, twice to end at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use inferometer_load::Control;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Which signal came, if any. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicU8>);

impl Interrupt {
    /// The number of the signal that interrupted the run.
    pub(crate) fn signal(&self) -> Option<u8> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal),
        }
    }
}

/// From now on the first signal cuts the run through `control`, and the second ends the process.
pub(crate) fn listen(control: Control) -> io::Result<Interrupt> {
    let interrupt = Interrupt::default();
    let seen = interrupt.clone();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_string()).spawn(move || {
        for signal in signals.forever() {
            let signal = u8::try_from(signal).unwrap_or(u8::MAX);
            if seen.signal().is_some() {
                // What was measured is in the kernel's hands already: lines are whole, flushed each second.
                std::process::exit(128 + i32::from(signal));
            }
            seen.0.store(signal, Ordering::Relaxed);
            control.cut();
        }
    })?;
    Ok(interrupt)
}
