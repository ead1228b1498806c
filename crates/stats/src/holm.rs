//! Several tests as one family.

/// Each p corrected so that the chance of any false rejection in the family is at most its level: with the p in rising
/// order, p'₍ᵢ₎ = max over j ≤ i of min(1, (m − j + 1) p₍ⱼ₎). (Holm 1979, Scand. J. Statist. 6.) In the order given; a p
/// that is no number counts as 1.
pub fn adjust(ps: &[f64]) -> Vec<f64> {
    let clean: Vec<f64> = ps.iter().map(|&p| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) }).collect();
    let mut order: Vec<usize> = (0..clean.len()).collect();
    order.sort_by(|&a, &b| clean[a].total_cmp(&clean[b]));
    let mut adjusted = clean.clone();
    let mut largest = 0.0_f64;
    for (place, &index) in order.iter().enumerate() {
        largest = largest.max(((clean.len() - place) as f64 * clean[index]).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ps: &[f64], expected: &[f64]) {
        let found = adjust(ps);
        let is_close = found.len() == expected.len()
            && found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
        assert!(is_close, "{ps:?}: {found:?}");
    }

    #[test]
    fn known_families() {
        check(&[], &[]);
        check(&[0.03], &[0.03]);
        // R: p.adjust(c(.01, .04, .03, .005), "holm").
        check(&[0.01, 0.04, 0.03, 0.005], &[0.03, 0.06, 0.06, 0.02]);
        check(&[0.6, f64::NAN, 0.5], &[1.0, 1.0, 1.0]);
        check(&[0.02, 0.02], &[0.04, 0.04]);
    }
}
