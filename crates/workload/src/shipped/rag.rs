//! `rag`: many passages of one form, each about another station, and a question that one of them answers.

use std::collections::HashSet;

use super::dice::Dice;
use super::length::{FILLER_MIN, filler, tokens};
use super::stock::{COLOURS, MONTHS, PEOPLE, TOWNS};
use super::task::{Task, short_with};

/// The longest right answer, in characters: room for a sentence, not for a list of passages.
const ANSWER_CHARS_MAX: u64 = 300;

/// The fewest passages: the one that answers and one that does not.
const PASSAGES_MIN: usize = 2;

const HEAD: &str = "Read these notes. A question follows.\n\n";

/// A prompt of exactly `wanted` tokens, or of the fewest that hold two passages.
pub(super) fn task(dice: &mut Dice, wanted: usize) -> Task {
    let needle = Station::new(dice.word(), dice.word(), dice);
    let question = format!(
        "Question: What is the access code of the {} station? Answer with the code and nothing else.",
        needle.name
    );
    let mut passages = Passages { length: tokens(HEAD) + tokens(&question), list: Vec::new() };
    let mut names = HashSet::from([needle.name.clone()]);
    passages.push(&needle, dice);
    let mut other = Station::new(needle.first, needle.first, dice);
    // What is left for the filler is then at least its least.
    while passages.list.len() < PASSAGES_MIN || passages.length + PASSAGE_MAX + FILLER_MIN <= wanted {
        // One in eight shares a word with the station asked for: a model must read both.
        let first = if dice.chance(12) { needle.first } else { dice.word() };
        let next = Station::new(first, dice.word(), dice);
        if names.insert(next.name.clone()) && next.code != needle.code {
            passages.push(&next, dice);
            other = next;
        }
    }
    let missing = wanted.saturating_sub(passages.length);
    let Passages { mut list, .. } = passages;
    if missing >= FILLER_MIN
        && let Some(last) = list.last_mut()
    {
        last.push_str(&filler(dice, missing));
    }
    let list = dice.shuffled(list).join("\n\n");
    let asked = format!("{HEAD}{list}\n\n{question}");
    let said = |code: u64| format!("The access code of the {} station is {code}.", needle.name);
    Task::text(
        asked,
        short_with(needle.code.to_string(), ANSWER_CHARS_MAX),
        said(needle.code),
        said(other.code),
    )
}

/// More tokens than any passage has.
const PASSAGE_MAX: usize = 100;

struct Passages {
    /// Tokens so far, question and head with them.
    length: usize,
    list: Vec<String>,
}

impl Passages {
    fn push(&mut self, station: &Station, dice: &mut Dice) {
        let passage = station.passage(dice);
        self.length += tokens(&passage);
        self.list.push(passage);
    }
}

struct Station {
    first: &'static str,
    name: String,
    code: u64,
}

impl Station {
    fn new(first: &'static str, second: &str, dice: &mut Dice) -> Self {
        Self { first, name: format!("{first} {second}"), code: dice.number(100_000, 999_999) }
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
