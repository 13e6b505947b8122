//! Where a program names memory orderings, and the same program with others there.
//!
//! A site is a call of a method of atomics, or of `fence`, in the user's code. To change an ordering, the calls there go to
//! a copy of the method that sets its parameter first: so it does not matter where the ordering comes from.

use std::collections::HashMap;
use std::sync::Arc;

use dpor_engine::graph::MemOrder;
use dpor_engine::program::{FuncId, Function, Op, Origin, Program, Reg};
use dpor_engine::verdict::Location;
use serde::Serialize;

/// An ordering that the source names: that of an access or a fence, or one of the two of a compare-and-swap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    pub place: Location,
    pub method: String,
    /// Which of the orderings of the call it is.
    pub which: usize,
}

/// Another ordering at a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    #[serde(flatten, serialize_with = "serialize_site")]
    pub site: Site,
    #[serde(serialize_with = "serialize_known")]
    pub from: Option<MemOrder>,
    #[serde(serialize_with = "serialize_order")]
    pub to: MemOrder,
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
struct Parameter {
    /// Its place among all parameters, which is its place in the source, too, but for `self`.
    index: usize,
    usage: Use,
}

impl Parameter {
    const fn new(index: usize, usage: Use) -> Parameter {
        Parameter { index, usage }
    }
}

/// The orderings among the parameters of a method.
fn parameters(method: &str) -> Vec<Parameter> {
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

impl Site {
    fn parameter(&self) -> Parameter {
        parameters(&self.method).swap_remove(self.which)
    }

    /// The argument of the call in the source that the ordering is: `self` does not count.
    pub fn argument(&self) -> usize {
        let index = self.parameter().index;
        if self.method == "fence" { index } else { index - 1 }
    }

    /// The orderings that there are for this, from the weakest.
    pub fn orderings(&self) -> &'static [MemOrder] {
        use MemOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
        match self.parameter().usage {
            Use::Load => &[Relaxed, Acquire, SeqCst],
            Use::Store => &[Relaxed, Release, SeqCst],
            Use::Update => &[Relaxed, Acquire, Release, AcqRel, SeqCst],
            Use::Fence => &[Acquire, Release, AcqRel, SeqCst],
        }
    }

    /// The strongest ordering that there is for this.
    pub fn strongest(&self) -> MemOrder {
        MemOrder::SeqCst
    }
}

/// Whether an ordering does all that another one does, and more.
pub fn is_stronger(a: MemOrder, b: MemOrder) -> bool {
    let covers =
        a.is_sc() || ((a.is_acquire() || !b.is_acquire()) && (a.is_release() || !b.is_release()) && !b.is_sc());
    covers && a != b
}

/// How strong an ordering is, roughly.
pub fn strength(order: MemOrder) -> u32 {
    match order {
        MemOrder::NotAtomic | MemOrder::Relaxed => 0,
        MemOrder::Acquire | MemOrder::Release => 1,
        MemOrder::AcqRel => 2,
        MemOrder::SeqCst => 4,
    }
}

/// A call in the program.
#[derive(Clone, Copy, Debug)]
struct Call {
    function: usize,
    pc: usize,
}

/// The sites of a program.
pub struct Sites {
    program: Arc<Program>,
    calls: HashMap<(Location, String), Vec<Call>>,
}

impl Sites {
    pub fn of(program: &Arc<Program>) -> Sites {
        let mut calls: HashMap<(Location, String), Vec<Call>> = HashMap::new();
        let methods: Vec<Option<&str>> = program.functions.iter().map(atomic_method).collect();
        for (function, caller) in
            program.functions.iter().enumerate().filter(|(_, caller)| caller.origin == Origin::User)
        {
            for (pc, op) in caller.code.iter().enumerate() {
                if let Op::Call { func, .. } = op
                    && let Some(method) = methods[func.0 as usize]
                {
                    let place = program.location(caller.code_places[pc]);
                    calls.entry((place, method.to_owned())).or_default().push(Call { function, pc });
                }
            }
        }
        Sites { program: Arc::clone(program), calls }
    }

    /// All sites, in the order of the source.
    pub fn all(&self) -> Vec<Site> {
        let mut sites: Vec<Site> = self.calls.keys().flat_map(|(place, method)| sites_of(place, method)).collect();
        sites.sort();
        sites
    }

    /// The sites at a place.
    pub fn at(&self, place: &Location) -> Vec<Site> {
        let mut sites: Vec<Site> = self
            .calls
            .keys()
            .filter(|(at, _)| at == place)
            .flat_map(|(place, method)| sites_of(place, method))
            .collect();
        sites.sort();
        sites
    }

    /// The ordering that the source has there, if it is the same for all calls and a constant.
    pub fn ordering(&self, site: &Site) -> Option<MemOrder> {
        let mut orders = self.calls_at(site).map(|call| self.constant(call, site));
        let first = orders.next()??;
        orders.all(|other| other == Some(first)).then_some(first)
    }

    fn calls_at(&self, site: &Site) -> impl Iterator<Item = &Call> {
        self.calls.get(&(site.place.clone(), site.method.clone())).into_iter().flatten()
    }

    /// The constant that a call has as an ordering.
    fn constant(&self, call: &Call, site: &Site) -> Option<MemOrder> {
        let caller = &self.program.functions[call.function];
        let Op::Call { args, .. } = caller.code[call.pc] else { return None };
        let mut register = Reg(*caller.list(args).get(site.parameter().index)?);
        for op in caller.code[..call.pc].iter().rev() {
            match *op {
                Op::Imm { dst, value } if dst == register => return order(value),
                Op::Mov { dst, src } if dst == register => register = src,
                Op::Imm { .. } | Op::Mov { .. } | Op::StorageLive { .. } | Op::StorageDead { .. } => {}
                Op::SlotAddr { dst, .. } | Op::BinImm { dst, .. } | Op::LoadSlot { dst, .. } if dst != register => {}
                // Whatever else there is, the ordering may come from it.
                _ => return None,
            }
        }
        None
    }

    /// The program with other orderings.
    pub fn with(&self, changes: &[Change]) -> Arc<Program> {
        let mut program = (*self.program).clone();
        for change in changes {
            self.patch(&mut program, &change.site, &|callee| with_ordering(callee, &change.site, change.to));
        }
        Arc::new(program)
    }

    /// The program in which all of these calls are unsupported.
    pub fn with_traps(&self, sites: &[Site]) -> Arc<Program> {
        let mut program = (*self.program).clone();
        let message = program.messages.len() as u32;
        program.messages.push("a trap".to_owned());
        for site in sites {
            self.patch(&mut program, site, &|callee| {
                let mut trap = callee.clone();
                trap.code[0] = Op::Unsupported { message };
                trap
            });
        }
        Arc::new(program)
    }

    /// Has the calls of a site go to a changed copy of what they call now.
    fn patch(&self, program: &mut Program, site: &Site, change: &dyn Fn(&Function) -> Function) {
        let mut copies: HashMap<FuncId, FuncId> = HashMap::new();
        for call in self.calls_at(site) {
            let Op::Call { func, .. } = program.functions[call.function].code[call.pc] else { continue };
            let copy = *copies.entry(func).or_insert_with(|| {
                let copy = change(program.function(func));
                program.functions.push(copy);
                FuncId(program.functions.len() as u32 - 1)
            });
            if let Op::Call { func, .. } = &mut program.functions[call.function].code[call.pc] {
                *func = copy;
            }
        }
    }
}

fn sites_of(place: &Location, method: &str) -> Vec<Site> {
    let site = |which| Site { place: place.clone(), method: method.to_owned(), which };
    (0..parameters(method).len()).map(site).collect()
}

/// The method of atomics that a function is, if it is one that has orderings.
fn atomic_method(function: &Function) -> Option<&str> {
    let is_atomic = function.name.contains("sync::atomic::Atomic::<") || function.name == "std::sync::atomic::fence";
    let method = function.name.rsplit("::").next()?;
    let method = if method.starts_with('<') { function.name.rsplit("::").nth(1)? } else { method };
    (function.origin == Origin::Std && is_atomic && !parameters(method).is_empty()).then_some(method)
}

/// A copy of a method that begins with setting one of its parameters.
fn with_ordering(method: &Function, site: &Site, to: MemOrder) -> Function {
    let mut copy = method.clone();
    let parameter = Reg(u16::from(copy.results) + site.parameter().index as u16);
    let end = copy.code.len() as u32;
    let first = std::mem::replace(&mut copy.code[0], Op::Jump { to: end });
    copy.code.extend([Op::Imm { dst: parameter, value: number(to) }, first, Op::Jump { to: 1 }]);
    let place = copy.code_places[0];
    copy.code_places.extend([place; 3]);
    copy
}

/// The discriminants of `std::sync::atomic::Ordering`.
const DISCRIMINANTS: [MemOrder; 5] =
    [MemOrder::Relaxed, MemOrder::Release, MemOrder::Acquire, MemOrder::AcqRel, MemOrder::SeqCst];

fn order(discriminant: u64) -> Option<MemOrder> {
    DISCRIMINANTS.get(discriminant as usize).copied()
}

fn number(order: MemOrder) -> u64 {
    DISCRIMINANTS.iter().position(|other| *other == order).unwrap_or(0) as u64
}

fn serialize_site<S: serde::Serializer>(site: &Site, serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeMap;
    let mut map = serializer.serialize_map(Some(4))?;
    map.serialize_entry("file", &site.place.file)?;
    map.serialize_entry("line", &site.place.line)?;
    map.serialize_entry("column", &site.place.column)?;
    map.serialize_entry("method", &site.method)?;
    map.serialize_entry("argument", &site.argument())?;
    map.end()
}

fn serialize_order<S: serde::Serializer>(order: &MemOrder, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(order.name())
}

fn serialize_known<S: serde::Serializer>(order: &Option<MemOrder>, serializer: S) -> Result<S::Ok, S::Error> {
    match order {
        Some(order) => serialize_order(order, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let site = |method: &str, which| Site {
            place: Location { file: "a.rs".into(), line: 1, column: 1 },
            method: method.into(),
            which,
        };
        assert_eq!((site("load", 0).argument(), site("store", 0).argument()), (0, 1));
        assert_eq!((site("compare_exchange", 0).argument(), site("compare_exchange", 1).argument()), (2, 3));
        assert_eq!((site("fetch_add", 0).argument(), site("fence", 0).argument()), (1, 0));
        assert!(!site("compare_exchange", 1).orderings().contains(&MemOrder::Release));
        assert!(!site("fence", 0).orderings().contains(&MemOrder::Relaxed));
        assert!(parameters("get_mut").is_empty());
    }
}
