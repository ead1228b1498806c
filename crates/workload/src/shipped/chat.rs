//! `chat`: short questions. Two in three ask for an explanation that must hold two given words, so that each is new and
//! an answer from memory does not pass; one in three has a single right answer.

use inferometer_judge::Check;

use super::dice::Dice;
use super::stock::{DAYS, GOODS, PEOPLE};
use super::task::{Task, capitalised, number, one_word};

/// The longest answer to an open question, in characters.
const OPEN_CHARS_MAX: u64 = 2_000;

/// Things to explain.
const TOPICS: &[&str] = &[
    "why bread rises",
    "how a bicycle stays upright",
    "why the sea is salty",
    "how a lock with a key works",
    "why leaves change colour in autumn",
    "how soap removes grease",
    "why the moon shows us one side only",
    "how a kettle knows when to stop",
    "why metal feels colder than wood",
    "how bees find their way home",
    "why popcorn pops",
    "how glass is made",
    "why some birds travel in winter",
    "how a sail can pull against the wind",
    "why onions make us cry",
    "how a magnet is made",
    "why ice floats",
    "how a piano makes its sound",
    "why yawning is catching",
    "how a rainbow comes about",
    "why tea grows weaker with each cup",
    "how a zip fastener closes",
    "why roads are salted in winter",
    "how an echo is made",
];

/// People to explain to.
const LISTENERS: &[&str] = &[
    "a child of eight",
    "a tired neighbour",
    "a class of adults",
    "somebody on the phone",
    "a sceptical aunt",
    "a new colleague",
    "a group of tourists",
    "a friend who likes jokes",
    "a farmer",
    "a retired engineer",
];

pub(super) fn task(dice: &mut Dice) -> Task {
    match dice.number(0, 11) {
        0 => weekday(dice),
        1 => first_of_alphabet(dice),
        2 => heaviest(dice),
        3 => left_over(dice),
        _ => open(dice),
    }
}

fn open(dice: &mut Dice) -> Task {
    let (topic, listener) = (dice.pick(TOPICS), dice.pick(LISTENERS));
    let [one, other]: [&str; 2] = dice.some(inferometer_tokens::words());
    let sentences = dice.number(3, 6);
    let asked = format!(
        "Explain to {listener} {topic}, in {sentences} sentences of plain English. Use the words \"{one}\" and \
         \"{other}\" somewhere."
    );
    let holds =
        |word: &str| Check::Any(vec![Check::Contains(word.to_owned()), Check::Contains(capitalised(word))]);
    let check = Check::All(vec![
        Check::NotEmpty,
        Check::MaxLength(OPEN_CHARS_MAX),
        Check::Language("en".to_owned()),
        holds(one),
        holds(other),
    ]);
    let answer = |ends: &str| {
        format!(
            "Let me tell you {topic}, the way I would tell it to {listener}. There are many small steps in it, and each \
             of them is simple when you look at it alone. First something is put in motion, then it meets with \
             resistance, and in the end the two find a balance that you can see, hear or feel. That is all there is to \
             it. {ends}"
        )
    };
    let right = answer(&format!("If you want a picture, think of the words {one} and {other} side by side."));
    Task::text(asked, check, right, answer("If you want a picture, draw 1 for yourself."))
}

fn weekday(dice: &mut Dice) -> Task {
    let (today, later) = (dice.number(0, 6), dice.number(8, 60));
    let day = |offset: u64| DAYS[((today + offset) % 7) as usize];
    let asked = format!(
        "{} says on a {}: \"In {later} days I will be back.\" On which day of the week is that? Answer with the day alone.",
        dice.pick(PEOPLE),
        day(0)
    );
    Task::text(asked, one_word(day(later)), day(later), day(later + 1))
}

fn first_of_alphabet(dice: &mut Dice) -> Task {
    let mut list: [&str; 5] = dice.some(inferometer_tokens::words());
    let asked = format!(
        "Which of these words comes first in the alphabet: {}? Answer with the word alone.",
        list.join(", ")
    );
    list.sort_unstable();
    Task::text(asked, one_word(list[0]), list[0], list[1])
}

fn heaviest(dice: &mut Dice) -> Task {
    let [one, two, three]: [&str; 3] = dice.some(inferometer_tokens::words());
    let grams = dice.number(300, 4_000);
    let lighter = [grams - dice.number(20, 140), grams - dice.number(150, 290)];
    let mut goods = [(grams, one), (lighter[0], two), (lighter[1], three)];
    let turn = dice.number(0, 2) as usize;
    goods.rotate_left(turn);
    let said: Vec<String> = goods
        .iter()
        .enumerate()
        .map(|(nth, (grams, label))| match nth {
            1 => format!("box {label} weighs {:.3} kg", *grams as f64 / 1_000.0),
            _ => format!("box {label} weighs {grams} g"),
        })
        .collect();
    let asked =
        format!("The {}. Which box is heaviest? Answer with its label alone, one word.", said.join(", the "));
    Task::text(asked, one_word(one), one, two)
}

fn left_over(dice: &mut Dice) -> Task {
    let [who] = dice.some(PEOPLE);
    let (packs, each, gone) = (dice.number(3, 12), dice.number(4, 12), dice.number(2, 11));
    let goods = dice.pick(GOODS);
    let left = (packs * each) as i64 - gone as i64;
    let asked = format!(
        "{who} has {packs} packs of {each} {goods} and gives {gone} {goods} away. How many are left? Answer with the \
         number alone."
    );
    Task::text(asked, number(left), left.to_string(), (left + 1).to_string())
}
