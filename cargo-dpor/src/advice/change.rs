//! What can be changed in a program, and how much of a change that is.

use std::ops::Range;

use dpor_engine::graph::MemOrder;
use dpor_engine::verdict::Location;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// All orderings, by their discriminants in `std::sync::atomic::Ordering`.
pub const ORDERINGS: [MemOrder; 5] =
    [MemOrder::Relaxed, MemOrder::Release, MemOrder::Acquire, MemOrder::AcqRel, MemOrder::SeqCst];

/// A call of a method of atomics, or of `fence`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AtomicCall {
    pub place: Location,
    pub method: String,
}

/// A change at a site, and how to make it in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub site: AtomicCall,
    pub what: What,
    /// Whether it is in the function of the test itself, while what the test calls has orderings, too.
    pub own: bool,
    /// In the file of the site; none where the call was not found there.
    pub edits: Vec<Edit>,
}

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// One of the orderings of the call.
    Ordering { which: usize, from: MemOrder, to: MemOrder },
    /// A fence before or after it.
    Fence { side: Side, ordering: MemOrder },
    /// A store becomes a swap, which reads, too.
    Swap { from: MemOrder, to: MemOrder },
    /// A `compare_exchange_weak` becomes one that does not fail spuriously.
    Strong,
}

/// Where a fence goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

/// Some bytes of a file, and what to put there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub text: String,
}

/// What an ordering is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Load,
    Store,
    Update,
    Fence,
}

/// A parameter of a method that is an ordering.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// Its place among all parameters, which is its place in the source, too, but for `self`.
    pub index: usize,
    usage: Use,
}

impl Parameter {
    const fn new(index: usize, usage: Use) -> Parameter {
        Parameter { index, usage }
    }
}

/// The orderings among the parameters of a method.
pub fn parameters(method: &str) -> Vec<Parameter> {
    match method {
        "load" => vec![Parameter::new(1, Use::Load)],
        "store" => vec![Parameter::new(2, Use::Store)],
        "fetch_not" => vec![Parameter::new(1, Use::Update)],
        "compare_exchange" | "compare_exchange_weak" => {
            vec![Parameter::new(3, Use::Update), Parameter::new(4, Use::Load)]
        }
        "fetch_update" | "try_update" | "update" => vec![Parameter::new(1, Use::Update), Parameter::new(2, Use::Load)],
        "fence" => vec![Parameter::new(0, Use::Fence)],
        "swap" => vec![Parameter::new(2, Use::Update)],
        method if method.starts_with("fetch_") => vec![Parameter::new(2, Use::Update)],
        _ => Vec::new(),
    }
}

impl AtomicCall {
    pub fn parameter(&self, which: usize) -> Parameter {
        parameters(&self.method)[which]
    }

    /// The argument of the call in the source that an ordering is: `self` does not count.
    pub fn argument(&self, which: usize) -> usize {
        let index = self.parameter(which).index;
        if self.method == "fence" { index } else { index - 1 }
    }

    /// The orderings that there are for this, from the weakest.
    pub fn orderings(&self, which: usize) -> &'static [MemOrder] {
        use MemOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match self.parameter(which).usage {
            Use::Load => &[Relaxed, Acquire, SeqCst],
            Use::Store => &[Relaxed, Release, SeqCst],
            Use::Update => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
            Use::Fence => &[Acquire, Release, AcqRel, SeqCst],
        }
    }

    /// Whether it reads memory.
    pub fn reads(&self) -> bool {
        !matches!(self.method.as_str(), "store" | "fence")
    }

    /// Whether it may write memory.
    pub fn writes(&self) -> bool {
        !matches!(self.method.as_str(), "load" | "fence")
    }
}

impl Change {
    /// How much is changed: strength that is added, or a new operation.
    pub fn cost(&self) -> u32 {
        match self.what {
            What::Ordering { from, to, .. } => strength(to).saturating_sub(strength(from)),
            What::Fence { ordering, .. } => 1 + strength(ordering),
            What::Swap { from, to } => 1 + strength(to).saturating_sub(strength(from)),
            What::Strong => 1,
        }
    }
}

/// Whether an ordering does all that another one does, and more.
pub fn is_stronger(a: MemOrder, b: MemOrder) -> bool {
    let covers =
        a.is_sc() || ((a.is_acquire() || !b.is_acquire()) && (a.is_release() || !b.is_release()) && !b.is_sc());
    covers && a != b
}

/// How strong an ordering is, roughly.
fn strength(order: MemOrder) -> u32 {
    match order {
        MemOrder::NotAtomic | MemOrder::Relaxed => 0,
        MemOrder::Acquire | MemOrder::Release => 1,
        MemOrder::AcqRel => 2,
        MemOrder::SeqCst => 4,
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (name, from, to) = match self.what {
            What::Ordering { from, to, .. } => ("ordering", Some(from), Some(to)),
            What::Fence { side: Side::Before, ordering } => ("fence-before", None, Some(ordering)),
            What::Fence { side: Side::After, ordering } => ("fence-after", None, Some(ordering)),
            What::Swap { from, to } => ("swap", Some(from), Some(to)),
            What::Strong => ("strong", None, None),
        };
        map.serialize_entry("change", name)?;
        map.serialize_entry("file", &self.site.place.file)?;
        map.serialize_entry("line", &self.site.place.line)?;
        map.serialize_entry("column", &self.site.place.column)?;
        map.serialize_entry("method", &self.site.method)?;
        if let What::Ordering { which, .. } = self.what {
            map.serialize_entry("argument", &self.site.argument(which))?;
        }
        if let Some(from) = from {
            map.serialize_entry("from", from.name())?;
        }
        if let Some(to) = to {
            map.serialize_entry("to", to.name())?;
        }
        map.serialize_entry("in_test", &self.own)?;
        map.serialize_entry("edits", &self.edits)?;
        map.end()
    }
}

impl Serialize for Edit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("start", &self.range.start)?;
        map.serialize_entry("end", &self.range.end)?;
        map.serialize_entry("text", &self.text)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(method: &str) -> AtomicCall {
        AtomicCall { place: Location { file: "a.rs".into(), line: 1, column: 1 }, method: method.into() }
    }

    #[test]
    fn stronger_orderings_do_more() {
        use MemOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        for (a, b) in [(Acquire, Relaxed), (AcqRel, Release), (SeqCst, AcqRel), (SeqCst, Relaxed)] {
            assert!(is_stronger(a, b) && !is_stronger(b, a), "{a:?} {b:?}");
        }
        assert!(!is_stronger(Acquire, Release) && !is_stronger(Release, Acquire) && !is_stronger(AcqRel, AcqRel));
    }

    #[test]
    fn orderings_are_known_by_their_method() {
        assert_eq!((site("load").argument(0), site("store").argument(0)), (0, 1));
        assert_eq!((site("compare_exchange").argument(0), site("compare_exchange").argument(1)), (2, 3));
        assert_eq!((site("fetch_add").argument(0), site("fence").argument(0)), (1, 0));
        assert!(!site("compare_exchange").orderings(1).contains(&MemOrder::Release));
        assert!(!site("fence").orderings(0).contains(&MemOrder::Relaxed));
        assert!(parameters("get_mut").is_empty());
    }

    /// To exchange an ordering for one that is as strong is the least that can be done.
    #[test]
    fn small_changes_cost_little() {
        use MemOrder::{AcqRel, Acquire, Release, SeqCst};
        let change = |what| Change { site: site("swap"), what, own: false, edits: Vec::new() }.cost();
        let ordering = |from, to| change(What::Ordering { which: 0, from, to });
        assert_eq!([ordering(Release, Acquire), ordering(Release, AcqRel), ordering(Release, SeqCst)], [0, 1, 3]);
        assert!(change(What::Fence { side: Side::Before, ordering: Acquire }) > ordering(Release, AcqRel));
    }
}
