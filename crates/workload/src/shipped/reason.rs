//! `reason`: arithmetic and logic in words, two to five steps, with one number as the answer.

use super::dice::Dice;
use super::stock::{COLOURS, GOODS, PEOPLE};
use super::task::{Task, number};

/// How the number is to be given.
const END: &str =
    "Work it out step by step if you like, and end with the answer alone, as a number, on the last line.";

/// A problem, its working in one line, and its answer.
type Problem = (String, String, i64);

const PROBLEMS: [fn(&mut Dice) -> Problem; 7] = [shop, tank, rounds, ages, beeps, queue, liars];

pub(super) fn task(dice: &mut Dice) -> Task {
    let (problem, working, answer) = dice.pick(&PROBLEMS)(dice);
    let slip = 1 + dice.number(0, 8) as i64;
    let wrong = if dice.chance(50) && answer > slip { answer - slip } else { answer + slip };
    let check = number(answer);
    Task::text(
        format!("{problem} {END}"),
        check,
        format!("{working}\n{answer}"),
        format!("{working}\n{wrong}"),
    )
}

fn shop(dice: &mut Dice) -> Problem {
    let [buyer] = dice.some(PEOPLE);
    let [one, other] = dice.some(GOODS);
    let (n, p) = (dice.number(3, 14), dice.number(4, 29));
    let (m, q) = (dice.number(2, 9), dice.number(6, 48));
    let (off, total) = (dice.number(3, 12), n * p + m * q);
    let given = (total - off).div_ceil(50) * 50 + 50 * dice.number(0, 1);
    (
        format!(
            "{buyer} buys {n} {one} at {p} crowns each and {m} {other} at {q} crowns each. A voucher takes {off} \
             crowns off the total. {buyer} pays with {given} crowns. How many crowns of change are due?"
        ),
        format!("{n} × {p} + {m} × {q} = {total}; {total} − {off} = {}; {given} − {0} is due.", total - off),
        (given + off) as i64 - total as i64,
    )
}

fn tank(dice: &mut Dice) -> Problem {
    let (leak, minutes) = (dice.number(2, 9), dice.number(7, 38));
    let (net, start) = (dice.number(3, 17), dice.number(11, 95));
    let (pump, full) = (net + leak, start + net * minutes);
    (
        format!(
            "A tank holds {full} litres when it is full. It holds {start} litres now. A pump adds {pump} litres a \
             minute while a leak loses {leak} litres a minute. After how many minutes is the tank full?"
        ),
        format!(
            "{pump} − {leak} = {net} litres a minute; {full} − {start} = {} litres are missing.",
            full - start
        ),
        minutes as i64,
    )
}

fn rounds(dice: &mut Dice) -> Problem {
    let (start, less, times) = (dice.number(4, 15), dice.number(1, 3), dice.number(3, 5));
    let mut value = start;
    let mut steps = vec![start.to_string()];
    for _ in 0..times {
        value = 2 * value - less;
        steps.push(value.to_string());
    }
    let (who, more) = (dice.pick(PEOPLE), dice.number(11, 460));
    (
        format!(
            "{who} starts with {start} and does this {times} times: doubles the number, then subtracts {less}. In the end {who} adds {more}. Which number comes out?"
        ),
        format!("{}; plus {more}.", steps.join(" → ")),
        (value + more) as i64,
    )
}

fn ages(dice: &mut Dice) -> Problem {
    let [older, younger] = dice.some(PEOPLE);
    let (age, years, times) = (dice.number(4, 17), dice.number(2, 9), dice.number(2, 4));
    let apart = times * (age + years) - years - age;
    (
        format!(
            "{older} is {apart} years older than {younger}. In {years} years {older} will be exactly {times} times as \
             old as {younger} will be then. How old is {younger} now?"
        ),
        format!("x + {apart} + {years} = {times} · (x + {years})."),
        age as i64,
    )
}

fn beeps(dice: &mut Dice) -> Problem {
    let (a, b, c) = (dice.number(4, 15), dice.number(16, 28), dice.number(2, 99));
    let [one, other] = dice.some(COLOURS);
    let both = a / gcd(a, b) * b;
    (
        format!(
            "The {one} clock beeps every {a} minutes and the {other} one every {b} minutes. Both beep together now. The third time \
             from now that both beep together, a bell rings {c} minutes later. After how many minutes from now does \
             the bell ring?"
        ),
        format!("The least common multiple of {a} and {b} is {both}; 3 × {both} + {c}."),
        (3 * both + c) as i64,
    )
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn queue(dice: &mut Dice) -> Problem {
    let order: [&str; 5] = dice.some(PEOPLE);
    let clues = order.windows(2).map(|pair| match dice.number(0, 1) {
        0 => format!("{} finished directly after {}.", pair[1], pair[0]),
        _ => format!("{} finished directly before {}.", pair[0], pair[1]),
    });
    let clues: Vec<String> = clues.collect();
    let clues = dice.shuffled(clues).join(" ");
    let place = dice.number(1, 5);
    let who = order[place as usize - 1];
    (
        format!(
            "Five people ran a race, and no two finished together. {clues} In which place, from 1 to 5, did {who} \
             finish?"
        ),
        format!("The order is {}.", order.join(", ")),
        place as i64,
    )
}

/// What one of the three says.
#[derive(Clone, Copy)]
enum Claim {
    /// This one lies.
    Lies(usize),
    /// This one tells the truth.
    True(usize),
    /// So many of the three tell the truth.
    Count(u32),
}

/// Draws of three claims before another problem is taken; about one in three has an answer.
const DRAWS_MAX: u32 = 32;

fn liars(dice: &mut Dice) -> Problem {
    let names: [&str; 3] = dice.some(PEOPLE);
    for _ in 0..DRAWS_MAX {
        let claims: [Claim; 3] = std::array::from_fn(|me| {
            let other = (me + dice.number(1, 2) as usize) % 3;
            match dice.number(0, 2) {
                0 => Claim::Lies(other),
                1 => Claim::True(other),
                _ => Claim::Count(dice.number(0, 2) as u32),
            }
        });
        let Some(answer) = truthful(&claims) else { continue };
        let said = claims.iter().zip(names).map(|(claim, name)| match claim {
            Claim::Lies(who) => format!("{name} says: \"{} lies.\"", names[*who]),
            Claim::True(who) => format!("{name} says: \"{} tells the truth.\"", names[*who]),
            Claim::Count(n) => format!("{name} says: \"Exactly {n} of us three tell the truth.\""),
        });
        let said: Vec<String> = said.collect();
        let floor = dice.number(2, 60);
        let text = format!(
            "{}, {} and {} live on floor {floor}. Each of them either always tells the truth or always lies. {} How \
             many of the three tell the truth?",
            names[0],
            names[1],
            names[2],
            said.join(" ")
        );
        return (text, "Trying all eight cases leaves one count.".to_owned(), i64::from(answer));
    }
    queue(dice)
}

/// How many tell the truth, if every consistent case agrees on it.
fn truthful(claims: &[Claim; 3]) -> Option<u32> {
    let holds = |case: u32, claim: &Claim| match claim {
        Claim::Lies(who) => case >> who & 1 == 0,
        Claim::True(who) => case >> who & 1 == 1,
        Claim::Count(n) => case.count_ones() == *n,
    };
    let consistent = |case: &u32| {
        claims.iter().enumerate().all(|(me, claim)| holds(*case, claim) == (case >> me & 1 == 1))
    };
    let mut counts = (0..8_u32).filter(consistent).map(u32::count_ones);
    let first = counts.next()?;
    counts.all(|count| count == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_tells_the_truth_is_found_by_trying_all() {
        let check = |claims: [Claim; 3], expected| assert_eq!(truthful(&claims), expected);
        check([Claim::Lies(1), Claim::True(0), Claim::Count(1)], None);
        check([Claim::Count(0), Claim::Lies(0), Claim::True(1)], Some(2));
        check([Claim::Lies(1), Claim::Lies(0), Claim::Count(1)], None);
    }

    #[test]
    fn each_problem_has_its_own_answer() {
        let answers =
            |problem: fn(&mut Dice) -> Problem| (0..40).map(move |seq| problem(&mut Dice::new(1, 0, seq)).2);
        for problem in PROBLEMS {
            assert!(answers(problem).collect::<std::collections::HashSet<_>>().len() > 1);
            assert!(answers(problem).all(|answer| (0..1_000_000).contains(&answer)));
        }
        assert_eq!(gcd(12, 18), 6);
    }
}
