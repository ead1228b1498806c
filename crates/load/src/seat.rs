//! A shard's thread: one runtime, and on it a shard of every lane.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use inferometer_clock::Clock;
use inferometer_transport::{self as transport, Client, Connect, Sockets};
use tokio::runtime::{self, LocalOptions, LocalRuntime};
use tokio::sync::mpsc;

use crate::ask::Asker;
use crate::band::Order;
use crate::finished::Message;
use crate::gate::Gate;
use crate::purse::Purse;
use crate::rules::ShardRules;
use crate::shard::Shard;
use crate::{Control, Error, Live};

/// What a shard is made from, on its way to its thread.
#[derive(Clone)]
pub(crate) struct Seat {
    pub(crate) lane: usize,
    pub(crate) index: u32,
    pub(crate) shards: u32,
    pub(crate) asker: Asker,
    pub(crate) target: transport::Target,
    pub(crate) rules: ShardRules,
    pub(crate) out: SyncSender<Message>,
    pub(crate) control: Control,
    pub(crate) live: [Arc<Live>; 2],
    pub(crate) purse: Arc<Purse>,
    pub(crate) gate: Option<Arc<Gate>>,
}

impl Seat {
    /// The shard, which opens its connections through `connect`.
    pub(crate) fn shard<C: Connect>(self, clock: &Clock, connect: C) -> Result<Rc<Shard<C>>, Error> {
        Ok(Rc::new(Shard {
            lane: self.lane,
            index: self.index,
            shards: self.shards,
            clock: clock.clone(),
            client: Client::new(clock, connect, self.target)?,
            asker: self.asker,
            rules: self.rules,
            out: self.out,
            control: self.control,
            live: self.live,
            purse: self.purse,
            gate: self.gate,
            quiet_since: Cell::default(),
            usual: RefCell::default(),
        }))
    }
}

/// The life of a shard's thread: `seats` are one of each lane.
pub(crate) fn run(seats: Vec<Seat>, orders: mpsc::Receiver<Order>) -> Result<(), Error> {
    let (clock, timers) = Clock::monotonic().with_timers();
    shard_runtime()?.block_on(async {
        let shards = seats.into_iter().map(|seat| seat.shard(&clock, Sockets::new(&clock)));
        let shards = shards.collect::<Result<Vec<_>, Error>>()?;
        tokio::select! {
            () = serve(&shards, orders) => Ok(()),
            // Without them no limit would ever be reached.
            failed = timers.run() => Ok(failed?),
        }
    })
}

/// Runs what is ordered, side by side, until nobody orders any more. A phase that panics loses its reply, which whoever
/// ordered it sees.
pub(crate) async fn serve<C: Connect + 'static>(shards: &[Rc<Shard<C>>], mut orders: mpsc::Receiver<Order>) {
    while let Some(Order { lane, phase, reply }) = orders.recv().await {
        let Some(shard) = shards.get(lane).cloned() else { continue };
        tokio::task::spawn_local(async move {
            // Who ordered it may have given up the whole run.
            let _ = reply.send(shard.run(phase).await);
        });
    }
}

/// A runtime of one thread, for tasks that never leave it.
fn shard_runtime() -> io::Result<LocalRuntime> {
    runtime::Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
}
