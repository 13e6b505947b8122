//! Trying out changes, small ones first.

use dpor_engine::verdict::Location;

use super::candidates::{self, Candidate, Family};
use super::change::{AtomicCall, Change, What, parameters};
use super::{Advice, OtherError, Subject};
use crate::finding::{Finding, FindingKind};

/// Of several changes that are as good, so many are named.
const MAX_NAMED: usize = 3;

/// More pairs than this are not tried out.
const MAX_PAIRS: usize = 3000;

/// The time is over.
struct OutOfTime;

/// Changes that make the test pass together.
type Group = Vec<Change>;

/// The smallest changes with which a failing test passes.
pub fn stronger(subject: &Subject, findings: &[Finding]) -> Advice {
    let mut search = Search::default();
    let ended = search.run(subject, findings);
    let Search { found: mut groups, marked, left } = search;
    if groups.is_empty() {
        // There was no time to look for anything smaller.
        groups.extend(marked);
    }
    if groups.iter().flatten().all(|change| change.own) && !subject.has_other_code(findings) {
        groups.iter_mut().flatten().for_each(|change| change.own = false);
    }
    groups.iter_mut().for_each(|group| group.sort_by(|a, b| a.site.cmp(&b.site)));
    // What is in the test's own code comes last: it may well hide the mistake.
    groups.sort_by_key(|group| (is_own(group), group.len(), !group.iter().all(is_ordering), cost(group)));
    match ended {
        _ if !groups.is_empty() => Advice::Stronger(groups),
        Ok(()) if !subject.has_given_up() => not_orderings(findings, &left),
        _ => Advice::OutOfTime,
    }
}

/// With the strongest orderings everywhere, these errors are left.
fn not_orderings(findings: &[Finding], left: &[Finding]) -> Advice {
    let is_known = |other: &Finding| {
        findings.iter().any(|known| known.kind == other.kind && known.problem.location == other.problem.location)
    };
    match left {
        [other, ..] if !left.iter().any(is_known) => Advice::AnotherError(OtherError::of(other)),
        _ => Advice::NotOrderings,
    }
}

/// What was found out so far.
#[derive(Default)]
struct Search {
    found: Vec<Group>,
    /// What the orderings that the report calls too weak come to together.
    marked: Option<Group>,
    /// The errors that are left with the strongest orderings everywhere.
    left: Vec<Finding>,
}

impl Search {
    fn run(&mut self, subject: &Subject, findings: &[Finding]) -> Result<(), OutOfTime> {
        let mut candidates = candidates::orderings(subject, findings);
        let strongest = self.all_strongest(subject, &mut candidates)?;
        let operations = candidates::operations(subject, &candidates);
        let found = &mut self.found;
        if strongest.is_none() {
            // Where the strongest orderings do not help, fences do not either.
            return singles(subject, &operations, found);
        }
        let orderings: Vec<Family> = candidates.iter().map(|candidate| candidate.others(subject)).collect();
        let fences = candidates::fences(subject, &candidates);
        self.marked = together(subject, &candidates)?;
        singles(subject, &orderings, found)?;
        if found.is_empty() {
            singles(subject, &operations, found)?;
            singles(subject, &fences, found)?;
        }
        if found.is_empty() {
            found.extend(self.marked.take());
        }
        found.sort_by_key(|group| (is_own(group), cost(group)));
        found.truncate(MAX_NAMED);
        let only_in_test = found.iter().all(is_own) && candidates.iter().any(|candidate| !candidate.own);
        if !found.is_empty() && !only_in_test {
            return Ok(());
        }
        // Outside of the test, one change does not do.
        let in_test = found.len();
        let others = |families: &[Family]| -> Vec<Family> {
            families.iter().filter(|family| in_test == 0 || family.iter().all(|change| !change.own)).cloned().collect()
        };
        pairs(subject, &marked_first(&others(&orderings), &candidates), found)?;
        if found.len() == in_test {
            pairs(subject, &others(&fences), found)?;
        }
        if found.is_empty() {
            let changes = strongest.unwrap_or_default();
            found.push(reduced(subject, changes, &candidates)?);
        }
        Ok(())
    }

    /// The strongest orderings everywhere, if the test passes with them. Steps of executions that fail then are added.
    fn all_strongest(
        &mut self,
        subject: &Subject,
        candidates: &mut Vec<Candidate>,
    ) -> Result<Option<Group>, OutOfTime> {
        loop {
            let changes: Group = candidates.iter().filter_map(|candidate| candidate.strongest(subject)).collect();
            let tried = subject.check(&changes).ok_or(OutOfTime)?;
            if tried.passes {
                return Ok(Some(changes));
            }
            let mut more = candidates::orderings(subject, &tried.findings);
            self.left = tried.findings;
            // What the report says of another execution is about that one.
            more.iter_mut().for_each(|candidate| candidate.marked = false);
            if !candidates::merge(candidates, more) {
                return Ok(None);
            }
        }
    }
}

fn is_own(group: &Group) -> bool {
    group.iter().any(|change| change.own)
}

fn is_ordering(change: &Change) -> bool {
    matches!(change.what, What::Ordering { .. })
}

/// How much a group changes.
fn cost(group: &[Change]) -> u32 {
    group.iter().map(Change::cost).sum()
}

/// Tries one change at a time: of each family, the first that does it.
fn singles(subject: &Subject, families: &[Family], found: &mut Vec<Group>) -> Result<(), OutOfTime> {
    for family in families {
        for change in family {
            let group = vec![change.clone()];
            if subject.passes(&group).ok_or(OutOfTime)? {
                found.push(group);
                break;
            }
        }
    }
    Ok(())
}

/// The orderings that the report calls too weak, all of them at once, made as weak again as is possible.
fn together(subject: &Subject, candidates: &[Candidate]) -> Result<Option<Group>, OutOfTime> {
    let marked = candidates.iter().filter(|candidate| candidate.marked);
    let changes: Group = marked.filter_map(|candidate| candidate.strongest(subject)).collect();
    match changes.len() > 1 && subject.passes(&changes).ok_or(OutOfTime)? {
        true => Ok(Some(reduced(subject, changes, candidates)?)),
        false => Ok(None),
    }
}

/// The families of the candidates that the report calls too weak, and then the others.
fn marked_first(families: &[Family], candidates: &[Candidate]) -> Vec<Family> {
    let is_marked = |family: &Family| {
        let site = family.first().map(|change| &change.site);
        candidates.iter().any(|candidate| candidate.marked && Some(&candidate.site) == site)
    };
    let mut families: Vec<Family> = families.to_vec();
    families.sort_by_key(|family| !is_marked(family));
    families
}

/// Tries two changes at a time: those outside of the test first, and small ones.
fn pairs(subject: &Subject, families: &[Family], found: &mut Vec<Group>) -> Result<(), OutOfTime> {
    let mut pairs: Vec<Group> = Vec::new();
    for (at, first) in families.iter().enumerate() {
        for second in &families[at + 1..] {
            let both = |a: &Change| second.iter().map(|b| vec![a.clone(), b.clone()]).collect::<Vec<_>>();
            pairs.extend(first.iter().flat_map(both));
        }
    }
    let order = |pair: &Group| (is_own(pair), cost(pair));
    pairs.sort_by_key(order);
    pairs.truncate(MAX_PAIRS);
    let mut first_found = None;
    let mut named = 0;
    for pair in pairs {
        // Others that change as little are as good.
        if named == MAX_NAMED || first_found.is_some_and(|first| first < order(&pair)) {
            break;
        }
        if subject.passes(&pair).ok_or(OutOfTime)? {
            first_found.get_or_insert(order(&pair));
            named += 1;
            found.push(pair);
        }
    }
    Ok(())
}

/// As many of the changes taken back, and the others made as weak, as is possible one after the other.
fn reduced(subject: &Subject, mut changes: Group, candidates: &[Candidate]) -> Result<Group, OutOfTime> {
    let mut at = 0;
    while at < changes.len() {
        let mut without = changes.clone();
        without.remove(at);
        if subject.passes(&without).ok_or(OutOfTime)? {
            changes = without;
        } else {
            at += 1;
        }
    }
    for at in 0..changes.len() {
        let is_it = |candidate: &&Candidate| {
            matches!(changes[at].what, What::Ordering { which, .. } if which == candidate.which)
                && candidate.site == changes[at].site
        };
        let others = candidates.iter().find(is_it).map(|candidate| candidate.others(subject)).unwrap_or_default();
        for change in others {
            let mut weaker = changes.clone();
            weaker[at] = change;
            if subject.passes(&weaker).ok_or(OutOfTime)? {
                changes = weaker;
                break;
            }
        }
    }
    Ok(changes)
}

/// The weaker orderings with which a passing test still passes, all together. Those that are not reached do not count.
pub fn weaker(subject: &Subject) -> Advice {
    let Some(reached) = reached(subject) else { return Advice::OutOfTime };
    let sites = subject.sites.all().into_iter().filter(|site| reached.contains(&site.place));
    let orderings = sites.flat_map(|site| (0..parameters(&site.method).len()).map(move |which| (site.clone(), which)));
    let (mut changes, mut tried): (Group, bool) = (Vec::new(), false);
    for (site, which) in orderings {
        let Some(from) = subject.sites.ordering(&site, which) else { continue };
        let own = subject.is_own(&site);
        for change in (Candidate { site, which, from, marked: false, own }).weaker(subject) {
            changes.push(change);
            tried = true;
            match subject.passes(&changes) {
                Some(true) => break,
                Some(false) => changes.pop(),
                None => return Advice::OutOfTime,
            };
        }
    }
    match changes.is_empty() {
        true if tried => Advice::AsWeakAsCanBe,
        true => Advice::NoOrderings,
        false => Advice::Weaker(changes),
    }
}

/// The places with orderings that the test reaches: each is a trap, until it is found.
fn reached(subject: &Subject) -> Option<Vec<Location>> {
    let mut reached: Vec<Location> = Vec::new();
    loop {
        let hidden: Vec<AtomicCall> =
            subject.sites.all().into_iter().filter(|site| !reached.contains(&site.place)).collect();
        let tried = subject.check_program(&subject.sites.with_traps(&hidden), subject.deadline)?;
        let trapped = tried.findings.iter().find(|finding| finding.kind == FindingKind::Unsupported);
        match trapped.and_then(|finding| finding.problem.location.clone()) {
            Some(place) if !reached.contains(&place) => reached.push(place),
            _ => return Some(reached),
        }
    }
}
