//! The convex minorant and concave majorant of a step function.

/// One jump of a sample's distribution function, in counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) x: f64,
    /// Values before x.
    pub(super) below: f64,
    /// Values up to x.
    pub(super) upto: f64,
}

/// The steps of sorted values; equal values are one step.
pub(super) fn steps(sorted: &[f64]) -> Vec<Step> {
    let mut below = 0.0;
    let step = |same: &[f64]| {
        let upto = below + same.len() as f64;
        let step = Step { x: same.first().copied().unwrap_or_default(), below, upto };
        below = upto;
        step
    };
    sorted.chunk_by(|a, b| a == b).map(step).collect()
}

/// A corner of a hull.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knot {
    /// Which step it stands at.
    pub(super) index: usize,
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A function that is linear between knots.
pub(super) struct Hull {
    pub(super) knots: Vec<Knot>,
}

impl Hull {
    /// The greatest convex function under the steps' lower corners.
    pub(super) fn minorant(steps: &[Step]) -> Self {
        Self::of(steps.iter().map(|step| (step.x, step.below)), 1.0)
    }

    /// The least concave function over the steps' upper corners.
    pub(super) fn majorant(steps: &[Step]) -> Self {
        Self::of(steps.iter().map(|step| (step.x, step.upto)), -1.0)
    }

    /// Andrew's monotone chain: a corner stays while the turn at it has the sign of `bend`.
    fn of(points: impl Iterator<Item = (f64, f64)>, bend: f64) -> Self {
        let mut knots: Vec<Knot> = Vec::new();
        for (index, (x, y)) in points.enumerate() {
            while let [.., a, b] = knots.as_slice() {
                let turn = (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
                if turn * bend > 0.0 {
                    break;
                }
                knots.pop();
            }
            knots.push(Knot { index, x, y });
        }
        Self { knots }
    }

    /// The height at `x`; the end's height outside.
    pub(super) fn height(&self, x: f64) -> f64 {
        let after = self.knots.partition_point(|knot| knot.x < x);
        match (after.checked_sub(1).and_then(|before| self.knots.get(before)), self.knots.get(after)) {
            (Some(a), Some(b)) => a.y + (b.y - a.y) * ((x - a.x) / (b.x - a.x)),
            (Some(end), None) | (None, Some(end)) => end.y,
            (None, None) => 0.0,
        }
    }

    /// The step of the first knot at or after `x`; the last knot's where there is none.
    pub(super) fn knot_from(&self, x: f64) -> usize {
        let at = self.knots.partition_point(|knot| knot.x < x);
        self.knots.get(at).or(self.knots.last()).map_or(0, |knot| knot.index)
    }

    /// The step of the last knot at or before `x`; the first knot's where there is none.
    pub(super) fn knot_upto(&self, x: f64) -> usize {
        let after = self.knots.partition_point(|knot| knot.x <= x);
        self.knots.get(after.saturating_sub(1)).map_or(0, |knot| knot.index)
    }
}
