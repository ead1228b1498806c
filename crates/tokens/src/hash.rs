//! Where a token stands in the table: one rule for the script that writes it and the code that reads it.

/// Slots of the table, a power of two: 38 % of them are taken, so that a search for what is no token ends soon.
pub(crate) const SLOTS: usize = 1 << 19;

/// The slots to look at for `token`, in order, beginning where its hash (FNV-1a, then mixed) says.
pub(crate) fn slots(token: &[u8]) -> impl Iterator<Item = usize> {
    let hash = token.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let first = (hash ^ (hash >> 32)) as usize;
    (0..SLOTS).map(move |step| first.wrapping_add(step) % SLOTS)
}
