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

const HEAD: &str = "Read these notes. A question follows.\n\n";

/// Stations that are drawn for one prompt: enough for twice the longest that has a name for each passage. Beyond it the
/// rest is filler.
const TRIES_MAX: usize = 100_000;

/// A prompt of exactly `wanted` tokens, or of the fewest that hold two passages.
pub(super) fn task(dice: &mut Dice, wanted: usize) -> Task {
    let needle = Station::new(dice.pick(THINGS), dice);
    let question = format!(
        "Question: What is the access code of the {} station? Answer with the code and nothing else.",
        needle.name
    );
    let mut passages = Passages { length: tokens(HEAD) + tokens(&question), list: Vec::new() };
    passages.push(needle.passage(dice));
    let mut names = HashSet::from([needle.name.clone()]);
    let mut wrong = needle.code - 1;
    for _ in 0..TRIES_MAX {
        // One in eight shares a word with the station asked for: a model must read both.
        let first = if dice.chance(12) { needle.first } else { dice.pick(THINGS) };
        let next = Station::new(first, dice);
        if next.code == needle.code || !names.insert(next.name.clone()) {
            continue;
        }
        let passage = next.passage(dice);
        let is_full = passages.length + tokens(&passage) + FILLER_MIN > wanted;
        if is_full && passages.list.len() >= PASSAGES_MIN {
            break;
        }
        passages.push(passage);
        wrong = next.code;
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
    Task::text(asked, short_with(needle.code.to_string(), ANSWER_CHARS_MAX), said(needle.code), said(wrong))
}

struct Passages {
    /// Tokens so far, question and head with them.
    length: usize,
    list: Vec<String>,
}

impl Passages {
    fn push(&mut self, passage: String) {
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
    fn new(first: &'static str, dice: &mut Dice) -> Self {
        Self { first, name: format!("{first} {}", dice.pick(THINGS)), code: dice.number(100_000, 999_999) }
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
