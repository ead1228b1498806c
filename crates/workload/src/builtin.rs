//! The prompts that are compiled in: short, varied, harmless, our own.

/// The prompts. Their order gives their ids, which stand in recorded runs: append, never reorder.
pub(crate) const PROMPTS: [&str; 36] = [
    "Explain in three sentences why the sky is blue at noon and red at sunset.",
    "Write a short story about a lighthouse keeper who finds a letter in a bottle.",
    "List five ways to save water at home, and say for each how much it saves.",
    "What is the difference between weather and climate? Give one example of each.",
    "Write a Python function that tells whether a string is a palindrome, then explain it line by line.",
    "A train leaves at 9:15 and arrives at 13:40. How long is the journey? Show each step.",
    "Describe how bread dough rises to someone who has never baked.",
    "Write a polite email that moves a meeting from Tuesday to Thursday and gives a reason.",
    "Compare a bicycle and a bus for a daily trip of eight kilometres: time, cost and comfort.",
    "Name the planets of the solar system in order and say one thing about each.",
    "Translate into French, then into Spanish: the library opens at nine and closes at six.",
    "Write a poem of four stanzas about the first snow in a small town.",
    "Explain what a hash table is, and when one would rather use a sorted list.",
    "Plan a weekend in a city by the sea for two people who like museums and good food.",
    "How does a refrigerator keep food cold? Start with what happens to the refrigerant.",
    "Give a recipe for a vegetable soup for four people, with amounts and times.",
    "Write an SQL query that finds the ten customers with the most orders, and explain the join.",
    "Summarise the rules of chess for a child in fewer than two hundred words.",
    "What are the arguments for and against working from home? Give three of each.",
    "Describe the life cycle of a butterfly, one paragraph for each stage.",
    "A shop takes 20 percent off a coat of 85 dollars, then 10 percent off that. What is the price?",
    "Write a dialogue between a curious robot and a gardener on the first day of spring.",
    "Explain how a vaccine trains the immune system, without technical terms.",
    "Suggest names and slogans for a bakery that opens only in the morning.",
    "What happens in a computer between pressing a key and seeing the letter on the screen?",
    "Write a regular expression for dates such as 2026-11-30 and explain each of its parts.",
    "Tell the story of the invention of printing in ten sentences.",
    "Which trees would you plant along a street in a dry city, and why those?",
    "Explain compound interest with a savings account of one thousand dollars over ten years.",
    "Write a checklist for a family that moves to another flat, ordered by week.",
    "How do tides work, and why are there two of them a day?",
    "Turn this into a friendly reminder: rent is due, pay by Friday, or a fee applies.",
    "Describe a painting that does not exist so well that somebody could paint it.",
    "Write a Rust function that reverses the words of a sentence, with two tests.",
    "What should a beginner know before a first day of hiking in the mountains?",
    "Invent a board game for three players: its goal, its pieces, and one round as an example.",
];

/// The id of the prompt at `index`.
pub(crate) fn id(index: usize) -> String {
    format!("builtin-{:02}", index + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn prompts_are_short_and_none_is_twice() {
        assert!(PROMPTS.iter().all(|prompt| (40..=120).contains(&prompt.len())));
        assert_eq!(PROMPTS.iter().collect::<HashSet<_>>().len(), PROMPTS.len());
        assert_eq!((id(0), id(35)), ("builtin-01".to_owned(), "builtin-36".to_owned()));
    }
}
