//! A shard: one thread's share of a lane, with its own connections.

use std::cell::{Cell as Counter, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use inferometer_clock::{Clock, Mono, thread_cpu};
use inferometer_transport::{Client, Connect};

use crate::ask::Asker;
use crate::episode::Usual;
use crate::finished::Message;
use crate::gate::Gate;
use crate::phase::Phase;
use crate::purse::Purse;
use crate::rules::ShardRules;
use crate::share::Share;
use crate::{Control, Live};

/// What a shard knows when a phase has ended.
#[derive(Debug, Default)]
pub(crate) struct ShardReport {
    pub(crate) lateness_ns: Vec<u64>,
    pub(crate) planned: Planned,
    pub(crate) dropped: u64,
    pub(crate) channel_full: u64,
    pub(crate) slots: Slots,
    /// What its slots waited for other lanes, added up.
    pub(crate) held: Duration,
    /// Time on a core, and in all.
    pub(crate) cpu: Option<(Duration, Duration)>,
}

/// The realised schedule of an open load.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Planned {
    pub(crate) starts: u64,
    /// On the schedule's own time.
    pub(crate) first: Option<Duration>,
    pub(crate) last: Option<Duration>,
}

/// When the slots of a closed load were all at work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slots {
    /// Slots that have finished a request.
    pub(crate) finished: u32,
    /// When the last of them had finished its first.
    pub(crate) all_finished: Option<Mono>,
    /// When a slot first found no work.
    pub(crate) first_idle: Option<Mono>,
}

/// One shard of one lane. Everything in it belongs to its thread.
pub(crate) struct Shard<C: Connect> {
    pub(crate) lane: usize,
    pub(crate) index: u32,
    pub(crate) shards: u32,
    pub(crate) clock: Clock,
    pub(crate) client: Client<C>,
    pub(crate) asker: Asker,
    pub(crate) rules: ShardRules,
    pub(crate) out: SyncSender<Message>,
    pub(crate) control: Control,
    /// The lane's counts, and those of all.
    pub(crate) live: [Arc<Live>; 2],
    pub(crate) purse: Arc<Purse>,
    /// What keeps its requests under the limits that are told, where the load wants that.
    pub(crate) gate: Option<Arc<Gate>>,
    /// When the last request ended.
    pub(crate) quiet_since: Counter<Option<Mono>>,
    pub(crate) usual: RefCell<Usual>,
}

impl<C: Connect + 'static> Shard<C> {
    /// Runs this shard's share of `phase` to its end.
    pub(crate) async fn run(self: Rc<Self>, phase: Arc<Phase>) -> io::Result<ShardReport> {
        let share = Rc::new(Share::new(self, phase));
        let heart = share.heart.clone();
        let beating = tokio::task::spawn_local({
            let clock = share.shard.clock.clone();
            async move { heart.beat(&clock).await }
        });
        let started = (share.shard.clock.now(), thread_cpu());
        let ran = if share.phase.is_episodic() {
            share.clone().play().await
        } else {
            share.clone().start_all().await
        };
        beating.abort();
        ran.map(|()| share.report(started))
    }
}
