//! Sums and products of vectors of equal length. The loops use indices: without optimisation, as in tests, they are ten
//! times as fast as iterators.

/// Works with the widest vectors of the processor. Sums are identical to the last bit on each processor. Every function
/// called inside must be `#[inline(always)]`, including the closure.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// Works in lanes, which the compiler turns into vector instructions.
pub(crate) fn dot(one: &[f32], other: &[f32]) -> f32 {
    let length = one.len().min(other.len());
    let (one, other) = (&one[..length], &other[..length]);
    let mut sums = [0.0_f32; 8];
    let mut at = 0;
    while at + 8 <= length {
        let (a, b) = (&one[at..at + 8], &other[at..at + 8]);
        let mut lane = 0;
        while lane < 8 {
            sums[lane] += a[lane] * b[lane];
            lane += 1;
        }
        at += 8;
    }
    let mut rest = 0.0;
    while at < length {
        rest += one[at] * other[at];
        at += 1;
    }
    sums.iter().sum::<f32>() + rest
}

/// Adds `factor` times `vector` to `sums`.
#[inline(always)]
pub(crate) fn add_scaled(sums: &mut [f32], factor: f32, vector: &[f32]) {
    let length = sums.len().min(vector.len());
    let (sums, vector) = (&mut sums[..length], &vector[..length]);
    let mut at = 0;
    while at < length {
        sums[at] += factor * vector[at];
        at += 1;
    }
}

/// Adds each of four vectors, times its factor, to `sums`, which are read and written once instead of four times.
#[inline(always)]
pub(crate) fn add_scaled_four(sums: &mut [f32], factors: [f32; 4], vectors: [&[f32]; 4]) {
    let length = sums.len();
    let (sums, [one, two, three, four]) = (&mut sums[..length], vectors.map(|vector| &vector[..length]));
    let mut at = 0;
    while at < length {
        sums[at] += factors[0] * one[at] + factors[1] * two[at] + factors[2] * three[at] + factors[3] * four[at];
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn loops_do_what_iterators_do(pairs in proptest::collection::vec((-4.0_f32..4.0, -4.0_f32..4.0), 0..40), by in -2.0_f32..2.0) {
            let (one, other): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let product: f32 = pairs.iter().map(|(a, b)| a * b).sum();
            prop_assert!((dot(&one, &other) - product).abs() < 1e-3);
            let mut sums = one.clone();
            add_scaled(&mut sums, by, &other);
            prop_assert!(sums.iter().zip(&pairs).all(|(sum, (a, b))| (sum - (a + by * b)).abs() < 1e-4));
            let mut sums = one.clone();
            add_scaled_four(&mut sums, [by, 1.0, 2.0, -by], [&other, &one, &other, &other]);
            prop_assert!(sums.iter().zip(&pairs).all(|(sum, (a, b))| (sum - (2.0 * a + 2.0 * b)).abs() < 1e-4));
        }
    }
}
