//! Counting o200k tokens of our own plain text, without the tokenizer: its tables take 0.1 s and 46 MiB, and prompts are
//! made on the shards.
//!
//! It holds for text whose words are one token each after a space, which the tests of the kinds that state a length
//! hold to the tokenizer itself.

use super::dice::Dice;
use super::stock::THINGS;

/// Tokens of `text`: a word one, three digits one, and the space before digits one; punctuation one, with what line
/// ends follow it.
pub(super) fn tokens(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut count) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let run = |is: fn(&u8) -> bool, from: usize| bytes[from..].iter().take_while(|byte| is(byte)).count();
        at += match byte {
            b' ' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => {
                count += 1;
                1
            }
            b' ' => 1,
            b'0'..=b'9' => {
                let digits = run(u8::is_ascii_digit, at);
                count += digits.div_ceil(3);
                digits
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                count += 1;
                run(u8::is_ascii_alphabetic, at)
            }
            _ => {
                count += 1;
                let marks = run(|byte| !byte.is_ascii_alphanumeric() && *byte > b' ', at);
                (marks + run(|byte| *byte == b'\n', at + marks)).max(1)
            }
        };
    }
    count
}

/// Tokens of a [`filler`], at least.
pub(super) const FILLER_MIN: usize = 4;

/// A sentence of exactly `tokens` tokens that says nothing: `Remarks: word word word.`, with a space in front.
pub(super) fn filler(dice: &mut Dice, tokens: usize) -> String {
    let words: Vec<&str> = (3..tokens).map(|_| dice.pick(THINGS)).collect();
    format!(" Remarks: {}.", words.join(" "))
}

#[cfg(test)]
mod tests {
    use inferometer_tokens::{Tokenizer, words};

    use super::*;
    use crate::shipped::stock::{COLOURS, MONTHS, PEOPLE, TOWNS};

    #[test]
    fn our_words_are_one_token_each() {
        let tokenizer = Tokenizer::o200k();
        for word in [PEOPLE, TOWNS, COLOURS, MONTHS, THINGS].concat() {
            assert_eq!(tokenizer.count(&format!(" {word}")), 1, "{word}");
        }
        assert!(THINGS.iter().all(|thing| words().contains(thing)));
        for text in
            ["At 19:05 they came. It was 1850, or 123456 and 007.\n\nYes: no (so) \"it\"", "", "a", "9", " 1"]
        {
            assert_eq!(tokens(text) as u64, tokenizer.count(text), "{text}");
        }
    }

    #[test]
    fn fillers_have_their_tokens() {
        let mut dice = Dice::new(1, 1, 1);
        for wanted in FILLER_MIN..40 {
            let text = format!("Yes.{}", filler(&mut dice, wanted));
            assert_eq!(Tokenizer::o200k().count(&text), wanted as u64 + 2, "{text}");
        }
    }
}
