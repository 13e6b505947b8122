//! A channel of any capacity: tickets for sending, and tickets for receiving.
//!
//! A sender draws ticket `k` and puts its message there, in one step; whoever draws ticket `k` of the receivers gets
//! it. In a channel with a capacity `c` the sender then waits until `k + 1 - c` tickets of receivers are drawn: its
//! message is in the channel only from then on, but nobody can tell, since a receiver must have drawn ticket `k`
//! before. For a capacity of 0 that means that a receiver is there.

use super::counter::Ends;
use super::error::*;
use super::queue::{Queue, Users};
use crate::marker::PhantomData;
use crate::sync::atomic::Atomic;
use crate::sync::atomic::Ordering::{self, Relaxed, SeqCst};
use crate::sys::sync::checker::{
    dpor_ask, dpor_asked, dpor_elapse, dpor_reach, dpor_try_add, dpor_unsupported, finite, order, question, test,
    token, wait,
};
use crate::time::{Duration, Instant};

/// In a word of tickets: the channel is disconnected, no more will be drawn. It is more than any number of tickets.
const CLOSED: u32 = 1 << 31;

/// A channel; `Kind` tells unbounded channels, bounded ones and those without capacity apart.
pub(crate) struct Channel<T, Kind> {
    /// Tickets of senders.
    sent: Atomic<u32>,
    /// Tickets of receivers.
    taken: Atomic<u32>,
    capacity: Option<u32>,
    queue: Queue<T>,
    users: Users,
    kind: PhantomData<Kind>,
}

impl<T, Kind> Ends for Channel<T, Kind> {
    fn users(&self) -> &Users {
        &self.users
    }
}

impl<T, Kind> Channel<T, Kind> {
    pub(super) fn with(capacity: Option<usize>) -> Self {
        Channel {
            sent: Atomic::<u32>::new(0),
            taken: Atomic::<u32>::new(0),
            // So many messages nobody can send.
            capacity: capacity.map(|capacity| capacity.min(CLOSED as usize) as u32),
            queue: Queue::new(),
            users: Users::new(),
            kind: PhantomData,
        }
    }

    /// Sends a message, and waits for room.
    pub(crate) fn send(&self, message: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        if let (Some(deadline), Some(capacity)) = (deadline, self.capacity) {
            return self.send_until(message, deadline, capacity);
        }
        let ticket = dpor_try_add(&self.sent, order::SEQ_CST, test::BELOW, CLOSED, 1);
        if ticket >= CLOSED {
            return Err(SendTimeoutError::Disconnected(message));
        }
        self.queue.put(ticket, message);
        match self.capacity {
            Some(capacity) if ticket >= capacity => self.wait_for_room(ticket, ticket + 1 - capacity),
            _ => Ok(()),
        }
    }

    /// Waits until so many tickets of receivers are drawn; if no more will be, takes the message back.
    fn wait_for_room(&self, ticket: u32, needed: u32) -> Result<(), SendTimeoutError<T>> {
        let parks = self.will_park(&self.taken, needed);
        let taken = dpor_reach(&self.taken, wait::ROOM, test::AT_LEAST, needed, true, core::ptr::null());
        token::disturb(parks);
        if taken & !CLOSED >= needed {
            return Ok(());
        }
        Err(SendTimeoutError::Disconnected(self.queue.take(ticket)))
    }

    /// Sends a message if there is room in time.
    fn send_until(&self, message: T, deadline: Instant, capacity: u32) -> Result<(), SendTimeoutError<T>> {
        if capacity == 0 {
            unsupported("a time limit for sending to a channel without capacity");
        }
        let Some(timeout) = finite(deadline.saturating_duration_since(Instant::now())) else {
            return self.send(message, None);
        };
        self.try_send(message).map_err(|error| match error {
            TrySendError::Disconnected(message) => SendTimeoutError::Disconnected(message),
            TrySendError::Full(message) => {
                dpor_elapse(timeout);
                SendTimeoutError::Timeout(message)
            }
        })
    }

    /// Sends a message if there is room for it.
    pub(crate) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let room = match self.capacity {
            None => CLOSED,
            Some(capacity) => (self.taken.load(SeqCst) & !CLOSED).saturating_add(capacity).min(CLOSED),
        };
        let ticket = dpor_try_add(&self.sent, order::SEQ_CST, test::BELOW, room, 1);
        if ticket < room {
            self.queue.put(ticket, message);
            return Ok(());
        }
        Err(if ticket >= CLOSED { TrySendError::Disconnected(message) } else { TrySendError::Full(message) })
    }

    /// Receives a message, and waits for one.
    pub(crate) fn recv(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        if let Some(deadline) = deadline {
            return self.recv_within(deadline.saturating_duration_since(Instant::now()));
        }
        let ticket = self.taken.fetch_add(1, self.order_of_taking()) & !CLOSED;
        let parks = self.will_park(&self.sent, ticket + 1);
        let keepers = if dpor_asked(question::DISCONNECTION) { core::ptr::null() } else { self.users.senders() };
        let sent = dpor_reach(&self.sent, wait::MESSAGE, test::AT_LEAST, ticket + 1, true, keepers);
        token::disturb(parks);
        if sent & !CLOSED > ticket { Ok(self.queue.take(ticket)) } else { Err(RecvTimeoutError::Disconnected) }
    }

    /// Whether a thread that waits for a word to be so large parks, as far as its token is of interest.
    fn will_park(&self, word: &Atomic<u32>, needed: u32) -> bool {
        if !token::matters() {
            return false;
        }
        dpor_ask(question::DISCONNECTION);
        word.load(SeqCst) < needed
    }

    /// Senders see how many tickets of receivers are drawn only where they have to wait for it.
    fn order_of_taking(&self) -> Ordering {
        if self.capacity.is_some() { SeqCst } else { Relaxed }
    }

    /// Receives a message if there is one in time.
    pub(crate) fn recv_within(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let Some(timeout) = finite(timeout) else { return self.recv(None) };
        let result = match self.capacity {
            Some(0) => self.meet(),
            _ => self.try_recv(),
        };
        token::disturb(token::matters());
        result.map_err(|error| match error {
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            TryRecvError::Empty => {
                dpor_elapse(timeout);
                RecvTimeoutError::Timeout
            }
        })
    }

    /// In a channel without capacity: draws a ticket, so that senders see that a receiver is there, and makes it void
    /// if no sender has come.
    fn meet(&self) -> Result<T, TryRecvError> {
        dpor_ask(question::DISCONNECTION);
        let ticket = self.taken.fetch_add(1, SeqCst) & !CLOSED;
        let sent = dpor_try_add(&self.sent, order::SEQ_CST, test::IS, ticket, 1);
        if sent & !CLOSED > ticket {
            return Ok(self.queue.take(ticket));
        }
        if sent >= CLOSED {
            return Err(TryRecvError::Disconnected);
        }
        if sent < ticket {
            unsupported("several receivers with time limits at a channel without capacity");
        }
        Err(TryRecvError::Empty)
    }

    /// Receives a message if there is one.
    pub(crate) fn try_recv(&self) -> Result<T, TryRecvError> {
        dpor_ask(question::DISCONNECTION);
        // The word that a thread which tries again and again waits for is the last one that it looks at.
        let taken = self.taken.load(SeqCst) & !CLOSED;
        let sent = self.sent.load(SeqCst);
        let messages = sent & !CLOSED;
        if taken < messages {
            let ticket = dpor_try_add(&self.taken, order::SEQ_CST, test::BELOW, messages, 1);
            if ticket < messages {
                return Ok(self.queue.take(ticket));
            }
        }
        Err(if sent >= CLOSED { TryRecvError::Disconnected } else { TryRecvError::Empty })
    }

    /// The last sender is gone.
    pub(crate) fn disconnect_senders(&self) -> bool {
        self.sent.fetch_or(CLOSED, SeqCst) < CLOSED
    }

    /// The last receiver is gone: the messages in the channel are dropped, those that wait for room are left for their
    /// senders.
    pub(crate) fn disconnect_receivers(&self) -> bool {
        let sent = self.sent.fetch_or(CLOSED, SeqCst);
        let first = self.taken.fetch_or(CLOSED, self.order_of_taking()) & !CLOSED;
        let room = self.capacity.map_or(CLOSED, |capacity| first.saturating_add(capacity));
        for ticket in first..room.min(sent & !CLOSED) {
            drop(self.queue.take(ticket));
        }
        sent < CLOSED
    }

    /// How many messages are in the channel.
    pub(crate) fn len(&self) -> usize {
        let sent = self.sent.load(SeqCst) & !CLOSED;
        let taken = self.taken.load(SeqCst) & !CLOSED;
        sent.saturating_sub(taken).min(self.capacity.unwrap_or(CLOSED)) as usize
    }

    pub(crate) fn capacity(&self) -> Option<usize> {
        self.capacity.map(|capacity| capacity as usize)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn is_full(&self) -> bool {
        self.capacity.is_some_and(|capacity| self.len() == capacity as usize)
    }

    pub(crate) fn is_disconnected(&self) -> bool {
        dpor_ask(question::DISCONNECTION);
        self.sent.load(SeqCst) >= CLOSED
    }
}

fn unsupported(reason: &str) -> ! {
    dpor_unsupported(reason.as_ptr(), reason.len())
}
