//! Work that several threads do at once, with results that are taken in order.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Does tasks on so many threads. Their results are handed to `take` in the order of the tasks, each as soon as it and all
/// before it are there. An error of `take` ends it: tasks that are not begun are not done.
pub fn in_order<T: Sync, R: Send, E>(
    tasks: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(&T, R, &Pool<R>) -> Result<(), E>,
) -> Result<(), E> {
    let pool = Pool::new(tasks.len());
    thread::scope(|scope| {
        for _ in 0..threads.min(tasks.len()) {
            scope.spawn(|| {
                while let Some(number) = pool.begin() {
                    pool.end(number, work(&tasks[number]));
                }
            });
        }
        let stops = StopsAtEnd(&pool);
        for (number, task) in tasks.iter().enumerate() {
            take(task, pool.result(number), &pool)?;
        }
        drop(stops);
        Ok(())
    })
}

/// What the threads share.
pub struct Pool<R> {
    state: Mutex<State<R>>,
    changed: Condvar,
}

struct State<R> {
    /// The first task that nobody has begun.
    next: usize,
    /// How many tasks are being done.
    running: usize,
    /// No task is begun for now.
    is_held: bool,
    /// By task: what came of it, until that is taken.
    results: Vec<Option<R>>,
}

impl<R> Pool<R> {
    fn new(tasks: usize) -> Pool<R> {
        let results = (0..tasks).map(|_| None).collect();
        let state = State { next: 0, running: 0, is_held: false, results };
        Pool { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Does something while no task is being done.
    pub fn alone<A>(&self, work: impl FnOnce() -> A) -> A {
        let mut state = self.lock();
        state.is_held = true;
        drop(self.changed.wait_while(state, |state| state.running > 0));
        let result = work();
        self.lock().is_held = false;
        self.changed.notify_all();
        result
    }

    /// The next task, once it may be begun; none if there are no more.
    fn begin(&self) -> Option<usize> {
        let is_held = |state: &mut State<R>| state.is_held && state.next < state.results.len();
        let waited = self.changed.wait_while(self.lock(), is_held);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let number = state.next;
        if number == state.results.len() {
            return None;
        }
        state.next += 1;
        state.running += 1;
        Some(number)
    }

    fn end(&self, number: usize, result: R) {
        let mut state = self.lock();
        state.running -= 1;
        state.results[number] = Some(result);
        drop(state);
        self.changed.notify_all();
    }

    /// What came of a task, once it is done.
    fn result(&self, number: usize) -> R {
        let mut state = self.lock();
        loop {
            match state.results[number].take() {
                Some(result) => return result,
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Nobody panics while the state is locked: it is whole.
    fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// No more tasks are begun when this is dropped.
struct StopsAtEnd<'a, R>(&'a Pool<R>);

impl<R> Drop for StopsAtEnd<'_, R> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.next = state.results.len();
        drop(state);
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_order() {
        let tasks: Vec<u64> = (0..100).collect();
        for threads in [1, 2, 7, 200] {
            let mut taken = Vec::new();
            let slow = |task: &u64| {
                thread::sleep(Duration::from_micros(task * 7919 % 100));
                task * 2
            };
            let take = |task: &u64, result, _: &Pool<u64>| {
                taken.push((*task, result));
                Ok::<(), Infallible>(())
            };
            assert_eq!(in_order(&tasks, threads, slow, take), Ok(()));
            assert_eq!(taken, tasks.iter().map(|task| (*task, task * 2)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn nobody_works_beside_who_is_alone() {
        let running = AtomicUsize::new(0);
        let work = |_: &usize| {
            running.fetch_add(1, Ordering::SeqCst);
            thread::sleep(Duration::from_micros(50));
            running.fetch_sub(1, Ordering::SeqCst);
        };
        let take = |task: &usize, (), pool: &Pool<()>| {
            if task.is_multiple_of(5) {
                pool.alone(|| {
                    assert_eq!(running.load(Ordering::SeqCst), 0);
                    thread::sleep(Duration::from_micros(200));
                    assert_eq!(running.load(Ordering::SeqCst), 0);
                });
            }
            Ok::<(), Infallible>(())
        };
        assert_eq!(in_order(&(0..60).collect::<Vec<_>>(), 4, work, take), Ok(()));
    }

    #[test]
    fn an_error_ends_it() {
        let done = AtomicUsize::new(0);
        let work = |_: &usize| {
            done.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1));
        };
        let take = |task: &usize, (), _: &Pool<()>| if *task == 3 { Err("full") } else { Ok(()) };
        assert_eq!(in_order(&(0..1000).collect::<Vec<_>>(), 2, work, take), Err("full"));
        assert!(done.load(Ordering::Relaxed) < 100, "{done:?}");
    }
}
