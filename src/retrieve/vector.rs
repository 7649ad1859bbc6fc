//! Unit vectors, compared exactly.
//!
//! Ten thousand vectors of 384 floats are 15 MB, and reading them takes most of the time. So each row is stored twice:
//! as floats, for the few scores that are shown, and as 8-bit codes with one scale per row, for the pass over all of
//! them. The codes' cosines are within 0.01 of the floats', and in practice within 0.003.

use pulp::Arch;

/// Rows of unit vectors with the same dimension.
#[derive(Debug)]
pub(super) struct Vectors {
    dimensions: usize,
    floats: Vec<f32>,
    codes: Vec<i8>,
    /// The value of one step of a row's codes.
    scales: Vec<f32>,
}

/// A query vector, coded once for many rows.
#[derive(Debug, Clone)]
pub(super) struct Coded<'a> {
    floats: &'a [f32],
    /// 8-bit values in 16 bits, as the multiplication needs them.
    codes: Vec<i16>,
    scale: f32,
}

impl<'a> Coded<'a> {
    /// `None` if the vector has a value that is not finite.
    #[must_use]
    pub(super) fn new(floats: &'a [f32]) -> Option<Self> {
        if !floats.iter().all(|value| value.is_finite()) {
            return None;
        }
        let scale = step(floats);
        Some(Self { floats, codes: floats.iter().map(|&value| i16::from(code(value, scale))).collect(), scale })
    }
}

impl Vectors {
    /// `floats` is row after row, each of length 1 and finite.
    #[must_use]
    pub(super) fn new(dimensions: usize, floats: Vec<f32>) -> Self {
        let rows = floats.chunks_exact(dimensions.max(1));
        let scales: Vec<f32> = rows.clone().map(step).collect();
        let mut codes = Vec::with_capacity(floats.len());
        for (row, &scale) in rows.zip(&scales) {
            codes.extend(row.iter().map(|&value| code(value, scale)));
        }
        Self { dimensions, floats, codes, scales }
    }

    #[must_use]
    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }

    #[must_use]
    pub(super) const fn dimensions(&self) -> usize {
        self.dimensions
    }

    #[must_use]
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.floats[row * self.dimensions..(row + 1) * self.dimensions]
    }

    /// The cosine of one row, from the floats. The same on every machine.
    #[must_use]
    pub(super) fn cosine(&self, query: &Coded<'_>, row: usize) -> f32 {
        let row = self.row(row);
        Arch::new().dispatch(
            #[inline(always)]
            || dot(query.floats, row),
        )
    }

    /// The cosines of `rows` within 0.01, from the codes, into `cosines` (of the same length). The same on every
    /// machine.
    ///
    /// # Panics
    /// If some of `rows` do not exist.
    pub(super) fn approximate(&self, query: &Coded<'_>, rows: std::ops::Range<usize>, cosines: &mut [f32]) {
        let codes = &self.codes[rows.start * self.dimensions..rows.end * self.dimensions];
        let pass = Pass { query, dimensions: self.dimensions.max(1), codes, scales: &self.scales[rows], cosines };
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            return pulp::Simd::vectorize(simd, Avx2 { simd, pass });
        }
        Arch::new().dispatch(
            #[inline(always)]
            || pass.run(product),
        );
    }

    /// As [`Self::approximate`], for one row at a time, for walks that jump.
    #[inline]
    #[must_use]
    pub(super) fn approximate_one(&self, query: &Coded<'_>, row: usize) -> f32 {
        let mut cosine = [0.0];
        self.approximate(query, row..row + 1, &mut cosine);
        cosine[0]
    }
}

fn step(row: &[f32]) -> f32 {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest > 0.0 { largest / 127.0 } else { 1.0 }
}

#[expect(clippy::cast_possible_truncation, reason = "a float's cast saturates, and the scale keeps it within 127")]
fn code(value: f32, scale: f32) -> i8 {
    (value / scale).round() as i8
}

/// One pass over some rows.
struct Pass<'a> {
    query: &'a Coded<'a>,
    dimensions: usize,
    codes: &'a [i8],
    scales: &'a [f32],
    cosines: &'a mut [f32],
}

impl Pass<'_> {
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "at most 127 * 127 * dimensions; the last bits don't matter")]
    fn run(self, product: impl Fn(&[i16], &[i8]) -> i32) {
        // Indexed rather than zipped: a call that is not inlined here costs as much as a row.
        for (at, cosine) in self.cosines.iter_mut().enumerate() {
            let row = &self.codes[at * self.dimensions..(at + 1) * self.dimensions];
            *cosine = product(&self.query.codes, row) as f32 * self.scales[at] * self.query.scale;
        }
    }
}

#[inline(always)]
fn product(query: &[i16], row: &[i8]) -> i32 {
    let length = query.len().min(row.len());
    let (query, row) = (&query[..length], &row[..length]);
    let mut sum = 0;
    for at in 0..length {
        sum += i32::from(query[at]) * i32::from(row[at]);
    }
    sum
}

/// Hand-written for AVX2, since the compiler uses only half of a register's width: twice as fast (6 against 12 ns for
/// 384 dimensions).
#[cfg(target_arch = "x86_64")]
struct Avx2<'a> {
    simd: pulp::x86::V3,
    pass: Pass<'a>,
}

#[cfg(target_arch = "x86_64")]
impl pulp::WithSimd for Avx2<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let (avx, avx2) = (self.simd.avx, self.simd.avx2);
        self.pass.run(
            #[inline(always)]
            |query, row| {
                let (queries, query_rest) = query.as_chunks::<32>();
                let (rows, row_rest) = row.as_chunks::<32>();
                let mut sums = [avx._mm256_setzero_si256(); 2];
                for at in 0..queries.len().min(rows.len()) {
                    let halves: [[i16; 16]; 2] = pulp::cast(queries[at]);
                    let row_halves: [[i8; 16]; 2] = pulp::cast(rows[at]);
                    for half in 0..2 {
                        let row = avx2._mm256_cvtepi8_epi16(pulp::cast(row_halves[half]));
                        let products = avx2._mm256_madd_epi16(row, pulp::cast(halves[half]));
                        sums[half] = avx2._mm256_add_epi32(sums[half], products);
                    }
                }
                let lanes: [i32; 8] = pulp::cast(avx2._mm256_add_epi32(sums[0], sums[1]));
                let rest = if row_rest.is_empty() { 0 } else { product(query_rest, row_rest) };
                lanes.iter().sum::<i32>() + rest
            },
        );
    }
}

/// Sums in sixteen lanes on every machine, so that it can be vectorised and the result is the same everywhere.
#[inline(always)]
fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    let (ones, one_rest) = one.as_chunks::<16>();
    let (others, other_rest) = other.as_chunks::<16>();
    for (one, other) in ones.iter().zip(others) {
        for lane in 0..16 {
            lanes[lane] += one[lane] * other[lane];
        }
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(one, other)| one * other).sum();
    lanes.iter().sum::<f32>() + rest
}

/// `vector` scaled to length 1; `None` if it has no direction or a value that is not finite.
#[must_use]
pub(super) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    if !length.is_finite() || length < 1e-12 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a component of a unit vector")]
    vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    Some(vector)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vectors(dimensions: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0_f32..1.0, dimensions).prop_filter_map("no direction", unit)
    }

    proptest! {
        #[test]
        fn both_cosines_are_the_plain_one(rows in prop::collection::vec(vectors(67), 1..20), query in vectors(67)) {
            let kept = Vectors::new(67, rows.concat());
            let coded = Coded::new(&query).expect("finite");
            let mut near = vec![0.0; kept.len()];
            kept.approximate(&coded, 0..kept.len(), &mut near);
            for (at, row) in rows.iter().enumerate() {
                let plain: f64 = row.iter().zip(&query).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum();
                prop_assert!((f64::from(kept.cosine(&coded, at)) - plain).abs() < 1e-5);
                prop_assert!((f64::from(near[at]) - plain).abs() < 0.01, "{} {plain}", near[at]);
                prop_assert_eq!(near[at], kept.approximate_one(&coded, at));
                prop_assert_eq!(kept.row(at), &row[..]);
            }
        }
    }

    #[test]
    fn the_pass_is_the_same_with_and_without_simd() {
        let rows: Vec<i8> = (0..99 * 3).map(|at: i32| (at * 73 % 255 - 127) as i8).collect();
        let query = Coded { floats: &[], codes: (0..99).map(|at: i16| at * 31 % 255 - 127).collect(), scale: 1.0 };
        let kept = Vectors { dimensions: 99, floats: Vec::new(), codes: rows.clone(), scales: vec![1.0; 3] };
        let mut cosines = [0.0; 3];
        kept.approximate(&query, 0..3, &mut cosines);
        let plain: Vec<f32> = rows.chunks_exact(99).map(|row| product(&query.codes, row) as f32).collect();
        assert_eq!(cosines[..], plain[..]);
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        assert!(Coded::new(&[0.0, f32::NAN]).is_none());
        assert!(unit(vec![0.0, 0.0]).is_none());
        assert!(unit(vec![f32::INFINITY, 0.0]).is_none());
        assert!(unit(vec![f32::MAX, f32::MAX]).is_some());
    }

    #[test]
    fn no_rows_and_null_rows_are_harmless() {
        let none = Vectors::new(3, Vec::new());
        assert_eq!(none.len(), 0);
        let null = Vectors::new(2, vec![0.0, 0.0]);
        assert!(null.approximate_one(&Coded::new(&[0.0, 1.0]).expect("finite"), 0) == 0.0);
    }
}
