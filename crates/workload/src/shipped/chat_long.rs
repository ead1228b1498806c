//! `chat-long`: a conversation in which the user told several things, and a last question about one of them.

use inferometer_wire::request::Message;

use super::dice::Dice;
use super::length::{FILLER_MIN, filler, tokens};
use super::stock::{COLOURS, MONTHS, PEOPLE, THINGS, TOWNS};
use super::task::{Asked, Task, short_with};

/// The longest right answer, in characters.
const ANSWER_CHARS_MAX: u64 = 200;

/// Something the user tells, `{}` for its value, and how it is asked for.
struct Fact {
    told: &'static str,
    asked: &'static str,
    value: fn(&mut Dice) -> String,
}

const FACTS: [Fact; 6] = [
    Fact {
        told: "my locker at the pool is number {}",
        asked: "What is the number of my locker at the pool?",
        value: |dice| dice.number(100, 999).to_string(),
    },
    Fact {
        told: "my train leaves at {}",
        asked: "When does my train leave?",
        value: |dice| format!("{}:{}", dice.number(10, 22), dice.number(10, 59)),
    },
    Fact {
        told: "I can spend {} dollars on the trip",
        asked: "How many dollars can I spend on the trip?",
        value: |dice| dice.number(200, 990).to_string(),
    },
    Fact {
        told: "my sister lives in {} now",
        asked: "In which town does my sister live now?",
        value: |dice| dice.pick(TOWNS).to_owned(),
    },
    Fact {
        told: "my guide will be called {}",
        asked: "What is the name of my guide?",
        value: |dice| dice.pick(PEOPLE).to_owned(),
    },
    Fact {
        told: "the trip begins in {}",
        asked: "In which month does the trip begin?",
        value: |dice| dice.pick(MONTHS).to_owned(),
    },
];

/// A conversation of exactly `wanted` tokens of text, or of the fewest that tell everything.
pub(super) fn task(dice: &mut Dice, wanted: usize) -> Task {
    let [wanted_fact, others @ ..]: [usize; 4] = dice.some(&[0, 1, 2, 3, 4, 5]);
    let fact = &FACTS[wanted_fact];
    let (mut right, first) = ((fact.value)(dice), (fact.value)(dice));
    let mut exchanges: Vec<Exchange> = others.iter().map(|other| told(dice, &FACTS[*other])).collect();
    exchanges.push(Exchange::telling(dice, &fact.told.replace("{}", &first)));
    let is_corrected = first != right && dice.chance(50);
    let wrong = if is_corrected { first } else { std::mem::replace(&mut right, first) };
    let question = format!("{} Answer in one short sentence.", fact.asked);
    let mut length = tokens(&question) + exchanges.iter().map(Exchange::tokens).sum::<usize>();
    let correction = is_corrected.then(|| Exchange::correcting(dice, &fact.told.replace("{}", &right)));
    length += correction.as_ref().map_or(0, Exchange::tokens);
    loop {
        let exchange = Exchange::passing(dice);
        if length + exchange.tokens() + FILLER_MIN > wanted {
            break;
        }
        length += exchange.tokens();
        exchanges.push(exchange);
    }
    let mut exchanges = dice.shuffled(exchanges);
    if wanted.saturating_sub(length) >= FILLER_MIN
        && let Some(first) = exchanges.first_mut()
    {
        first.reply.push_str(&filler(dice, wanted - length));
    }
    exchanges.extend(correction);
    let wrong = if wrong == right { "I do not remember that.".to_owned() } else { said(&wrong) };
    let mut task =
        Task::text(String::new(), short_with(right.clone(), ANSWER_CHARS_MAX), said(&right), wrong);
    task.asked = Asked::Messages(messages(exchanges, question));
    task
}

fn said(value: &str) -> String {
    format!("You told me: {value}.")
}

fn messages(exchanges: Vec<Exchange>, question: String) -> Vec<Message> {
    let message = |role: &str, content: String| Message { role: role.to_owned(), content };
    let turns = exchanges
        .into_iter()
        .flat_map(|Exchange { user, reply }| [message("user", user), message("assistant", reply)]);
    turns.chain([message("user", question)]).collect()
}

fn told(dice: &mut Dice, fact: &Fact) -> Exchange {
    let value = (fact.value)(dice);
    Exchange::telling(dice, &fact.told.replace("{}", &value))
}

/// What the user says and what the assistant answers.
struct Exchange {
    user: String,
    reply: String,
}

impl Exchange {
    fn tokens(&self) -> usize {
        tokens(&self.user) + tokens(&self.reply)
    }

    fn telling(dice: &mut Dice, what: &str) -> Self {
        let (colour, word) = (dice.pick(COLOURS), dice.pick(THINGS));
        let user = match dice.number(0, 2) {
            0 => {
                format!(
                    "Before I forget it: {what}. I wrote it on the {colour} card, next to the word {word}."
                )
            }
            1 => format!(
                "Something else you should know: {what}. Please keep that in mind, and also the word {word}."
            ),
            _ => format!("By the way, {what}. I heard it while I was looking for the {colour} {word}."),
        };
        Self { user, reply: "Good to know, thank you. I will keep it in mind.".to_owned() }
    }

    fn correcting(dice: &mut Dice, what: &str) -> Self {
        let user = format!(
            "I have to correct something I told you before: {what}. My {} note was wrong.",
            dice.pick(COLOURS)
        );
        Self { user, reply: "No problem, I will use the new one from now on.".to_owned() }
    }

    /// Talk that has nothing to do with the question.
    fn passing(dice: &mut Dice) -> Self {
        let [word, other, more] = dice.some(THINGS);
        let user = match dice.number(0, 2) {
            0 => format!(
                "What would you pack if you had room for the {word} or the {other}, but not for both?"
            ),
            1 => {
                format!(
                    "I read a story about one {word} and one {other} today. Does the end make sense to you?"
                )
            }
            _ => format!("Which one is better for a long walk in the rain, my {word} or my {other}?"),
        };
        let reply = format!(
            "That depends on what you want to do. The {word} takes less space, and the {other} will last longer. Most \
             people would take the first one and leave the {more} at home. If you are not sure, ask a friend who has \
             done it before."
        );
        Self { user, reply }
    }
}
