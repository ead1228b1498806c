//! The vocabulary: which bytes are a token, and of which rank. Written by `build.rs`.

use crate::hash::{SLOTS, slots};

/// All tokens, one behind the other.
static TOKENS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tokens"));
/// Where each token begins among them, and where the last ends.
static STARTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starts"));
/// The hash table: a rank and one, or zero.
static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/slots"));

const _: () = assert!(TABLE.len() == SLOTS * 4);

/// The rank of the token of exactly these bytes. Of two tokens the one of lower rank is made first.
pub(crate) fn rank(bytes: &[u8]) -> Option<u32> {
    for slot in slots(bytes) {
        let rank = number(TABLE, slot)?.checked_sub(1)?;
        if token(rank) == Some(bytes) {
            return Some(rank);
        }
    }
    None
}

fn token(rank: u32) -> Option<&'static [u8]> {
    let (start, end) = (number(STARTS, rank as usize)?, number(STARTS, rank as usize + 1)?);
    TOKENS.get(start as usize..end as usize)
}

fn number(from: &[u8], index: usize) -> Option<u32> {
    from.get(index * 4..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}
