//! Async functions as state machines, polled by hand.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn, ready};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Is pending some times before it is ready.
struct Countdown(u32);

impl Future for Countdown {
    type Output = &'static str;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<&'static str> {
        if self.0 == 0 {
            return Poll::Ready("liftoff");
        }
        println!("  {}...", self.0);
        self.0 -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

struct Guard(&'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        println!("  drop {}", self.0);
    }
}

async fn step(name: &'static str, n: u32) -> u32 {
    let _guard = Guard(name);
    println!("  {name} starts");
    let word = Countdown(n).await;
    println!("  {name}: {word}");
    n * 10
}

#[dpor::test]
fn awaiting() {
    let total = block_on(async {
        let first = step("first", 2).await;
        let numbers = [first, 1];
        let second = step("second", numbers[1]).await;
        first + second + ready(5).await
    });
    println!("{total}");
    println!("dropped before it ran");
    drop(step("never", 1));
    println!("dropped half way");
    let mut half = Box::pin(step("half", 3));
    println!("{:?}", half.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    drop(half);
}

#[dpor::test]
fn errors_and_loops() {
    async fn parse(text: &str) -> Result<i32, std::num::ParseIntError> {
        Countdown(1).await;
        text.parse()
    }
    async fn sum(texts: &[&str]) -> Result<i32, std::num::ParseIntError> {
        let mut total = 0;
        for text in texts {
            total += parse(text).await?;
        }
        Ok(total)
    }
    println!("{:?}", block_on(sum(&["1", "2", "39"])));
    println!("{:?}", block_on(sum(&["1", "x", "39"])));
    let mut polls = 0;
    let value = block_on(poll_fn(|_| {
        polls += 1;
        if polls < 4 { Poll::Pending } else { Poll::Ready(polls) }
    }));
    println!("{value}");
    let closure = async |x: u32| step("closure", x).await + 1;
    println!("{}", block_on(closure(0)));
    // The future owns what the closure has captured.
    let name = String::from("once");
    let closure = async move |x: u32| format!("{name}{}", step("owned", x).await);
    println!("{}", block_on(call_once(closure)));
}

async fn call_once(closure: impl AsyncFnOnce(u32) -> String) -> String {
    closure(1).await
}

struct CountingWaker(AtomicUsize);

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Runs tasks in turns until all are done.
#[derive(Default)]
struct Executor {
    tasks: VecDeque<Task>,
}

impl Executor {
    fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.tasks.push_back(Box::pin(task));
    }

    fn run(&mut self) -> (usize, usize) {
        let counter = Arc::new(CountingWaker(AtomicUsize::new(0)));
        let waker = Waker::from(counter.clone());
        let mut context = Context::from_waker(&waker);
        let mut polls = 0;
        while let Some(mut task) = self.tasks.pop_front() {
            polls += 1;
            if task.as_mut().poll(&mut context).is_pending() {
                self.tasks.push_back(task);
            }
        }
        (polls, counter.0.load(Ordering::Relaxed))
    }
}

async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            Poll::Ready(())
        } else {
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

#[dpor::test]
fn executor() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let running = Rc::new(Cell::new(0));
    let mut executor = Executor::default();
    for (name, rounds) in [("a", 3), ("b", 1), ("c", 2)] {
        let (log, running) = (log.clone(), running.clone());
        executor.spawn(async move {
            running.set(running.get() + 1);
            for round in 0..rounds {
                log.borrow_mut().push(format!("{name}{round}"));
                yield_now().await;
            }
            running.set(running.get() - 1);
        });
    }
    println!("{:?}", executor.run());
    let waker = Waker::from(Arc::new(CountingWaker(AtomicUsize::new(0))));
    println!("{} {}", waker.will_wake(&waker.clone()), waker.will_wake(Waker::noop()));
    println!("{} {}", log.borrow().join(" "), running.get());
}
