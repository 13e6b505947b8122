//! Runtimes for futures, with the test attributes that people write.

use std::thread;
use std::time::{Duration, Instant};

use futures::channel::oneshot;
use futures::executor::{LocalPool, block_on};
use futures::task::LocalSpawnExt;

#[tokio::test]
async fn tasks_and_channels() {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let task = tokio::spawn(async move {
        for number in 0..3 {
            sender.send(number).await.unwrap();
        }
        "sent"
    });
    while let Some(number) = receiver.recv().await {
        println!("{number}");
    }
    println!("{}", task.await.unwrap());
}

#[tokio::test]
async fn timers() {
    let start = Instant::now();
    tokio::time::sleep(Duration::from_millis(3)).await;
    println!("{}", start.elapsed() >= Duration::from_millis(3));
    let never = std::future::pending::<()>();
    println!("{:?}", tokio::time::timeout(Duration::from_millis(1), never).await.is_err());
    println!("{:?}", tokio::time::timeout(Duration::from_secs(1), async { 5 }).await);
    let mut interval = tokio::time::interval(Duration::from_millis(1));
    for _ in 0..3 {
        interval.tick().await;
    }
}

#[tokio::test(start_paused = true)]
async fn paused_clock() {
    let start = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    println!("{:?}", start.elapsed());
}

#[tokio::test]
async fn panic_in_a_task() {
    let task = tokio::spawn(async { panic!("in a task") });
    println!("{}", task.await.unwrap_err().is_panic());
}

#[tokio::test]
async fn message_of_a_thread() {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = thread::spawn(move || sender.send(3).unwrap());
    println!("{:?}", receiver.await);
    thread.join().unwrap();
}

#[test]
fn block_on_a_message() {
    let (sender, receiver) = oneshot::channel();
    let thread = thread::spawn(move || sender.send(3).unwrap());
    println!("{:?}", block_on(receiver));
    thread.join().unwrap();
}

#[test]
fn local_pool() {
    let mut pool = LocalPool::new();
    let (sender, receiver) = oneshot::channel();
    pool.spawner().spawn_local(async move { sender.send(3).unwrap() }).unwrap();
    println!("{:?}", pool.run_until(receiver));
}

#[test]
fn smol_without_timers() {
    println!("{}", smol::block_on(async { 1 }));
    let executor = smol::LocalExecutor::new();
    let task = executor.spawn(async { 7 });
    println!("{}", smol::future::block_on(executor.run(task)));
}
