//! The models, from their axioms alone, in the manner of cat files.

use crate::candidate::{Candidate, Ev, Kind};
use crate::program::Order;
use crate::relation::Rel;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    Sc,
    Tso { bound: Option<usize>, rust: bool },
    Pso { bound: Option<usize>, rust: bool },
    Rc11,
}

pub fn is_consistent(candidate: &Candidate<'_>, model: Model) -> bool {
    let relations = Relations::new(candidate);
    match model {
        Model::Sc => relations.sc(),
        Model::Tso { bound, rust } => relations.store_buffer(bound, rust, false),
        Model::Pso { bound, rust } => relations.store_buffer(bound, rust, true),
        Model::Rc11 => relations.rc11(),
    }
}

/// Whether two accesses race, by RC11's happens-before.
pub fn has_race(candidate: &Candidate<'_>) -> bool {
    let relations = Relations::new(candidate);
    let hb = relations.hb();
    let ev = relations.ev;
    (0..ev.len()).any(|a| {
        (0..ev.len()).any(|b| {
            let (x, y) = (&ev[a], &ev[b]);
            x.kind == Kind::Write
                && matches!(y.kind, Kind::Read | Kind::Write)
                && x.loc == y.loc
                && x.thread != y.thread
                && (x.order == Order::NotAtomic || y.order == Order::NotAtomic)
                && !hb.has(a, b)
                && !hb.has(b, a)
        })
    })
}

struct Relations<'a> {
    n: usize,
    ev: &'a [Ev],
    po: &'a Rel,
    thread_sync: &'a Rel,
    rmw: &'a Rel,
    rf: &'a Rel,
    co: &'a Rel,
    fr: Rel,
}

impl<'a> Relations<'a> {
    fn new(candidate: &'a Candidate<'a>) -> Relations<'a> {
        let skeleton = candidate.skeleton;
        let n = skeleton.len();
        let mut fr = candidate.rf.inverse().then(&candidate.co);
        fr = fr.minus(&Rel::on(n, |_| true));
        Relations {
            n,
            ev: &skeleton.events,
            po: &skeleton.po,
            thread_sync: &skeleton.thread_sync,
            rmw: &skeleton.rmw,
            rf: &candidate.rf,
            co: &candidate.co,
            fr,
        }
    }

    fn on(&self, holds: impl Fn(&Ev) -> bool) -> Rel {
        Rel::on(self.n, |i| holds(&self.ev[i]))
    }

    fn is_access(e: &Ev) -> bool {
        matches!(e.kind, Kind::Read | Kind::Write | Kind::Init)
    }

    /// Pairs of accesses of the same location.
    fn loc(&self) -> Rel {
        Rel::from_fn(self.n, |a, b| {
            Self::is_access(&self.ev[a]) && Self::is_access(&self.ev[b]) && self.ev[a].loc == self.ev[b].loc
        })
    }

    fn external(&self) -> Rel {
        Rel::from_fn(self.n, |a, b| self.ev[a].thread != self.ev[b].thread)
    }

    fn sc(&self) -> bool {
        self.po.or(self.thread_sync).or(self.rf).or(self.co).or(&self.fr).is_acyclic()
    }

    fn hb(&self) -> Rel {
        let release = self.on(|e| e.order.is_release() && e.kind != Kind::Read);
        let acquire = self.on(|e| e.order.is_acquire() && e.kind != Kind::Write);
        let fences = self.on(|e| e.kind == Kind::Fence);
        let writes = self.on(|e| e.kind == Kind::Write && e.order != Order::NotAtomic);
        let reads = self.on(|e| e.kind == Kind::Read && e.order != Order::NotAtomic);
        // C++20: a release sequence goes on through read-modify-writes only.
        let rs = writes.then(&self.rf.then(self.rmw).plus().optional());
        let from = release.then(&fences.then(self.po).optional()).then(&rs);
        let to = reads.then(&self.po.then(&fences).optional()).then(&acquire);
        let sw = from.then(self.rf).then(&to);
        self.po.or(&sw).or(self.thread_sync).plus()
    }

    fn rc11(&self) -> bool {
        let hb = self.hb();
        let eco = self.rf.or(self.co).or(&self.fr).plus();
        if !hb.then(&eco.optional()).is_irreflexive() {
            return false;
        }
        let loc = self.loc();
        let sc_access = self.on(|e| e.order == Order::SeqCst && Self::is_access(e));
        let sc_fence = self.on(|e| e.order == Order::SeqCst && e.kind == Kind::Fence);
        let po_elsewhere = self.po.minus(&loc);
        let around = po_elsewhere.then(&hb).then(&po_elsewhere);
        let scb = self.po.or(&around).or(&hb.and(&loc)).or(self.co).or(&self.fr);
        let left = sc_access.or(&sc_fence.then(&hb.optional()));
        let right = sc_access.or(&hb.optional().then(&sc_fence));
        let psc_base = left.then(&scb).then(&right);
        let psc_fence = sc_fence.then(&hb.or(&hb.then(&eco).then(&hb))).then(&sc_fence);
        psc_base.or(&psc_fence).is_acyclic()
    }

    fn store_buffer(&self, bound: Option<usize>, rust: bool, per_location: bool) -> bool {
        let per_loc = self.po.and(&self.loc()).or(self.rf).or(self.co).or(&self.fr);
        let ppo = Rel::from_fn(self.n, |a, b| self.po.has(a, b) && self.preserved(a, b, bound, rust, per_location));
        let rfe = self.rf.and(&self.external());
        per_loc.is_acyclic() && ppo.or(self.thread_sync).or(&rfe).or(self.co).or(&self.fr).is_acyclic()
    }

    /// Whether the order of two events of a thread is preserved.
    fn preserved(&self, a: usize, b: usize, bound: Option<usize>, rust: bool, per_location: bool) -> bool {
        let (x, y) = (&self.ev[a], &self.ev[b]);
        let full = |e: &Ev| match e.kind {
            Kind::Read | Kind::Write => e.rmw,
            Kind::Fence => e.order == Order::SeqCst,
            Kind::Other | Kind::Begin | Kind::End => self.is_thread_event(e),
            Kind::Init => true,
        };
        let between =
            |holds: &dyn Fn(usize) -> bool| (0..self.n).any(|c| self.po.has(a, c) && self.po.has(c, b) && holds(c));
        let fenced_store = |e: &Ev| rust && e.kind == Kind::Write && e.order == Order::SeqCst;
        if full(x) || full(y) || fenced_store(x) || between(&|c| full(&self.ev[c]) || fenced_store(&self.ev[c])) {
            return true;
        }
        match (x.kind, y.kind) {
            (Kind::Read, Kind::Read | Kind::Write) => true,
            (Kind::Write, Kind::Write) if !per_location || x.loc == y.loc => true,
            (Kind::Write, Kind::Write) if rust && y.order.is_release() => true,
            (Kind::Write, Kind::Write) if rust && between(&|c| self.is_release_fence(c)) => true,
            (Kind::Write, Kind::Read | Kind::Write) => bound.is_some_and(|k| self.pushed_out(a, b, k, per_location)),
            _ => false,
        }
    }

    fn is_thread_event(&self, e: &Ev) -> bool {
        // Choices order nothing; spawns, joins, beginnings and ends order everything.
        let id = self.ev.iter().position(|x| std::ptr::eq(x, e)).unwrap_or(0);
        e.kind != Kind::Other || (0..self.n).any(|b| self.thread_sync.has(id, b) || self.thread_sync.has(b, id))
    }

    fn is_release_fence(&self, c: usize) -> bool {
        self.ev[c].kind == Kind::Fence && self.ev[c].order.is_release()
    }

    /// Whether the K-th next write of the same buffer after `a` is before `b`; the 0-th is `a` itself.
    fn pushed_out(&self, a: usize, b: usize, k: usize, per_location: bool) -> bool {
        let next = (0..self.n).filter(|&c| {
            self.po.has(a, c)
                && self.po.has(c, b)
                && self.ev[c].kind == Kind::Write
                && (!per_location || self.ev[c].loc == self.ev[a].loc)
        });
        next.count() >= k
    }
}
