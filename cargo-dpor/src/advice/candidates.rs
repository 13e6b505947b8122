//! What could be changed, given the executions that fail.

use dpor_engine::graph::MemOrder;
use dpor_engine::trace::{Deed, Step};

use super::Subject;
use super::change::{AtomicCall, Change, Side, What, is_stronger, parameters};
use crate::finding::{Execution, Finding};

/// An ordering that is in question.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub site: AtomicCall,
    pub which: usize,
    pub from: MemOrder,
    /// Whether the report says that it is too weak.
    pub marked: bool,
    pub own: bool,
}

impl Candidate {
    /// Other orderings that do what this one does not, those that change least first.
    pub fn others(&self, subject: &Subject) -> Vec<Change> {
        let is_other = |to: &MemOrder| *to != self.from && !is_stronger(self.from, *to);
        let mut changes: Vec<Change> = self.orderings(subject, is_other);
        changes.sort_by_key(Change::cost);
        changes
    }

    /// All weaker orderings, the weakest first.
    pub fn weaker(&self, subject: &Subject) -> Vec<Change> {
        self.orderings(subject, |to| is_stronger(self.from, *to))
    }

    /// The strongest ordering, unless it has that.
    pub fn strongest(&self, subject: &Subject) -> Option<Change> {
        (self.from != MemOrder::SeqCst).then(|| self.change(subject, MemOrder::SeqCst))
    }

    fn orderings(&self, subject: &Subject, filter: impl Fn(&MemOrder) -> bool) -> Vec<Change> {
        let orderings = self.site.orderings(self.which).iter().copied().filter(filter);
        orderings.map(|to| self.change(subject, to)).collect()
    }

    fn change(&self, subject: &Subject, to: MemOrder) -> Change {
        let what = What::Ordering { which: self.which, from: self.from, to };
        subject.change(&self.site, what)
    }
}

/// Several orderings of which the first one that does it is best.
pub type Family = Vec<Change>;

/// The orderings of the steps in failing executions, those first that the report calls too weak.
pub fn orderings(subject: &Subject, findings: &[Finding]) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for execution in executions(findings) {
        for step in &execution.trace.steps {
            let marked =
                execution.trace.remarks.iter().any(|remark| remark.named().any(|number| number == step.number));
            merge(&mut candidates, of_step(subject, step, marked));
        }
    }
    candidates.sort_by_key(|candidate| !candidate.marked);
    candidates
}

/// Adds those that are new; whether there are any.
pub fn merge(candidates: &mut Vec<Candidate>, more: Vec<Candidate>) -> bool {
    let before = candidates.len();
    for new in more {
        match candidates.iter_mut().find(|known| (&known.site, known.which) == (&new.site, new.which)) {
            Some(known) => known.marked |= new.marked,
            None => candidates.push(new),
        }
    }
    candidates.len() > before
}

fn executions(findings: &[Finding]) -> impl Iterator<Item = &Execution> {
    findings.iter().filter_map(|finding| finding.execution.as_ref())
}

/// The orderings that the source has for a step.
fn of_step(subject: &Subject, step: &Step, marked: bool) -> Vec<Candidate> {
    let (Some(place), Some(ordering)) = (&step.place, step.ordering) else { return Vec::new() };
    let failed = matches!(step.deed, Deed::Cas { .. }) && step.written.is_none();
    let candidate = |site: AtomicCall, which| {
        // Of a compare-and-swap, the step tells the ordering that counted.
        let counted = (which == 1) == failed;
        let from = subject.sites.ordering(&site, which).or(counted.then_some(ordering));
        let own = subject.is_own(&site);
        from.map(|from| Candidate { site, which, from, marked: marked && counted, own })
    };
    let sites = subject.sites.at(&place.location).into_iter();
    sites
        .flat_map(|site| (0..parameters(&site.method).len()).map(move |which| (site.clone(), which)))
        .filter_map(|(site, which)| candidate(site, which))
        .collect()
}

/// Operations that are others, or more: compare-exchanges that do not fail spuriously, and swaps instead of stores.
pub fn operations(subject: &Subject, candidates: &[Candidate]) -> Vec<Family> {
    let spurious = subject.settings.spurious;
    let strong = candidates
        .iter()
        .filter(|candidate| spurious && candidate.which == 0 && candidate.site.method == "compare_exchange_weak")
        .map(|candidate| vec![subject.change(&candidate.site, What::Strong)]);
    let stores = candidates
        .iter()
        .filter(|candidate| candidate.site.method == "store" && subject.sites.can_swap(&candidate.site));
    let families = strong.chain(stores.map(|candidate| swaps(subject, candidate)));
    families.map(writable).filter(|family| !family.is_empty()).collect()
}

/// Swaps that are at least as strong as a store.
fn swaps(subject: &Subject, store: &Candidate) -> Family {
    use MemOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
    let from = store.from;
    let orderings = [Relaxed, Acquire, Release, AcqRel, SeqCst].into_iter();
    let as_strong = orderings.filter(|to| *to == from || is_stronger(*to, from));
    as_strong.map(|to| subject.change(&store.site, What::Swap { from, to })).collect()
}

/// Fences beside operations: after what reads to acquire, before what writes to release, and the strongest.
pub fn fences(subject: &Subject, candidates: &[Candidate]) -> Vec<Family> {
    let sites = candidates.iter().filter(|candidate| candidate.which == 0 && candidate.site.method != "fence");
    let sides = sites.flat_map(|candidate| [(&candidate.site, Side::Before), (&candidate.site, Side::After)]);
    let family = |(site, side): (&AtomicCall, Side)| {
        let weak = match side {
            Side::Before => site.writes().then_some(MemOrder::Release),
            Side::After => site.reads().then_some(MemOrder::Acquire),
        };
        let orderings = weak.into_iter().chain([MemOrder::SeqCst]);
        orderings.map(|ordering| subject.change(site, What::Fence { side, ordering })).collect()
    };
    let mut places = Vec::new();
    let mut families: Vec<Family> = Vec::new();
    for family in sides.map(family).map(writable).filter(|family| !family.is_empty()) {
        // After one operation and before the next is the same place.
        let place = subject.place_of(&family[0]);
        match places.iter().position(|known| *known == place) {
            Some(at) => add_fences(&mut families[at], family),
            None => {
                places.push(place);
                families.push(family);
            }
        }
    }
    families
}

/// Adds the fences of a family to those at the same place, the weakest first.
fn add_fences(family: &mut Family, more: Family) {
    let ordering = |change: &Change| match change.what {
        What::Fence { ordering, .. } => Some(ordering),
        _ => None,
    };
    for change in more {
        if family.iter().all(|known| ordering(known) != ordering(&change)) {
            family.push(change);
        }
    }
    family.sort_by_key(Change::cost);
}

/// Those changes that can be made in the source.
fn writable(family: Family) -> Family {
    family.into_iter().filter(|change| !change.edits.is_empty()).collect()
}
