//! `rag`: many passages of one form, each about another station, and a question that one of them answers.

use std::collections::HashSet;

use super::dice::Dice;
use super::length::{FILLER_MIN, filler, tokens};
use super::stock::{COLOURS, MONTHS, PEOPLE, THINGS, TOWNS};
use super::task::{Task, short_with};

/// The longest right answer, in characters: room for a sentence, not for a list of passages.
const ANSWER_CHARS_MAX: u64 = 300;

/// The fewest passages: the one that answers and one that does not.
const PASSAGES_MIN: usize = 2;

/// Passages of a library: more than 32,768 tokens hold, three times over. A longer prompt goes round.
const LIBRARY_PASSAGES: usize = 2_048;

const HEAD: &str = "Read these notes. A question follows.\n\n";

/// The passages of a seed. They are drawn once; a prompt is a stretch of them, so that 32,000 tokens cost a copy and not a
/// millisecond of a shard that has streams to read.
#[derive(Clone, Debug)]
pub(super) struct Library {
    /// Passages, each with a blank line behind it.
    text: String,
    /// In the order of the text; each name and each code is there once.
    stations: Vec<Station>,
}

#[derive(Clone, Debug)]
struct Station {
    first: &'static str,
    name: String,
    code: u64,
    /// Where its passage stands in the text, blank line aside, and its tokens.
    from: usize,
    to: usize,
    tokens: usize,
}

impl Library {
    /// Draws the passages. Takes some 10 ms.
    pub(super) fn new(dice: &mut Dice) -> Self {
        let mut library = Self { text: String::new(), stations: Vec::with_capacity(LIBRARY_PASSAGES) };
        let mut taken = HashSet::new();
        // There are forty times as many names and codes: few are drawn twice.
        for _ in 0..2 * LIBRARY_PASSAGES {
            // One in four shares a word with the station before it: a model must read both.
            let before = library.stations.last().map(|station| station.first);
            let first = before.filter(|_| dice.chance(25)).unwrap_or_else(|| dice.pick(THINGS));
            let mut station = Station::new(first, dice);
            if library.stations.len() < LIBRARY_PASSAGES
                && taken.insert(station.name.clone())
                && taken.insert(station.code.to_string())
            {
                let passage = station.passage(dice);
                station.from = library.text.len();
                station.to = station.from + passage.len();
                station.tokens = tokens(&passage);
                library.text.push_str(&passage);
                library.text.push_str("\n\n");
                library.stations.push(station);
            }
        }
        library
    }

    /// A prompt of exactly `wanted` tokens, or of the fewest that hold two passages.
    pub(super) fn task(&self, dice: &mut Dice, wanted: usize) -> Task {
        let stations = self.stations.len();
        let start = dice.number(0, stations as u64 - 1) as usize;
        let station = |nth: usize| &self.stations[(start + nth) % stations];
        // Which of them answers is known when their number is; the question's length does not depend on it.
        let mut length = tokens(HEAD) + tokens(&question(station(0)));
        let mut count = 0;
        while count < PASSAGES_MIN || length + station(count).tokens + FILLER_MIN <= wanted {
            length += station(count).tokens;
            count += 1;
        }
        let missing = wanted.saturating_sub(length);
        let needle = dice.number(0, count as u64 - 1) as usize;
        let mut asked = String::from(HEAD);
        for nth in 0..count {
            let Station { from, to, .. } = *station(nth);
            asked.push_str(&self.text[from..to]);
            if nth + 1 == count && missing >= FILLER_MIN {
                asked.push_str(&filler(dice, missing));
            }
            asked.push_str("\n\n");
        }
        let (needle, other) = (station(needle), station((needle + 1) % count));
        asked.push_str(&question(needle));
        let said = |code: u64| format!("The access code of the {} station is {code}.", needle.name);
        let check = short_with(needle.code.to_string(), ANSWER_CHARS_MAX);
        Task::text(asked, check, said(needle.code), said(other.code))
    }
}

fn question(station: &Station) -> String {
    format!(
        "Question: What is the access code of the {} station? Answer with the code and nothing else.",
        station.name
    )
}

impl Station {
    fn new(first: &'static str, dice: &mut Dice) -> Self {
        let name = format!("{first} {}", dice.pick(THINGS));
        Self { first, name, code: dice.number(100_000, 999_999), from: 0, to: 0, tokens: 0 }
    }

    fn passage(&self, dice: &mut Dice) -> String {
        let Self { name, code, .. } = self;
        let (person, town, month, colour) =
            (dice.pick(PEOPLE), dice.pick(TOWNS), dice.pick(MONTHS), dice.pick(COLOURS));
        let (year, visitors) = (dice.number(1850, 1999), dice.number(110, 990));
        match dice.number(0, 2) {
            0 => format!(
                "The {name} station near {town} opened in {year}. Its keeper is {person}, who counts {visitors} visitors \
                 a month. The access code of the {name} station is {code}. Its door is {colour}, and most visitors come \
                 in {month}."
            ),
            1 => format!(
                "In {month} {year} the {name} station was built by {person} from {town}. The walls are {colour}. The \
                 access code of the {name} station is {code}. It has room for {visitors} boxes of paper and a small \
                 kitchen."
            ),
            _ => format!(
                "Nobody from {town} has seen the {name} station since {month}. The access code of the {name} station is \
                 {code}. {person} painted it {colour} in {year} and sold {visitors} cards with a picture of it."
            ),
        }
    }
}
