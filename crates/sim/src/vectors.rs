//! Vectors in place of a text: of a length that is asked for, each always the same for the same model and text.

use rand::RngExt;
use rand_distr::StandardNormal;

use crate::random::{Purpose, random};

/// Components of a vector where the request does not say how many.
pub(crate) const DIMENSIONS: u32 = 64;

/// The most components of a vector.
pub(crate) const DIMENSIONS_MAX: u32 = 65_536;

/// The most vectors of one answer.
pub(crate) const COUNT_MAX: u32 = 2_048;

/// Vectors that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// One for each text.
    pub(crate) count: u32,
    pub(crate) dimensions: u32,
    /// As base64 of 32-bit numbers instead of a list.
    pub(crate) base64: bool,
}

/// Vectors of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Vectors {
    pub(crate) vectors: Vec<Vec<f32>>,
    pub(crate) base64: bool,
}

impl Wanted {
    /// The same, and none of them.
    pub(crate) fn none(self) -> Self {
        Self { count: 0, ..self }
    }

    /// Vectors of length 1, by the model's seed and the texts alone.
    pub(crate) fn drawn(self, seed: u64, texts: u64) -> Vectors {
        let vector = |i: u32| unit(seed, texts.wrapping_add(u64::from(i)), self.dimensions);
        Vectors { vectors: (0..self.count).map(vector).collect(), base64: self.base64 }
    }
}

impl Vectors {
    pub(crate) fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }
}

/// A direction drawn evenly from all there are: normal components, brought to length 1.
fn unit(seed: u64, text: u64, dimensions: u32) -> Vec<f32> {
    let mut random = random(seed, text, Purpose::Vector);
    let components: Vec<f64> = (0..dimensions).map(|_| random.sample(StandardNormal)).collect();
    let length = components.iter().map(|component| component * component).sum::<f64>().sqrt();
    components.iter().map(|component| (component / length) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_of_length_one_and_of_their_text() {
        let wanted = Wanted { count: 2, dimensions: 100, base64: false };
        let Vectors { vectors, .. } = wanted.drawn(7, 1);
        for vector in &vectors {
            let length: f32 = vector.iter().map(|component| component * component).sum();
            assert!((length - 1.0).abs() < 1e-4 && vector.len() == 100, "{length}");
        }
        assert_ne!(vectors[0], vectors[1]);
        assert_eq!(wanted.drawn(7, 1).vectors, vectors);
        assert_ne!(wanted.drawn(8, 1).vectors, vectors);
        assert!(wanted.none().drawn(7, 1).is_empty());
    }
}
