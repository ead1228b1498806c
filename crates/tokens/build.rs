//! Writes the vocabulary as a table that needs no work at start: its tokens, where each begins, and a hash table of them.
//!
//! Building such a table at each start took 130 ms of processor time and 46 MiB, more than a short run's whole receiving.

#[path = "src/hash.rs"]
mod hash;

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

use hash::{SLOTS, slots};

/// The tokens of o200k that text can be made of; behind them are special ones.
const TOKENS: u32 = 199_998;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/hash.rs");
    let vocabulary = tiktoken_rs::o200k_base().map_err(|error| error.to_string())?;
    let mut tokens = Vec::new();
    let mut starts = vec![0];
    let mut table = vec![0_u32; SLOTS];
    for rank in 0..TOKENS {
        let token =
            vocabulary.decode_bytes(&[rank]).map_err(|error| format!("no token {rank}: {error:?}"))?;
        let free = slots(&token).find(|&slot| table[slot] == 0).ok_or("the table is full")?;
        // Zero is an empty slot.
        table[free] = rank + 1;
        tokens.extend_from_slice(&token);
        starts.push(u32::try_from(tokens.len())?);
    }
    let folder = env::var("OUT_DIR")?;
    let write = |name: &str, bytes: &[u8]| fs::write(Path::new(&folder).join(name), bytes);
    write("tokens", &tokens)?;
    write("starts", &little_endian(&starts))?;
    write("slots", &little_endian(&table))?;
    Ok(())
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
