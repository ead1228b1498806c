//! `cache = "warm"`: each prompt is sent once before it is measured.

use inferometer_workload::{Cache, Prompts, Source};

use crate::{Arrival, Load, Plan};

impl Plan {
    /// Prompts of a cell under `load` that are sent once before its figures begin, so that a cache knows them: of its
    /// `prompts`, each different one that will be measured. 0 where caches are not to be warm.
    pub fn warmed(&self, load: &Load, prompts: &Prompts) -> u64 {
        let most = load.stop.requests.into_iter().chain(prompts.distinct()).min();
        if self.protocol.cache == Cache::Warm { most.unwrap_or(0) } else { 0 }
    }

    /// Refuses to warm what nobody can list beforehand; why.
    pub(crate) fn check_warm(&self) -> Result<(), String> {
        let warm = self.cells().filter(|_| self.protocol.cache == Cache::Warm);
        for cell in warm {
            let name = &cell.load.name;
            let is_held = matches!(cell.workload.source, Source::Builtin { .. } | Source::Dataset { .. });
            match cell.load.arrival {
                Arrival::ColdStart { .. } | Arrival::Burst { .. } => {
                    return Err(format!(
                        "load '{name}' is made of episodes, whose prompts cannot be warmed: take bust or as-is"
                    ));
                }
                _ if !is_held && cell.load.stop.requests.is_none() => {
                    return Err(format!(
                        "load '{name}' ends by time alone, so that its prompts are not known: say how many requests"
                    ));
                }
                Arrival::Closed { .. } | Arrival::Open { .. } => {}
            }
        }
        Ok(())
    }
}
