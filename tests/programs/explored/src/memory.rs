//! What is in plain memory follows the execution: whoever comes first finds what was there, the next one what that one left.
//!
//! Threads draw tickets while they hold a lock, so that the order in which they held it is known, and what they did can be
//! compared with it. An execution is an order of the critical sections.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::{mem, thread};

use crate::support::two;

/// A value with a lock, and the tickets of those who hold it.
struct Ticketed<T> {
    value: Mutex<T>,
    next: AtomicUsize,
}

impl<T> Ticketed<T> {
    fn new(value: T) -> Ticketed<T> {
        Ticketed { value: Mutex::new(value), next: AtomicUsize::new(0) }
    }

    /// Calls a function with the value and the next ticket.
    fn with<R>(&self, function: impl FnOnce(&mut T, usize) -> R) -> R {
        let mut value = self.value.lock().unwrap();
        let ticket = self.next.fetch_add(1, Relaxed);
        function(&mut value, ticket)
    }

    fn into_inner(self) -> T {
        self.value.into_inner().unwrap()
    }
}

/// Runs the same in three threads, with their numbers.
fn three(body: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for i in 0..3 {
            let body = &body;
            scope.spawn(move || body(i));
        }
    });
}

#[dpor::test]
fn vectors_that_grow() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let tickets = Ticketed::new(Vec::new());
    three(|_| tickets.with(|tickets, ticket| tickets.extend([ticket; 3])));
    assert_eq!(tickets.into_inner(), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
}

#[dpor::test]
fn text() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let text = Ticketed::new(String::new());
    three(|_| text.with(|text, ticket| *text = format!("({text}{ticket})")));
    assert_eq!(text.into_inner(), "(((0)1)2)");
}

#[dpor::test]
fn lists() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    struct Node {
        ticket: usize,
        next: Option<Box<Node>>,
    }
    let list = Ticketed::new(None::<Box<Node>>);
    three(|_| {
        list.with(|list, ticket| {
            let next = list.take();
            *list = Some(Box::new(Node { ticket, next }));
        });
    });
    let mut list = list.into_inner();
    for expected in (0..3).rev() {
        let Node { ticket, next } = *list.unwrap();
        assert_eq!(ticket, expected);
        list = next;
    }
    assert!(list.is_none());
}

#[dpor::test]
fn maps() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let maps = Ticketed::new((HashMap::new(), BTreeMap::new()));
    three(|i| {
        maps.with(|(by_thread, by_ticket), ticket| {
            assert_eq!(by_thread.insert(i, ticket), None);
            assert_eq!(by_ticket.insert(ticket, i), None);
        });
    });
    let (by_thread, by_ticket) = maps.into_inner();
    assert!(by_ticket.iter().all(|(ticket, i)| by_thread[i] == *ticket));
    assert_eq!(by_ticket.into_keys().collect::<Vec<_>>(), [0, 1, 2]);
}

// Each thread takes what the last one has left, and leaves its own: allocated by one, freed by another.
#[dpor::test]
fn swapped() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    let slot = Ticketed::new(Box::new(usize::MAX));
    three(|_| {
        slot.with(|slot, ticket| {
            let before = mem::replace(slot, Box::new(ticket));
            assert_eq!(before.wrapping_add(1), ticket);
        });
    });
    assert_eq!(*slot.into_inner(), 2);
}

// A machine with states: what a thread does depends on the state that it finds.
#[dpor::test]
fn states() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    #[derive(Debug, PartialEq)]
    enum State {
        Empty,
        One(Box<usize>),
        Many(Vec<usize>),
    }
    let state = Ticketed::new(State::Empty);
    three(|_| {
        state.with(|state, ticket| {
            *state = match mem::replace(state, State::Empty) {
                State::Empty => State::One(Box::new(ticket)),
                State::One(first) => State::Many(vec![*first, ticket]),
                State::Many(mut all) => {
                    all.push(ticket);
                    State::Many(all)
                }
            };
        });
    });
    assert_eq!(state.into_inner(), State::Many(vec![0, 1, 2]));
}

// How deep a thread calls, and what it leaves on its own stack, depends on what it finds.
#[dpor::test]
fn calls() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    fn depth(n: usize, path: &mut [usize; 4]) -> usize {
        path[n] = n;
        if n == 0 { 0 } else { 1 + depth(n - 1, path) }
    }
    let depths = Ticketed::new(Vec::new());
    three(|_| {
        let mut path = [9; 4];
        let ticket = depths.with(|depths, ticket| {
            depths.push(depth(ticket, &mut path));
            ticket
        });
        assert!(path.iter().enumerate().all(|(at, value)| *value == if at <= ticket { at } else { 9 }));
    });
    assert_eq!(depths.into_inner(), [0, 1, 2]);
}

// Work that one thread leaves for whoever comes next.
#[dpor::test]
fn closures() {
    // COUNT: rc11 6 sc 6 tso 6 pso 6
    type Job = Box<dyn FnOnce(usize) -> usize + Send>;
    let jobs = Ticketed::new(VecDeque::<Job>::new());
    three(|_| {
        let job = jobs.with(|jobs, ticket| {
            let job = jobs.pop_front();
            jobs.push_back(Box::new(move |next| 10 * next + ticket));
            job.map(|job| job(ticket))
        });
        assert!([None, Some(10), Some(21)].contains(&job));
    });
    let mut jobs = jobs.into_inner();
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs.pop_front().unwrap()(3), 32);
}

// Two values with a lock each, visited in the same order by both threads: either order for either, 2!².
#[dpor::test]
fn two_values() {
    // COUNT: rc11 4 sc 4 tso 4 pso 4
    let values = [Ticketed::new(Vec::new()), Ticketed::new(Vec::new())];
    let visit = |name: char| values.each_ref().map(|value| value.with(|names, _| names.push(name)));
    two(|| visit('a'), || visit('b'));
    let names = values.map(|value| value.into_inner().into_iter().collect::<String>());
    assert!(names.iter().all(|names| names == "ab" || names == "ba"));
}

// What a thread returns is its own, whatever else is going on.
#[dpor::test]
fn results() {
    // COUNT: rc11 2 sc 2 tso 2 pso 2
    let log = Ticketed::new(String::new());
    let work = |name: &str| {
        let mut own = name.to_owned();
        own += &log.with(|log, ticket| {
            log.push_str(name);
            ticket.to_string()
        });
        own
    };
    let results = two(|| work("a"), || work("b"));
    let log = log.into_inner();
    let expected = if log == "ab" { ("a0", "b1") } else { ("a1", "b0") };
    assert_eq!((&*results.0, &*results.1), expected);
}

// Found by everybody, whoever put it there: an error that depends on plain memory alone.
#[dpor::test]
fn error_in_one_order() {
    let log = Ticketed::new(String::new());
    three(|i| log.with(|log, _| log.push_str(["a", "b", "c"][i])));
    assert_ne!(log.into_inner(), "cab"); // ERROR: panic
}
