//! Where the samples of a run go: into its folder, and the preflight's to whoever reads it.

use inferometer_clock::Clock;
use inferometer_load::{Sink, SinkError};
use inferometer_record::{Events, Phase, RunWriter, Sample, Text};

/// Writes every sample; remembers the preflight's.
pub(crate) struct RunSink<'a> {
    pub(crate) writer: &'a mut RunWriter,
    pub(crate) clock: &'a Clock,
    pub(crate) with_events: bool,
    pub(crate) preflight: Option<Sample>,
}

impl<'a> RunSink<'a> {
    pub(crate) fn new(writer: &'a mut RunWriter, clock: &'a Clock, with_events: bool) -> Self {
        Self { writer, clock, with_events, preflight: None }
    }
}

impl Sink for RunSink<'_> {
    fn accept(&mut self, sample: Sample, events: Option<Events>) -> Result<(), SinkError> {
        self.writer.push(&sample, events.as_ref().filter(|_| self.with_events), self.clock.now())?;
        if sample.phase == Phase::Preflight {
            self.preflight = Some(sample);
        }
        Ok(())
    }

    fn accept_text(&mut self, text: Text) -> Result<(), SinkError> {
        Ok(self.writer.push_text(&text)?)
    }

    fn tick(&mut self) -> Result<(), SinkError> {
        Ok(self.writer.tick(self.clock.now())?)
    }
}
