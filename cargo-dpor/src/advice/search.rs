//! Trying out orderings, few and weak ones first.

use dpor_engine::graph::MemOrder;
use dpor_engine::trace::{Deed, Step};
use dpor_engine::verdict::Location;

use super::sites::{is_stronger, strength};
use super::{Advice, Change, Site, Subject};
use crate::finding::{Finding, FindingKind};

/// Of several pairs of orderings that are as good, so many are named.
const MAX_PAIRS: usize = 3;

/// An ordering that is in question.
#[derive(Clone, Debug)]
struct Candidate {
    site: Site,
    from: MemOrder,
}

impl Candidate {
    fn change(&self, to: MemOrder) -> Change {
        Change { site: self.site.clone(), from: Some(self.from), to }
    }

    /// All stronger orderings, the weakest first.
    fn stronger(&self) -> Vec<Change> {
        let orders = self.site.orderings().iter().copied().filter(|to| is_stronger(*to, self.from));
        orders.map(|to| self.change(to)).collect()
    }

    /// All weaker orderings, the weakest first.
    fn weaker(&self) -> Vec<Change> {
        let orders = self.site.orderings().iter().copied().filter(|to| is_stronger(self.from, *to));
        orders.map(|to| self.change(to)).collect()
    }
}

/// The smallest changes with which a failing test passes. Nothing if it does not fail in an execution that has orderings.
pub fn stronger(subject: &Subject, findings: &[Finding]) -> Option<Advice> {
    let mut candidates = candidates(subject, findings);
    if candidates.is_empty() {
        return Some(Advice::NotOrderings);
    }
    let strongest = match all_strongest(subject, &mut candidates) {
        Ok(Some(changes)) => changes,
        Ok(None) => return Some(Advice::NotOrderings),
        Err(OutOfTime) => return Some(Advice::OutOfTime),
    };
    let found = smallest(subject, &candidates, strongest);
    Some(found.map_or(Advice::OutOfTime, Advice::Stronger))
}

/// The time is over.
struct OutOfTime;

/// The orderings of the steps in failing executions.
fn candidates(subject: &Subject, findings: &[Finding]) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let executions = findings.iter().filter_map(|finding| finding.execution.as_ref());
    for step in executions.flat_map(|execution| &execution.trace.steps) {
        for candidate in of_step(subject, step) {
            if candidates.iter().all(|known| known.site != candidate.site) {
                candidates.push(candidate);
            }
        }
    }
    candidates
}

/// The orderings that the source has for a step.
fn of_step(subject: &Subject, step: &Step) -> Vec<Candidate> {
    let (Some(place), Some(ordering)) = (&step.place, step.ordering) else { return Vec::new() };
    let failed = matches!(step.deed, Deed::Cas { .. }) && step.written.is_none();
    let candidate = |site: Site| {
        // Of a compare-and-swap, the step tells the ordering that counted.
        let seen = (site.which == 1) == failed;
        let from = subject.sites.ordering(&site).or(seen.then_some(ordering));
        from.map(|from| Candidate { site, from })
    };
    subject.sites.at(&place.location).into_iter().filter_map(candidate).collect()
}

/// The strongest orderings everywhere, if the test passes with them. Steps of executions that fail then are added.
fn all_strongest(subject: &Subject, candidates: &mut Vec<Candidate>) -> Result<Option<Vec<Change>>, OutOfTime> {
    loop {
        let strongest = |candidate: &Candidate| {
            let to = candidate.site.strongest();
            is_stronger(to, candidate.from).then(|| candidate.change(to))
        };
        let changes: Vec<Change> = candidates.iter().filter_map(strongest).collect();
        let tried = subject.check(&changes).ok_or(OutOfTime)?;
        if tried.passes {
            return Ok(Some(changes));
        }
        let more = self::candidates(subject, &tried.findings);
        let before = candidates.len();
        candidates.extend(more.into_iter().filter(|new| !changes.iter().any(|change| change.site == new.site)));
        candidates.dedup_by(|a, b| a.site == b.site);
        if candidates.len() == before {
            return Ok(None);
        }
    }
}

/// One change if that suffices, in each of the places where it does; else two; else as few as can be found.
fn smallest(subject: &Subject, candidates: &[Candidate], strongest: Vec<Change>) -> Option<Vec<Vec<Change>>> {
    let mut singles = Vec::new();
    for candidate in candidates {
        for change in candidate.stronger() {
            let changes = vec![change];
            if subject.passes(&changes)? {
                singles.push(changes);
                break;
            }
        }
    }
    if !singles.is_empty() {
        singles.sort_by_key(|changes| total(changes));
        return Some(singles);
    }
    let mut found: Vec<Vec<Change>> = Vec::new();
    for pair in pairs(candidates) {
        // Others that are as weak are as good.
        if found.len() == MAX_PAIRS || found.first().is_some_and(|first| total(first) < total(&pair)) {
            break;
        }
        if subject.passes(&pair)? {
            found.push(pair);
        }
    }
    if found.is_empty() {
        found.push(reduced(subject, strongest)?);
    }
    Some(found)
}

/// Two changes at a time, the weakest first.
fn pairs(candidates: &[Candidate]) -> Vec<Vec<Change>> {
    let mut pairs = Vec::new();
    for (at, a) in candidates.iter().enumerate() {
        for b in &candidates[at + 1..] {
            let both = |x: &Change| b.stronger().into_iter().map(|y| vec![x.clone(), y]).collect::<Vec<_>>();
            pairs.extend(a.stronger().iter().flat_map(both));
        }
    }
    pairs.sort_by_key(|pair| total(pair));
    pairs
}

/// How strong several orderings are.
fn total(changes: &[Change]) -> u32 {
    changes.iter().map(|change| strength(change.to)).sum()
}

/// As many of the changes taken back, and the others made as weak, as is possible one after the other.
fn reduced(subject: &Subject, mut changes: Vec<Change>) -> Option<Vec<Change>> {
    let mut at = 0;
    while at < changes.len() {
        let mut without = changes.clone();
        without.remove(at);
        if subject.passes(&without)? {
            changes = without;
        } else {
            at += 1;
        }
    }
    for at in 0..changes.len() {
        let from = changes[at].from.unwrap_or(MemOrder::Relaxed);
        let candidate = Candidate { site: changes[at].site.clone(), from };
        for change in candidate.stronger() {
            let mut weaker = changes.clone();
            weaker[at] = change;
            if subject.passes(&weaker)? {
                changes = weaker;
                break;
            }
        }
    }
    Some(changes)
}

/// The weaker orderings with which a passing test still passes, all together. Those that are not reached do not count.
pub fn weaker(subject: &Subject) -> Option<Advice> {
    let Some(reached) = reached(subject) else { return Some(Advice::OutOfTime) };
    let mut changes: Vec<Change> = Vec::new();
    for site in subject.sites.all().into_iter().filter(|site| reached.contains(&site.place)) {
        let Some(from) = subject.sites.ordering(&site) else { continue };
        for change in (Candidate { site, from }).weaker() {
            changes.push(change);
            match subject.passes(&changes) {
                Some(true) => break,
                Some(false) => changes.pop(),
                None => return Some(Advice::OutOfTime),
            };
        }
    }
    Some(if changes.is_empty() { Advice::AsWeakAsCanBe } else { Advice::Weaker(changes) })
}

/// The places with orderings that the test reaches: each is a trap, until it is found.
fn reached(subject: &Subject) -> Option<Vec<Location>> {
    let mut reached: Vec<Location> = Vec::new();
    loop {
        let hidden: Vec<Site> =
            subject.sites.all().into_iter().filter(|site| site.which == 0 && !reached.contains(&site.place)).collect();
        let tried = subject.check_program(&subject.sites.with_traps(&hidden))?;
        let trapped = tried.findings.iter().find(|finding| finding.kind == FindingKind::Unsupported);
        match trapped.and_then(|finding| finding.problem.location.clone()) {
            Some(place) if !reached.contains(&place) => reached.push(place),
            _ => return Some(reached),
        }
    }
}
