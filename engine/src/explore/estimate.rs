//! How many executions there are, guessed by random descents (Knuth: Estimating the Efficiency of Backtrack Programs,
//! 1975).
//!
//! A descent goes from the root of the exploration tree to a leaf, taking each child with the same probability; the
//! product of the numbers of children on the way is an unbiased estimate of the number of leaves. The trees are uneven,
//! so that one descent says little: the estimate comes with its standard error.

use super::lessons::Lessons;
use super::program::Program;
use super::survey::Tally;
use super::visit::{Item, Step, Visitor};
use super::{Config, Equivalence, UnderModel, with_model};
use crate::graph::ThreadId;
use crate::model::Model;

/// An estimate of the number of executions, complete and blocked ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// How many descents were made.
    pub samples: u64,
    sum: f64,
    sum_of_squares: f64,
}

impl Estimate {
    /// The estimated number of executions.
    pub fn mean(&self) -> f64 {
        if self.samples == 0 { 0.0 } else { self.sum / self.samples as f64 }
    }

    /// The standard error of the mean; infinite where nothing can be said.
    pub fn standard_error(&self) -> f64 {
        if self.samples < 2 {
            return f64::INFINITY;
        }
        let n = self.samples as f64;
        let variance = (self.sum_of_squares - self.sum * self.sum / n).max(0.0) / (n - 1.0);
        (variance / n).sqrt()
    }

    /// Takes the descents of another estimate in.
    pub fn add(&mut self, other: Estimate) {
        self.samples += other.samples;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
    }
}

/// Estimates the number of executions of a program from this many descents. The same seed gives the same estimate.
pub fn estimate<P: Program>(program: &P, config: &Config, samples: u64, seed: u64) -> Estimate {
    let lessons = &Lessons::new(config);
    let equivalence = config.equivalence;
    with_model(config, Sampling { program, lessons, equivalence, samples, seed })
}

struct Sampling<'a, P> {
    program: &'a P,
    lessons: &'a Lessons,
    equivalence: Equivalence,
    samples: u64,
    seed: u64,
}

impl<P: Program> UnderModel for Sampling<'_, P> {
    type Output = Estimate;

    fn under<M: Model>(self, model: M) -> Estimate {
        let ties = self.equivalence.ties(&model);
        let visitor = Visitor::new(self.program, model, self.lessons, ties);
        let root = Visitor::<P, M>::root_item(self.program, self.lessons, ties);
        Descents::new(visitor, root, self.seed).sample(self.samples)
    }
}

/// Makes descents.
pub(super) struct Descents<'p, P: Program, M> {
    pub visitor: Visitor<'p, P, M>,
    root: Item<P::State>,
    random: SplitMix,
    /// Where descents come by, where somebody wants to know that.
    pub tally: Option<Tally>,
}

impl<'p, P: Program, M: Model> Descents<'p, P, M> {
    /// From this root, which the visitor is to explore.
    pub fn new(visitor: Visitor<'p, P, M>, root: Item<P::State>, seed: u64) -> Descents<'p, P, M> {
        Descents { visitor, root, random: SplitMix::new(seed), tally: None }
    }

    pub fn sample(&mut self, samples: u64) -> Estimate {
        let mut estimate = Estimate::default();
        for _ in 0..samples {
            let Some(leaves) = self.descend() else { break };
            estimate.add(Estimate { samples: 1, sum: leaves, sum_of_squares: leaves * leaves });
        }
        estimate
    }

    /// How many leaves there would be if all parts of the tree were alike; nothing where the time is over.
    fn descend(&mut self) -> Option<f64> {
        let mut leaves = 1.0;
        let mut step = self.visitor.begin(self.root.clone());
        self.tally.iter_mut().for_each(Tally::begin);
        loop {
            if self.visitor.deadline.is_over() {
                return None;
            }
            match step {
                Step::Extended => step = self.step(&mut leaves),
                Step::Full(_) | Step::Failed(_) | Step::Restart(_) => return Some(leaves),
                Step::Cut => return Some(0.0),
            }
        }
    }

    /// One step down to a random child.
    fn step(&mut self, leaves: &mut f64) -> Step<P::Error> {
        let visitor = &mut self.visitor;
        if let Some(frame) = visitor.tree.frames.pop() {
            return self.pick(frame.thread, frame.start, frame.slot, leaves);
        }
        let start = visitor.tree.choices.len();
        match visitor.branch() {
            Ok(thread) => {
                let slot = visitor.save();
                self.pick(thread, start, slot, leaves)
            }
            Err(end) => end,
        }
    }

    fn pick(&mut self, thread: ThreadId, start: usize, slot: usize, leaves: &mut f64) -> Step<P::Error> {
        let visitor = &mut self.visitor;
        let children = (visitor.tree.choices.len() - start) as u64;
        *leaves *= children as f64;
        if let Some(tally) = &mut self.tally {
            let loc = visitor.graph().thread(thread).pending.loc();
            tally.count(thread, visitor.program.spot(&visitor.state, thread, loc), children);
        }
        let choice = visitor.tree.choices[start + self.random.below(children) as usize];
        visitor.tree.choices.truncate(start);
        visitor.apply(thread, choice, slot)
    }
}

/// A small random number generator (Steele, Lea, Flood 2014).
pub(super) struct SplitMix(u64);

impl SplitMix {
    pub fn new(seed: u64) -> SplitMix {
        SplitMix(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }
}
