//! Shared ownership and interior mutability: Rc, Weak, Cell, RefCell, OnceCell.

use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

#[derive(Debug)]
struct Person {
    name: String,
    boss: RefCell<Weak<Person>>,
    team: RefCell<Vec<Rc<Person>>>,
}

impl Person {
    fn new(name: &str) -> Rc<Person> {
        Rc::new(Person { name: name.into(), boss: RefCell::default(), team: RefCell::default() })
    }

    fn hire(self: &Rc<Self>, other: &Rc<Person>) {
        *other.boss.borrow_mut() = Rc::downgrade(self);
        self.team.borrow_mut().push(Rc::clone(other));
    }

    fn boss_name(&self) -> Option<String> {
        self.boss.borrow().upgrade().map(|boss| boss.name.clone())
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        println!("{} leaves, {} in the team", self.name, self.team.borrow().len());
    }
}

#[dpor::test]
fn tree_with_parents() {
    let worker = Person::new("worker");
    {
        let boss = Person::new("boss");
        boss.hire(&worker);
        boss.hire(&Person::new("assistant"));
        println!("{:?} {} {}", worker.boss_name(), Rc::strong_count(&worker), Rc::weak_count(&boss));
    }
    println!("{:?} {}", worker.boss_name(), Rc::strong_count(&worker));
}

#[dpor::test]
fn reference_counts() {
    let mut text = Rc::new(String::from("shared"));
    let other = Rc::clone(&text);
    Rc::make_mut(&mut text).push_str(" no more");
    println!("{text} {other} {}", Rc::ptr_eq(&text, &other));
    println!("{:?} {:?}", Rc::get_mut(&mut text).map(|t| t.len()), Rc::try_unwrap(other));
    let numbers: Rc<[u16]> = Rc::from(vec![1, 2, 3]);
    let name: Rc<str> = "name".into();
    println!("{numbers:?} {name} {}", size_of_val(&numbers));
    let weak = Rc::downgrade(&numbers);
    drop(numbers);
    println!("{:?} {}", weak.upgrade(), Weak::<u8>::new().upgrade().is_none());
    let cyclic = Rc::new_cyclic(|me: &Weak<(u8, Weak<u8>)>| (me.strong_count() as u8, Weak::new()));
    println!("{} {}", cyclic.0, Rc::weak_count(&cyclic));
    let arc: Arc<dyn Fn(u8) -> u8 + Send + Sync> = Arc::new(|x| x + 1);
    println!("{} {}", arc.clone()(1), Arc::strong_count(&arc));
    println!("{:?}", Arc::into_inner(Arc::new([1; 3])));
}

#[dpor::test]
fn cells_and_ref_cells() {
    let cell = Cell::new(5);
    let alias = &cell;
    alias.set(alias.get() + 1);
    println!("{} {} {}", cell.get(), alias.replace(10), cell.take());
    let mut array = [1, 2, 3];
    let cells = Cell::from_mut(&mut array[..]).as_slice_of_cells();
    cells[0].swap(&cells[2]);
    println!("{array:?}");

    let shared = RefCell::new(vec![1]);
    {
        let first = shared.borrow();
        let second = shared.borrow();
        println!("{} {} {:?}", first.len(), second[0], shared.try_borrow_mut().is_err());
    }
    shared.borrow_mut().push(2);
    let guard = shared.borrow_mut();
    println!("{:?} {:?}", shared.try_borrow().map(|_| ()), shared);
    let mapped = std::cell::RefMut::map(guard, |v| &mut v[1]);
    println!("{mapped}");
    drop(mapped);
    println!("{shared:?} {:?}", shared.replace_with(|v| v.iter().map(|n| n * 10).collect()));
    println!("{:?}", shared.into_inner());
}

#[dpor::test]
fn lazy_and_once() {
    let once = OnceCell::new();
    println!("{:?}", once.get());
    println!("{} {}", once.get_or_init(|| 3), once.get_or_init(|| 4));
    println!("{:?} {:?}", once.set(5), once);
    let lazy = LazyCell::new(|| {
        println!("computed");
        6 * 7
    });
    println!("before");
    println!("{} {}", *lazy, *lazy);
}

/// A memo table behind a shared reference.
struct Memo {
    table: RefCell<Vec<Option<u64>>>,
    calls: Cell<u32>,
}

impl Memo {
    fn fib(&self, n: usize) -> u64 {
        self.calls.set(self.calls.get() + 1);
        if n < 2 {
            return n as u64;
        }
        let known = self.table.borrow().get(n).copied().flatten();
        known.unwrap_or_else(|| {
            let value = self.fib(n - 1) + self.fib(n - 2);
            let mut table = self.table.borrow_mut();
            if table.len() <= n {
                table.resize(n + 1, None);
            }
            table[n] = Some(value);
            value
        })
    }
}

#[dpor::test]
fn memoization() {
    let memo = Memo { table: RefCell::default(), calls: Cell::new(0) };
    println!("{} in {} calls", memo.fib(80), memo.calls.get());
}
