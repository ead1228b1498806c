//! One client's connection: requests in, answers out.

use std::io;
use std::sync::Arc;

use inferometer_clock::Mono;

use crate::ask::Ask;
use crate::book::Entry;
use crate::config::Connection;
use crate::dialect::{Address, Dialect, Refused};
use crate::http::{self, Announced, Head};
use crate::play::{Gone, Player};
use crate::reply::{Ending, Framing, Reply, Sheet};
use crate::server::Shared;
use crate::slots::{Place, Slots};
use crate::stream::Stream;
use crate::truth::{End, Record};

/// A client's connection.
pub(crate) struct Client {
    pub(crate) shared: Arc<Shared>,
    pub(crate) stream: Stream,
    /// The connection's number.
    pub(crate) number: u64,
    /// What was read and not yet used.
    pub(crate) buffer: Vec<u8>,
    pub(crate) requests: u32,
}

/// Whether a connection is used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Keep,
    Close,
    /// Gone, cut or reset: no goodbye.
    Drop,
}

impl Client {
    /// Answers requests until the connection ends.
    pub(crate) async fn serve(mut self) {
        loop {
            match self.serve_one().await {
                Ok(Next::Keep) => {}
                Ok(Next::Close) => return self.stream.close().await,
                Ok(Next::Drop) | Err(_) => return,
            }
        }
    }

    async fn serve_one(&mut self) -> io::Result<Next> {
        let Some(head) = self.next_head().await? else { return Ok(Next::Close) };
        let head_at = self.shared.clock.now();
        self.requests += 1;
        if head.path() != "/truth" {
            self.shared.log().path(&head.target);
        }
        let shared = Arc::clone(&self.shared);
        let question = shared.dialect(&head);
        if let Some(status) = head.refused {
            let dialect = question.map_or(Dialect::CHAT, |(dialect, _)| dialect);
            let sheet = dialect.error(status, "invalid_request_error", "the request's body cannot be read");
            self.plain(sheet, false).await?;
            return Ok(Next::Close);
        }
        let body = http::read_body(&mut self.stream, &mut self.buffer, &head).await?;
        match question.filter(|_| head.method == "POST") {
            Some(question) => self.ask(&head, head_at, question, body).await,
            None => self.plain(self.shared.page(&head), head.keep_alive).await,
        }
    }

    /// The next request's head; none where the client left or rested too long.
    async fn next_head(&mut self) -> io::Result<Option<Head>> {
        let shared = Arc::clone(&self.shared);
        let idle = shared.config.keep_alive_idle.filter(|_| self.requests > 0);
        let head = http::read_head(&mut self.stream, &mut self.buffer);
        let Some(idle) = idle else { return head.await };
        tokio::select! {
            head = head => head,
            () = shared.clock.sleep(idle) => Ok(None),
        }
    }

    /// Answers what is no question to a model; leaves no record.
    async fn plain(&mut self, sheet: Sheet, keep_alive: bool) -> io::Result<Next> {
        let reply = sheet.reply();
        let announced = Announced::of(self.shared.config.connection, keep_alive, reply.framing);
        let mut bytes = http::response_head(&reply, None, announced);
        for run in &reply.runs {
            bytes.extend_from_slice(run.write(0).0);
        }
        self.stream.write(&bytes).await?;
        Ok(if announced == Announced::Closing { Next::Close } else { Next::Keep })
    }

    /// Answers a question to a model.
    async fn ask(
        &mut self,
        head: &Head,
        head_at: Mono,
        (dialect, at): (Dialect, Address<'_>),
        body: Vec<u8>,
    ) -> io::Result<Next> {
        let shared = Arc::clone(&self.shared);
        let read_at = shared.clock.now();
        let ask = Ask::parse(dialect, at, body);
        let hash = ask.as_ref().map_or(0, |ask| ask.wishes.prompt_hash);
        let ticket = shared.log().begin(hash);
        let mut record = Record {
            ordinal: ticket.ordinal,
            connection: self.number,
            connection_request: self.requests,
            path: head.target.clone(),
            head_ns: head_at.as_nanos(),
            read_ns: read_at.as_nanos(),
            prompt_hash: format!("{hash:016x}"),
            ..Record::default()
        };
        let (entry, mut work) = Work::new(&shared, head, dialect, ask, read_at, &mut record);
        let worker = entry.as_deref().filter(|_| work.reply.status == 200).and_then(Entry::worker);
        let place = worker.and_then(|worker| worker.slots.as_ref()).map(Slots::enter);
        if let Some(None) = place {
            work = Work::refusal(dialect.error(429, "rate_limit_exceeded", "the queue is full"));
        }
        let warmth = worker.filter(|_| work.reply.status == 200).and_then(|worker| worker.warmth.as_ref());
        // Held until the answer is over: that is when the model's rest begins.
        let warm = warmth.map(|warmth| warmth.begin(record.nth, read_at));
        let turn = Turn { place: place.flatten(), read_at, warm_at: warm.as_ref().map(|warm| warm.warm_at) };
        work.write_down(&mut record);
        let result = self.answer(head, dialect, &work, turn, &mut record).await;
        drop(warm);
        record.end_ns = shared.clock.now().as_nanos();
        if result.is_err() {
            record.end = End::ClientClosed;
        }
        shared.log().end(ticket, record);
        Ok(result.unwrap_or(Next::Drop))
    }

    async fn answer(
        &mut self,
        head: &Head,
        dialect: Dialect,
        work: &Work,
        turn: Turn<'_>,
        record: &mut Record,
    ) -> Result<Next, Gone> {
        let shared = Arc::clone(&self.shared);
        let reply = &work.reply;
        let announced = Announced::of(shared.config.connection, head.keep_alive, reply.framing);
        let bytes =
            http::response_head(reply, Some((dialect.request_id_header(), record.ordinal)), announced);
        let mut player = Player {
            clock: &shared.clock,
            timers: &shared.timers,
            stream: &mut self.stream,
            ahead: &mut self.buffer,
            record,
            keep_writes: shared.config.record_writes,
            frozen: &work.frozen,
        };
        let mut start = turn.read_at;
        // Held until the answer is over.
        let mut slot = None;
        if let Some(place) = turn.place {
            slot = tokio::select! {
                slot = place.slot(&shared.timers) => slot,
                gone = player.client_leaves() => return gone.map(|()| Next::Drop),
            };
            start = shared.clock.now();
        }
        player.record.slot_ns = Some(start.as_nanos());
        player.record.slots = slot.as_ref().map(|slot| slot.of);
        if let Some(warm_at) = turn.warm_at.filter(|warm_at| *warm_at > start) {
            player.record.cold_ns = Some(warm_at.as_nanos() - start.as_nanos());
            start = warm_at;
        }
        player.play(reply, bytes, start).await?;
        drop(slot);
        Ok(next(reply, announced, shared.config.connection))
    }
}

/// What a request waits for before its work.
struct Turn<'a> {
    /// Its place before the slots, where the model has slots.
    place: Option<Place<'a>>,
    read_at: Mono,
    /// When the model has started, where it was cold.
    warm_at: Option<Mono>,
}

/// What is to be done for one request.
struct Work {
    reply: Reply,
    frozen: Vec<(Mono, Mono)>,
}

impl Work {
    /// Decides the answer, and by which entry; writes down what was asked.
    fn new(
        shared: &Shared,
        head: &Head,
        dialect: Dialect,
        ask: Result<Ask, Refused>,
        read_at: Mono,
        record: &mut Record,
    ) -> (Option<Arc<Entry>>, Self) {
        if !shared.lets_in(head, dialect) {
            return (None, Self::refusal(shared.no_key(head, dialect)));
        }
        let ask = match ask {
            Ok(ask) => ask,
            Err(Refused { status, code, message }) => {
                return (None, Self::refusal(dialect.error(status, code, &message)));
            }
        };
        let wishes = &ask.wishes;
        record.stream = wishes.stream;
        record.input_tokens = wishes.input_tokens;
        record.model.clone_from(&wishes.model);
        let entry = match shared.book.find(&wishes.model) {
            Ok(entry) => entry,
            Err((status, error)) => {
                return (None, Self::refusal(dialect.error(status, "model_not_found", &error)));
            }
        };
        let arrival = entry.arrive(wishes.prompt_hash, read_at);
        record.nth = arrival.nth;
        record.try_number = arrival.try_number;
        let pass = entry.worker().and_then(|worker| worker.bucket.as_ref()).map(|bucket| bucket.ask(read_at));
        if let Some(pass) = pass.filter(|pass| !pass.admitted) {
            return (Some(entry), Self::refusal(pass.refusal(dialect)));
        }
        let (mut reply, frozen) = entry.answer(&ask, arrival);
        reply.headers.extend(pass.into_iter().flat_map(|pass| dialect.limit_headers(pass.level())));
        (Some(entry), Self { reply, frozen })
    }

    fn refusal(sheet: Sheet) -> Self {
        Self { reply: sheet.reply(), frozen: Vec::new() }
    }

    /// Writes down what is answered.
    fn write_down(&self, record: &mut Record) {
        record.status = self.reply.status;
        record.fault = self.reply.fault.map(str::to_owned);
        let said = self.reply.said;
        record.right = said.right;
        record.cost = said.cost.map(|cost| cost.to_string());
        if let Some((input, output)) = said.usage {
            record.input_tokens = input;
            record.output_tokens = Some(output);
        }
    }
}

fn next(reply: &Reply, announced: Announced, connection: Connection) -> Next {
    match reply.ending {
        Ending::Cut | Ending::Reset | Ending::Hang => Next::Drop,
        Ending::FinishThenClose => Next::Close,
        Ending::Finish if announced == Announced::Closing => Next::Close,
        Ending::Finish if connection == Connection::CloseAfterStream && reply.framing == Framing::Chunked => {
            Next::Close
        }
        Ending::Finish => Next::Keep,
    }
}
