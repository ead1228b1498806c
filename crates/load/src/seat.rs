//! A shard on its way to its thread, and its life there.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Barrier};

use inferometer_clock::Clock;
use inferometer_transport::{self as transport, Client, Sockets};
use tokio::runtime::{self, LocalOptions, LocalRuntime};

use crate::ask::Asker;
use crate::finished::Finished;
use crate::phase::Phase;
use crate::rules::ShardRules;
use crate::shard::{Shard, ShardReport};
use crate::{Control, Error, Live};

/// What a shard is made from, on its way to its thread.
pub(crate) struct Seat {
    pub(crate) index: u32,
    pub(crate) shards: u32,
    pub(crate) asker: Asker,
    pub(crate) target: transport::Target,
    pub(crate) rules: ShardRules,
    pub(crate) out: SyncSender<Finished>,
    pub(crate) control: Control,
    pub(crate) live: Arc<Live>,
}

impl Seat {
    /// The life of a shard's thread, once all shards have theirs: every phase, in step with the others.
    pub(crate) fn run(
        self,
        phases: &[Arc<Phase>],
        gate: &Receiver<Arc<Barrier>>,
    ) -> Result<ShardReport, Error> {
        let Ok(step) = gate.recv() else { return Ok(ShardReport::default()) };
        let control = self.control.clone();
        let mut ready = shard_runtime().map_err(Error::from).and_then(|runtime| {
            let shard = runtime.block_on(async { self.shard() })?;
            Ok((runtime, shard, ShardReport::default()))
        });
        for phase in phases {
            ready = ready.and_then(|(runtime, shard, _)| {
                let run = || runtime.block_on(shard.clone().run(phase.clone()));
                let ran = catch_unwind(AssertUnwindSafe(run));
                let report = ran.unwrap_or_else(|_| Err(io::Error::other("a shard panicked")))?;
                Ok((runtime, shard, report))
            });
            // A shard that failed still keeps step: the others would wait for it for ever.
            if ready.is_err() {
                control.cut();
            }
            step.wait();
        }
        ready.map(|(_, _, report)| report)
    }

    fn shard(self) -> Result<Rc<Shard<Sockets>>, Error> {
        let clock = Clock::monotonic();
        let client = Client::new(&clock, Sockets::new(&clock), self.target)?;
        Ok(Rc::new(Shard {
            index: self.index,
            shards: self.shards,
            clock,
            client,
            asker: self.asker,
            rules: self.rules,
            out: self.out,
            control: self.control,
            live: self.live,
        }))
    }
}

/// A runtime of one thread, for tasks that never leave it.
fn shard_runtime() -> io::Result<LocalRuntime> {
    runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
}
