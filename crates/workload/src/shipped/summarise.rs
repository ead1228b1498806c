//! `summarise`: a report in which a few facts matter; the summary is short and keeps them.

use inferometer_judge::Check;

use super::dice::Dice;
use super::length::{FILLER_MIN, filler, tokens};
use super::stock::{COLOURS, MONTHS, PEOPLE, THINGS, TOWNS};
use super::task::Task;

/// The longest summary, in characters: half as much again as the 80 words that are asked for.
const SUMMARY_CHARS_MAX: u64 = 800;

/// A report of exactly `wanted` tokens, task included, or of the fewest that say everything.
pub(super) fn task(dice: &mut Dice, wanted: usize) -> Task {
    let facts = Facts::new(dice);
    let head = format!(
        "Write a summary of this report in at most 80 words. It must name the town, the person in charge, the total cost \
         and the month of the opening.\n\nReport {} on the {} project\n\n",
        dice.number(100, 999),
        facts.project
    );
    let mut paragraphs = facts.paragraphs(dice);
    let mut length = tokens(&head) + paragraphs.iter().map(|paragraph| tokens(paragraph)).sum::<usize>();
    loop {
        let paragraph = aside(dice);
        if length + tokens(&paragraph) + FILLER_MIN > wanted {
            break;
        }
        length += tokens(&paragraph);
        paragraphs.push(paragraph);
    }
    if wanted.saturating_sub(length) >= FILLER_MIN
        && let Some(last) = paragraphs.last_mut()
    {
        last.push_str(&filler(dice, wanted - length));
    }
    let report = dice.shuffled(paragraphs).join("\n\n");
    let kept =
        [facts.town.to_owned(), facts.person.to_owned(), facts.cost.to_string(), facts.month.to_owned()];
    let mut checks =
        vec![Check::NotEmpty, Check::MaxLength(SUMMARY_CHARS_MAX), Check::Language("en".to_owned())];
    checks.extend(kept.map(Check::Contains));
    let wrong = Facts { cost: facts.cost + 1 + dice.number(0, 90), ..facts };
    Task::text(head + &report, Check::All(checks), facts.summary(), wrong.summary())
}

/// What a summary must keep.
#[derive(Clone, Copy)]
struct Facts {
    project: &'static str,
    town: &'static str,
    person: &'static str,
    /// Thousands of dollars; three digits, so that nobody writes a comma into it.
    cost: u64,
    month: &'static str,
    colour: &'static str,
}

impl Facts {
    fn new(dice: &mut Dice) -> Self {
        Self {
            project: dice.pick(THINGS),
            town: dice.pick(TOWNS),
            person: dice.pick(PEOPLE),
            cost: dice.number(120, 890),
            month: dice.pick(MONTHS),
            colour: dice.pick(COLOURS),
        }
    }

    /// Two paragraphs, each with some of the facts.
    fn paragraphs(&self, dice: &mut Dice) -> Vec<String> {
        let Self { project, town, person, cost, month, colour } = self;
        let (parts, rooms) = (dice.number(11, 60), dice.number(110, 400));
        vec![
            format!(
                "The {project} project will give {town} a new public house for music and sport. {person} is in charge of \
                 it and reports to the city every week. The work has {parts} parts, and all but two of them are on time. \
                 The front will be {colour}, as the people of the street asked for."
            ),
            format!(
                "All in all the house will cost {cost} thousand dollars, roof and garden included. It has {rooms} square \
                 meters of floor. The doors open to the public in {month}, one week after the last safety check."
            ),
        ]
    }

    fn summary(&self) -> String {
        let Self { project, town, person, cost, month, colour } = self;
        format!(
            "The {project} project builds a public house for music and sport in {town}. {person} is in charge and reports \
             to the city each week. Almost all parts of the work are on time, and the front will be {colour}. The total \
             cost is {cost} thousand dollars with roof and garden, and the house opens to the public in {month}."
        )
    }
}

/// A paragraph that a summary leaves out: no town, no name, no month, no cost.
fn aside(dice: &mut Dice) -> String {
    let [word, other, third] = dice.some(THINGS);
    let (n, m) = (dice.number(11, 99), dice.number(11, 99));
    match dice.number(0, 3) {
        0 => format!(
            "In the second week the team met {n} people who live near the site. Most of them asked about the {word} and \
             the {other}. A few wanted to know how loud the machine behind the {third} would be, and the answer was that \
             nobody would hear it at night."
        ),
        1 => format!(
            "The old {word} was taken down by hand, since a crane did not fit between the {other} and the wall. {n} trucks \
             took it away. Some of the stone will be used again for the path that leads to the {third}."
        ),
        2 => format!(
            "There were {n} offers for the {word} and {m} for the {other}. The team read all of them twice and took the \
             second best, because the best one could not be there before the {third} was ready."
        ),
        _ => format!(
            "Rain stopped the work for {n} hours. During that time the crew moved the {word} into the hall, cleaned the \
             {other}, and wrote down what was still missing. The list has {m} lines, and the {third} is on top of it."
        ),
    }
}
