//! What generics come to after monomorphization.

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::marker::PhantomData;

trait Monoid: Sized {
    const EMPTY: Self;

    fn join(&self, other: &Self) -> Self;

    fn all<'a>(items: impl IntoIterator<Item = &'a Self>) -> Self
    where
        Self: 'a,
    {
        items.into_iter().fold(Self::EMPTY, |a, b| a.join(b))
    }
}

impl Monoid for u64 {
    const EMPTY: u64 = 0;

    fn join(&self, other: &u64) -> u64 {
        self + other
    }
}

impl Monoid for String {
    const EMPTY: String = String::new();

    fn join(&self, other: &String) -> String {
        format!("{self}{other}")
    }
}

impl<A: Monoid, B: Monoid> Monoid for (A, B) {
    const EMPTY: (A, B) = (A::EMPTY, B::EMPTY);

    fn join(&self, other: &Self) -> Self {
        (self.0.join(&other.0), self.1.join(&other.1))
    }
}

impl<T: Monoid> Monoid for Option<T> {
    const EMPTY: Option<T> = None;

    fn join(&self, other: &Self) -> Self {
        match (self, other) {
            (Some(a), Some(b)) => Some(a.join(b)),
            (Some(a), None) | (None, Some(a)) => Some(a.join(&T::EMPTY)),
            (None, None) => None,
        }
    }
}

#[dpor::test]
fn instances_built_from_instances() {
    println!("{}", u64::all(&[1, 2, 3]));
    let pairs = [(1u64, Some("a".to_string())), (2, None), (3, Some("b".to_string()))];
    println!("{:?}", Monoid::all(&pairs));
    println!("{:?}", <((u64, String), Option<u64>)>::all(&[]));
}

/// States as types: only an open door can be closed.
struct Door<State> {
    log: Vec<&'static str>,
    state: PhantomData<State>,
}

struct Open;
struct Closed;

impl Door<Closed> {
    fn open(mut self) -> Door<Open> {
        self.log.push("open");
        Door { log: self.log, state: PhantomData }
    }
}

impl Door<Open> {
    fn close(mut self) -> Door<Closed> {
        self.log.push("close");
        Door { log: self.log, state: PhantomData }
    }
}

/// An iterator that lends out parts of itself.
trait Lending {
    type Item<'a>
    where
        Self: 'a;

    fn next(&mut self) -> Option<Self::Item<'_>>;
}

struct Windows<'t, T> {
    slice: &'t mut [T],
    start: usize,
}

impl<T> Lending for Windows<'_, T> {
    type Item<'a>
        = &'a mut [T]
    where
        Self: 'a;

    fn next(&mut self) -> Option<&mut [T]> {
        self.start += 1;
        self.slice.get_mut(self.start - 1..self.start + 1)
    }
}

#[dpor::test]
fn types_as_states_and_lenders() {
    let door = Door::<Closed> { log: Vec::new(), state: PhantomData };
    println!("{:?} {}", door.open().close().open().log, size_of::<PhantomData<[u64; 9]>>());
    let mut numbers = [1, 2, 3, 4];
    let mut windows = Windows { slice: &mut numbers, start: 0 };
    while let Some(window) = windows.next() {
        window[1] += window[0];
    }
    println!("{numbers:?}");
}

fn describe<T: Debug + ?Sized>(value: &T) -> String {
    format!("{} bytes: {value:?}", size_of_val(value))
}

fn polymorphic_recursion<T: Debug + Clone>(value: T, depth: u32) -> String {
    // Through `dyn`, so that there are finitely many instances.
    let boxed: Box<dyn Debug> = Box::new((value.clone(), depth));
    if depth == 0 { format!("{boxed:?}") } else { format!("{boxed:?} {}", polymorphic_recursion(value, depth - 1)) }
}

struct Wrapper<T>(T);

impl<T: Display> Display for Wrapper<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}]", self.0)
    }
}

impl<T> From<T> for Wrapper<T> {
    fn from(value: T) -> Self {
        Wrapper(value)
    }
}

#[dpor::test]
fn unsized_and_nested_parameters() {
    println!("{}", describe("text"));
    println!("{}", describe(&[1u16, 2][..]));
    println!("{}", describe(&(1u8, "x", [Some(2.5)])));
    println!("{}", describe::<dyn Debug>(&vec![1, 2]));
    println!("{}", polymorphic_recursion('c', 2));
    let nested = Wrapper(Wrapper(Wrapper(7u8)));
    println!("{nested} {}", Into::<Wrapper<&str>>::into("s"));
}

/// A registry of constructors by name, one per type.
#[derive(Default)]
struct Registry {
    makers: HashMap<&'static str, fn() -> Box<dyn Debug>>,
}

impl Registry {
    fn register<T: Default + Debug + 'static>(&mut self) -> &mut Self {
        self.makers.insert(std::any::type_name::<T>(), || Box::new(T::default()));
        self
    }
}

#[dpor::test]
fn functions_per_type() {
    let mut registry = Registry::default();
    registry.register::<u32>().register::<Vec<String>>().register::<(bool, char)>().register::<Option<[u8; 3]>>();
    let mut names: Vec<_> = registry.makers.iter().collect();
    names.sort_by_key(|(name, _)| **name);
    for (name, make) in names {
        println!("{name}: {:?}", make());
    }
}

trait Shape {
    fn area(&self) -> f64;
    fn doubled(self) -> Self
    where
        Self: Sized;
    fn boxed(self: Box<Self>) -> f64;
    fn counted(self: std::rc::Rc<Self>) -> (f64, usize);
}

struct Square(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }

    fn doubled(self) -> Self {
        Square(self.0 * 2.0)
    }

    fn boxed(self: Box<Self>) -> f64 {
        self.area() + 0.5
    }

    fn counted(self: std::rc::Rc<Self>) -> (f64, usize) {
        (self.area(), std::rc::Rc::strong_count(&self))
    }
}

#[dpor::test]
fn kinds_of_self() {
    println!("{}", Square(1.5).doubled().area());
    let boxed: Box<dyn Shape> = Box::new(Square(2.0));
    println!("{} {}", boxed.area(), boxed.boxed());
    let counted: std::rc::Rc<dyn Shape> = std::rc::Rc::new(Square(3.0));
    println!("{:?} {:?}", counted.clone().counted(), counted.counted());
}
