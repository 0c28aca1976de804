//! Every object id of the store, sorted; an object is its position in this table.

use gix::ObjectId;

/// The raw bytes of an id.
pub(super) type Raw = [u8; 20];

/// The sorted ids. Positions fit 29 bits, see [`super::links`].
pub(super) struct Table {
    ids: Vec<Raw>,
    /// For each value of the first two bytes, the end of its range.
    ends: Vec<u32>,
}

impl Table {
    pub(super) const MOST: u64 = 1 << 29;

    /// Sorts the ids and drops repetitions. The caller has bounded their number by [`Table::MOST`].
    pub(super) fn new(mut ids: Vec<Raw>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        ids.shrink_to_fit();
        let mut ends = vec![0_u32; 1 << 16];
        for id in &ids {
            ends[first_two(id)] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        Table { ids, ends }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The position of an id.
    pub(super) fn find(&self, id: &Raw) -> Option<u32> {
        let bucket = first_two(id);
        let start = if bucket == 0 { 0 } else { self.ends[bucket - 1] };
        let range = &self.ids[start as usize..self.ends[bucket] as usize];
        // Eight bytes nearly always decide, and are compared at once.
        let middle = middle(id);
        let order = |other: &Raw| self::middle(other).cmp(&middle).then_with(|| other.cmp(id));
        range.binary_search_by(order).ok().map(|index| start + index as u32)
    }

    /// The id at a position.
    pub(super) fn id(&self, object: u32) -> ObjectId {
        self.ids[object as usize].into()
    }
}

fn first_two(id: &Raw) -> usize {
    usize::from(u16::from_be_bytes([id[0], id[1]]))
}

/// The bytes behind the first two, as a number.
fn middle(id: &Raw) -> u64 {
    id[2..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// The raw bytes of a SHA-1 id.
pub(super) fn raw(id: &gix::oid) -> Raw {
    let mut raw = [0; 20];
    raw.copy_from_slice(&id.as_bytes()[..20]);
    raw
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn finds_exactly_what_is_there(ids in prop::collection::vec(prop::array::uniform20(0_u8..3), 0..100), probe in prop::array::uniform20(0_u8..3)) {
            let table = Table::new(ids.clone());
            for id in &ids {
                let position = table.find(id).unwrap();
                prop_assert_eq!(table.id(position), ObjectId::from(*id));
            }
            prop_assert_eq!(table.find(&probe).is_some(), ids.contains(&probe));
        }
    }
}
