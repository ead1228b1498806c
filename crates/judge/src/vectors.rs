//! Answers that are vectors: is there one, and can anything be found with it?

use inferometer_wire::Vectors;

use crate::Case;
use crate::verdict::Finding;

/// v.vector.empty: no vector, or one without components.
pub(crate) fn empty(case: &Case<'_>) -> Option<Finding> {
    let Vectors { dimensions, .. } = case.answer.vectors?;
    (dimensions == 0).then_some(Finding::invalid("empty"))
}

/// v.vector.zero: all components are 0. Such a vector has no direction, and no cosine with any other: nothing can be
/// found with it or by it, so that it is worth as little as none.
pub(crate) fn zero(case: &Case<'_>) -> Option<Finding> {
    case.answer.vectors?.has_zero.then_some(Finding::invalid("zero_vector"))
}
