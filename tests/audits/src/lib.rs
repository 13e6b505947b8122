//! Small tests of published crates, as their maintainers could write them: two threads, one or two operations each, and an
//! assertion on what comes out. One module for each crate.

#![cfg(test)]

mod aarc;
mod append_only_vec;
mod arc_swap;
mod arcshift;
mod arcstr;
mod async_broadcast;
mod async_channel;
mod async_event;
mod async_executor;
mod async_lock;
mod async_once_cell;
mod async_oneshot;
mod async_task;
mod atomic_float;
mod atomic_refcell;
mod atomic_take;
mod atomic_waker;
mod atomicbox;
mod basedrop;
mod bbqueue;
mod boxcar;
mod bus;
mod bytes;
mod catty;
mod concurrent_queue;
mod conquer_once;
mod crossbeam_channel;
mod crossbeam_deque;
mod crossbeam_epoch;
mod crossbeam_queue;
mod crossbeam_skiplist;
mod crossbeam_utils;
mod crossfire;
mod dashmap;
mod diatomic_waker;
mod elsa;
mod event_listener;
mod evmap;
mod flume;
mod flurry;
mod futures_channel;
mod futures_util;
mod haphazard;
mod hazarc;
mod heapless;
mod hybrid_rc;
mod kanal;
mod lazy_static;
mod left_right;
mod lockfree_object_pool;
mod loole;
mod maitake_sync;
mod mcslock;
mod multishot;
mod object_pool;
mod omango;
mod once_cell;
mod oneshot;
mod orx_concurrent_vec;
mod papaya;
mod parking;
mod parking_lot;
mod piper;
mod rclite;
mod ring_channel;
mod ringbuf;
mod ringbuffer_spsc;
mod rtrb;
mod scc;
mod sdd;
mod seize;
mod seqlock;
mod servo_arc;
mod sharded_slab;
mod spin;
mod spinning_top;
mod spmc;
mod swap_arc;
mod swap_buffer_queue;
mod tachyonix;
mod thingbuf;
mod thread_local;
mod tokio;
mod triomphe;
mod triple_buffer;
mod try_lock;
mod usync;
mod waitgroup;
mod want;

use std::thread;

/// Runs `other` in a thread of its own while this thread runs `own`: what the two return.
fn both<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let own = own();
        (other.join().unwrap(), own)
    })
}
