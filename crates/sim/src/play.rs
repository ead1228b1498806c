//! Plays an answer on a connection, at its times, and stamps what it does.

use std::io;
use std::time::Duration;

use inferometer_clock::{Clock, Mono, Timers};

use crate::reply::{Content, Ending, Framing, Reply, Run};
use crate::stream::Stream;
use crate::truth::{End, Record};

/// Waits longer than this also watch for the client's leaving; a write notices it otherwise.
const WATCHED_WAIT: Duration = Duration::from_millis(100);

/// In a flood, events share a write until it is this long.
const FLOOD_WRITE: usize = 16 * 1024;

/// The pause in the middle of an event that is written byte by byte.
const CUT_PAUSE: Duration = Duration::from_millis(1);

/// The most write stamps of one answer.
const MAX_STAMPS_PER_ANSWER: usize = 1_000_000;

/// What a client may send ahead of its turn while an answer waits, in bytes.
const MAX_SENT_AHEAD: usize = 256 * 1024;

/// A connection on which one answer is played.
pub(crate) struct Player<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) timers: &'a Timers,
    pub(crate) stream: &'a mut Stream,
    /// What the client sends meanwhile.
    pub(crate) ahead: &'a mut Vec<u8>,
    pub(crate) record: &'a mut Record,
    pub(crate) keep_writes: bool,
    /// Spans in which nothing moves.
    pub(crate) frozen: &'a [(Mono, Mono)],
}

/// The client has gone, or the connection has failed.
pub(crate) struct Gone;

impl From<io::Error> for Gone {
    fn from(_: io::Error) -> Self {
        Self
    }
}

impl Player<'_> {
    /// Plays `reply`, whose times count from `start`; `head` is its head.
    pub(crate) async fn play(&mut self, reply: &Reply, head: Vec<u8>, start: Mono) -> Result<(), Gone> {
        self.plan(reply, start);
        let mut head = head;
        if let Some(head_ns) = reply.head_ns {
            self.wait_until(self.due(start, head_ns)).await?;
            self.send_head(&mut head).await?;
        }
        for run in &reply.runs {
            if run.flood {
                self.flood(run, &mut head, start).await?;
            } else {
                self.pace(run, &mut head, start, reply.single_bytes).await?;
            }
        }
        self.finish(reply, &mut head).await
    }

    /// Writes down when output was planned.
    fn plan(&mut self, reply: &Reply, start: Mono) {
        let mut output = reply.runs.iter().filter(|run| run.count > 0 && run.write(0).1.is_output());
        let first = output.next();
        let last = output.next_back().or(first);
        self.record.planned_first_ns = first.map(|run| self.due(start, run.due_ns(0)).as_nanos());
        self.record.planned_last_ns = last.map(|run| self.due(start, run.due_ns(run.count - 1)).as_nanos());
    }

    async fn pace(
        &mut self,
        run: &Run,
        head: &mut Vec<u8>,
        start: Mono,
        single_bytes: bool,
    ) -> Result<(), Gone> {
        for i in 0..run.count {
            self.wait_until(self.due(start, run.due_ns(i))).await?;
            let (bytes, content) = run.write(i);
            if bytes.is_empty() {
                continue;
            }
            let at = if single_bytes {
                self.send_head(head).await?;
                self.write_singly(bytes).await?
            } else if head.is_empty() {
                self.stream.write(bytes).await?
            } else {
                head.extend_from_slice(bytes);
                self.send_head(head).await?
            };
            self.stamp(at, content);
        }
        Ok(())
    }

    async fn flood(&mut self, run: &Run, head: &mut Vec<u8>, start: Mono) -> Result<(), Gone> {
        self.wait_until(self.due(start, run.due_ns(0))).await?;
        let mut batch = std::mem::take(head);
        let mut first = 0;
        for i in 0..run.count {
            batch.extend_from_slice(run.write(i).0);
            if batch.len() < FLOOD_WRITE && i + 1 < run.count {
                continue;
            }
            let at = self.stream.write(&batch).await?;
            self.record.answered_ns.get_or_insert(at.as_nanos());
            for j in first..=i {
                self.stamp(at, run.write(j).1);
            }
            first = i + 1;
            batch.clear();
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    async fn send_head(&mut self, head: &mut Vec<u8>) -> Result<Mono, Gone> {
        if head.is_empty() {
            return Ok(self.clock.now());
        }
        let at = self.stream.write(head).await?;
        self.record.answered_ns.get_or_insert(at.as_nanos());
        *head = Vec::new();
        Ok(at)
    }

    /// Each byte in a write of its own. The kernel may still join them; the pause in the middle parts at least two.
    async fn write_singly(&mut self, bytes: &[u8]) -> Result<Mono, Gone> {
        let mut at = self.clock.now();
        for (i, byte) in bytes.iter().enumerate() {
            if i == bytes.len() / 2 {
                self.clock.sleep(CUT_PAUSE).await;
            }
            at = self.stream.write(std::slice::from_ref(byte)).await?;
            tokio::task::yield_now().await;
        }
        Ok(at)
    }

    async fn finish(&mut self, reply: &Reply, head: &mut Vec<u8>) -> Result<(), Gone> {
        match reply.ending {
            Ending::Finish | Ending::FinishThenClose => {
                if reply.framing == Framing::Chunked {
                    head.extend_from_slice(b"0\r\n\r\n");
                }
                self.send_head(head).await?;
                self.record.end = End::Finished;
            }
            Ending::Cut => self.record.end = End::Cut,
            Ending::Reset => {
                self.record.end = End::Reset;
                self.stream.reset_on_close();
            }
            Ending::Hang => return self.client_leaves().await,
        }
        Ok(())
    }

    /// When something planned `after_ns` after `start` is really due: later by what it is frozen.
    fn due(&self, start: Mono, after_ns: u64) -> Mono {
        let mut due = start + Duration::from_nanos(after_ns);
        for &(from, until) in self.frozen {
            let from = from.max(start);
            if due >= from {
                due = due + (until - from);
            }
        }
        due
    }

    async fn wait_until(&mut self, at: Mono) -> Result<(), Gone> {
        let span = at - self.clock.now();
        if span.is_zero() {
            return Ok(());
        }
        if span < WATCHED_WAIT {
            self.timers.sleep_until(at).await;
            return Ok(());
        }
        let timers = self.timers;
        tokio::select! {
            () = timers.sleep_until(at) => Ok(()),
            gone = self.client_leaves() => gone,
        }
    }

    /// Completes when the client has closed its side, or sends far too much.
    pub(crate) async fn client_leaves(&mut self) -> Result<(), Gone> {
        while self.stream.read(self.ahead).await? > 0 {
            if self.ahead.len() > MAX_SENT_AHEAD {
                break;
            }
        }
        Err(Gone)
    }

    fn stamp(&mut self, at: Mono, content: Content) {
        let record = &mut *self.record;
        let ns = at.as_nanos();
        let first = *record.first_write_ns.get_or_insert(ns);
        record.last_write_ns = Some(ns);
        if self.keep_writes && record.writes_us.len() < MAX_STAMPS_PER_ANSWER {
            record.writes_us.push(u32::try_from((ns - first) / 1_000).unwrap_or(u32::MAX));
        }
        record.sent_tokens += u64::from(content.tokens);
        if content.is_output() {
            record.first_output_ns.get_or_insert(ns);
            record.last_output_ns = Some(ns);
        }
        if content.answer {
            record.first_answer_ns.get_or_insert(ns);
        }
    }
}
