//! Approximate search for tens of thousands of rows: a graph of near neighbours (HNSW), built by `hnsw_rs`.
//!
//! Only the links are copied, and walked here over the 8-bit codes of [`Vectors`]: the crate keeps a second copy of all
//! vectors as floats, its loaded index borrows from its loader, and it trusts its files. As plain lists of row numbers
//! the graph takes a tenth of that, can be checked link by link, and a filter costs nothing.

use std::{cmp::Reverse, collections::BinaryHeap};

use hnsw_rs::prelude::{DistL2, Hnsw};

use super::vector::{Coded, Vectors};

/// Links per row; twice as many in the lowest layer.
const LINKS: usize = 16;
/// Rows that are examined to link a new one.
const EFFORT: usize = 200;
/// The number of layers that `hnsw_rs` allows.
const LAYERS: usize = 16;

/// The links between rows, in layers: each row is in the lowest, ever fewer are in those above.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Graph {
    /// A row of the highest layer.
    entry: u32,
    /// Lowest first; never empty.
    layers: Vec<Layer>,
}

#[derive(Debug, PartialEq, Eq)]
struct Layer {
    /// The links of row `i` are `links[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    links: Vec<u32>,
}

impl Layer {
    fn new(rows: Vec<Vec<u32>>) -> Self {
        let mut starts = Vec::with_capacity(rows.len() + 1);
        let mut links = Vec::with_capacity(rows.iter().map(Vec::len).sum());
        starts.push(0);
        for row in rows {
            links.extend(row);
            starts.push(u32::try_from(links.len()).expect("a few dozen links for each of far fewer than 2^27 rows"));
        }
        Self { starts, links }
    }

    fn of(&self, row: u32) -> &[u32] {
        let at = row as usize;
        &self.links[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// A row with its nearness; greater is nearer, and of equals the first row.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NearRow {
    cosine: f32,
    row: u32,
}

impl Eq for NearRow {}

impl Ord for NearRow {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.cosine.total_cmp(&other.cosine).then_with(|| other.row.cmp(&self.row))
    }
}

impl PartialOrd for NearRow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Graph {
    /// Uses every core; takes a minute or two for 100,000 rows. `None` if there are no rows.
    #[must_use]
    pub(super) fn build(vectors: &Vectors) -> Option<Self> {
        let count = vectors.len();
        if count == 0 {
            return None;
        }
        let built = Hnsw::<f32, DistL2>::new(LINKS, count, LAYERS, EFFORT, DistL2 {});
        let rows: Vec<(&[f32], usize)> = (0..count).map(|row| (vectors.row(row), row)).collect();
        built.parallel_insert_slice(&rows);

        let indexation = built.get_point_indexation();
        let highest = usize::from(indexation.get_max_level_observed());
        let mut layers = vec![vec![Vec::new(); count]; highest + 1];
        let mut entry = 0;
        for level in 0..=highest {
            for point in indexation.get_layer_iterator(level) {
                let row = point.get_origin_id();
                if level == highest {
                    entry = narrow(row);
                }
                let neighbours = point.get_neighborhood_id();
                for (layer, neighbours) in layers.iter_mut().zip(neighbours).take(level + 1) {
                    layer[row] = neighbours.iter().map(|neighbour| narrow(neighbour.get_origin_id())).collect();
                }
            }
        }
        Some(Self { entry, layers: layers.into_iter().map(Layer::new).collect() })
    }

    /// The `count` nearest rows that `keep` accepts, nearest first, with their approximate cosines. `effort` rows (at
    /// least `count`) are kept in view on the way: more are slower and miss less.
    #[must_use]
    pub(super) fn nearest(
        &self,
        vectors: &Vectors,
        query: &Coded<'_>,
        count: usize,
        effort: usize,
        keep: impl Fn(usize) -> bool,
    ) -> Vec<(usize, f32)> {
        let near = |row: u32| NearRow { cosine: vectors.approximate_one(query, row as usize), row };
        let mut at = near(self.entry);
        for layer in self.layers.iter().skip(1).rev() {
            while let Some(better) = layer.of(at.row).iter().map(|&row| near(row)).max().filter(|best| *best > at) {
                at = better;
            }
        }
        let Some(lowest) = self.layers.first() else { return Vec::new() };
        let effort = effort.max(count).max(1);
        let mut seen = vec![0_u64; vectors.len().div_ceil(64)];
        let mut first_seen = |row: u32| {
            let (word, bit) = (&mut seen[row as usize / 64], 1 << (row % 64));
            let first = *word & bit == 0;
            *word |= bit;
            first
        };
        first_seen(at.row);
        // Rows in view steer the walk; those of them that `keep` accepts are the answer.
        let (mut ahead, mut view, mut kept) = (BinaryHeap::from([at]), BinaryHeap::new(), BinaryHeap::new());
        view.push(Reverse(at));
        if keep(at.row as usize) {
            kept.push(Reverse(at));
        }
        while let Some(next) = ahead.pop() {
            if view.len() >= effort && view.peek().is_some_and(|Reverse(farthest)| next < *farthest) {
                break;
            }
            for &row in lowest.of(next.row) {
                if !first_seen(row) {
                    continue;
                }
                let found = near(row);
                if view.len() < effort || view.peek().is_some_and(|Reverse(farthest)| found > *farthest) {
                    ahead.push(found);
                    push_bounded(&mut view, found, effort);
                    if keep(row as usize) {
                        push_bounded(&mut kept, found, count);
                    }
                }
            }
        }
        kept.into_sorted_vec().into_iter().map(|Reverse(near)| (near.row as usize, near.cosine)).collect()
    }

    /// The serialised graph.
    #[must_use]
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let length = |list: &[u32]| narrow(list.len());
        let mut words = vec![self.entry, narrow(self.layers.len())];
        for layer in &self.layers {
            words.extend([length(&layer.starts), length(&layer.links)]);
            words.extend(&layer.starts);
            words.extend(&layer.links);
        }
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// A graph over `rows` rows; `None` unless every number in it is in bounds.
    #[must_use]
    pub(super) fn from_bytes(bytes: &[u8], rows: usize) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<4>();
        let mut words = words.iter().map(|&word| u32::from_le_bytes(word));
        let entry = words.next()?;
        let count = words.next()? as usize;
        if !rest.is_empty() || entry as usize >= rows || !(1..=LAYERS).contains(&count) {
            return None;
        }
        let mut layers = Vec::with_capacity(count);
        for _ in 0..count {
            let (starts, links) = (words.next()? as usize, words.next()? as usize);
            if starts != rows + 1 || links > words.len() {
                return None;
            }
            let layer =
                Layer { starts: words.by_ref().take(starts).collect(), links: words.by_ref().take(links).collect() };
            let bounded = layer.starts.len() == starts
                && layer.links.len() == links
                && layer.starts.first() == Some(&0)
                && layer.starts.last().is_some_and(|&last| last as usize == links)
                && layer.starts.is_sorted()
                && layer.links.iter().all(|&row| (row as usize) < rows);
            if !bounded {
                return None;
            }
            layers.push(layer);
        }
        words.next().is_none().then_some(Self { entry, layers })
    }
}

fn push_bounded(heap: &mut BinaryHeap<Reverse<NearRow>>, near: NearRow, most: usize) {
    heap.push(Reverse(near));
    if heap.len() > most {
        heap.pop();
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("a module has far fewer than 2^32 exemplars and links")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::retrieve::testing::random_rows;

    fn cosines(vectors: &Vectors, query: &[f32], keep: impl Fn(usize) -> bool) -> Vec<usize> {
        let coded = Coded::new(query).expect("finite");
        let mut rows: Vec<usize> = (0..vectors.len()).filter(|&row| keep(row)).collect();
        rows.sort_by(|&one, &other| vectors.cosine(&coded, other).total_cmp(&vectors.cosine(&coded, one)));
        rows
    }

    #[test]
    fn it_finds_what_is_near_also_through_a_filter_and_after_being_stored() {
        let vectors = Vectors::new(16, random_rows(1_500, 16, 7));
        let built = Graph::build(&vectors).expect("rows");
        let graph = Graph::from_bytes(&built.to_bytes(), vectors.len()).expect("whole");
        assert_eq!(graph, built);
        let queries = random_rows(20, 16, 8);
        for (label, keep) in [("all", None), ("a third", Some(3_usize))] {
            let wanted = |row: usize| keep.is_none_or(|every| row.is_multiple_of(every));
            let mut right = 0;
            for query in queries.chunks_exact(16) {
                let coded = Coded::new(query).expect("finite");
                let found = graph.nearest(&vectors, &coded, 10, 128, wanted);
                assert_eq!(found.len(), 10);
                assert!(found.iter().all(|(row, _)| wanted(*row)) && found.is_sorted_by(|one, other| one.1 >= other.1));
                let best = &cosines(&vectors, query, wanted)[..10];
                right += found.iter().filter(|(row, _)| best.contains(row)).count();
            }
            assert!(right > 180, "{right} of 200 right among {label}");
        }
    }

    #[test]
    fn a_few_rows_and_equal_rows_work() {
        assert!(Graph::build(&Vectors::new(4, Vec::new())).is_none());
        for count in [1, 2, 40] {
            let vectors = Vectors::new(2, [1.0, 0.0].repeat(count));
            let graph = Graph::build(&vectors).expect("rows");
            let found = graph.nearest(&vectors, &Coded::new(&[1.0, 0.0]).expect("finite"), 1, 10, |_| true);
            assert_eq!(found.len(), 1);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_graph_out_of_bounds(
            words in prop::collection::vec(0_u32..6, 0..24), rows in 0_usize..5, query in prop::bool::ANY,
        ) {
            let bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
            if let Some(graph) = Graph::from_bytes(&bytes, rows) {
                let vectors = Vectors::new(2, [0.6, 0.8].repeat(rows));
                let query = if query { [1.0, 0.0] } else { [0.0, -1.0] };
                let found = graph.nearest(&vectors, &Coded::new(&query).expect("finite"), 3, 3, |_| true);
                prop_assert!(found.iter().all(|(row, _)| *row < rows));
            }
        }
    }
}
