//! Byte pair encoding: the two neighbours that make the token of lowest rank become one, until none do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::vocabulary::rank;

/// What a merge needs, kept from one word to the next.
#[derive(Default)]
pub(crate) struct Merger {
    /// For the start of each part, the start of the next one; the length of the word behind the last.
    next: Vec<usize>,
    /// And of the one before.
    before: Vec<usize>,
    /// Pairs that could become one: the rank, where it starts and where it ends. Some are no pair any more.
    pairs: BinaryHeap<Reverse<(u32, usize, usize)>>,
}

impl Merger {
    /// The ends of the tokens of `word`, in order. In time n log n of its length, whatever it is.
    pub(crate) fn ends(&mut self, word: &[u8]) -> impl Iterator<Item = usize> {
        self.next.clear();
        if rank(word).is_some() {
            self.next.push(word.len());
        } else {
            self.merge(word);
        }
        let mut end = 0;
        std::iter::from_fn(move || {
            end = *self.next.get(end)?;
            Some(end)
        })
    }

    fn merge(&mut self, word: &[u8]) {
        let len = word.len();
        self.next.extend(1..=len);
        self.before.clear();
        self.before.extend((0..len).map(|at| at.saturating_sub(1)));
        self.pairs.clear();
        for start in 0..len.saturating_sub(1) {
            self.push(word, start, start + 2);
        }
        while let Some(Reverse((_, start, end))) = self.pairs.pop() {
            let Some(middle) = self.middle(start, end) else { continue };
            self.join(start, end);
            // A start no more.
            self.join(middle, 0);
            if let Some(before) = self.before.get_mut(end) {
                *before = start;
            }
            if let Some(&behind) = self.next.get(end) {
                self.push(word, start, behind);
            }
            if let Some(&before) = self.before.get(start).filter(|_| start > 0) {
                self.push(word, before, end);
            }
        }
    }

    /// Where `start..end` is two parts: where the second begins.
    fn middle(&self, start: usize, end: usize) -> Option<usize> {
        let middle = *self.next.get(start)?;
        (start < middle && middle < end && self.next.get(middle) == Some(&end)).then_some(middle)
    }

    fn join(&mut self, start: usize, end: usize) {
        if let Some(next) = self.next.get_mut(start) {
            *next = end;
        }
    }

    fn push(&mut self, word: &[u8], start: usize, end: usize) {
        if let Some(rank) = word.get(start..end).and_then(rank) {
            self.pairs.push(Reverse((rank, start, end)));
        }
    }
}
