//! Trait objects and generics.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display};
use std::ops::{Add, AddAssign, Deref, DerefMut, Index, IndexMut, Mul, Neg, Not, Sub};
use std::rc::Rc;

trait Shape {
    const SIDES: u32;

    fn area(&self) -> f64;
    fn name(&self) -> String;
}

/// The part of [`Shape`] that works for trait objects.
trait AnyShape {
    fn area(&self) -> f64;
    fn describe(&self) -> String;
    fn grow(&mut self, factor: f64);
    fn boxed_clone(&self) -> Box<dyn AnyShape>;
}

#[derive(Clone)]
struct Circle {
    radius: f64,
}

#[derive(Clone)]
struct Rect {
    width: f64,
    height: f64,
}

impl Shape for Circle {
    const SIDES: u32 = 0;

    fn area(&self) -> f64 {
        3.0 * self.radius * self.radius
    }

    fn name(&self) -> String {
        "circle".into()
    }
}

impl Shape for Rect {
    const SIDES: u32 = 4;

    fn area(&self) -> f64 {
        self.width * self.height
    }

    fn name(&self) -> String {
        if self.width == self.height { "square".into() } else { "rectangle".into() }
    }
}

trait Scale {
    fn scale(&mut self, factor: f64);
}

impl Scale for Circle {
    fn scale(&mut self, factor: f64) {
        self.radius *= factor;
    }
}

impl Scale for Rect {
    fn scale(&mut self, factor: f64) {
        self.width *= factor;
        self.height *= factor;
    }
}

impl<S: Shape + Scale + Clone + 'static> AnyShape for S {
    fn area(&self) -> f64 {
        Shape::area(self)
    }

    fn describe(&self) -> String {
        format!("{} with {} sides", self.name(), S::SIDES)
    }

    fn grow(&mut self, factor: f64) {
        self.scale(factor);
    }

    fn boxed_clone(&self) -> Box<dyn AnyShape> {
        Box::new(self.clone())
    }
}

#[dpor::test]
fn dynamic_dispatch() {
    let mut shapes: Vec<Box<dyn AnyShape>> =
        vec![Box::new(Circle { radius: 2.0 }), Box::new(Rect { width: 3.0, height: 3.0 })];
    shapes.push(shapes[1].boxed_clone());
    shapes.push(Box::new(Rect { width: 0.5, height: 8.0 }));
    shapes[2].grow(2.0);
    for shape in &shapes {
        println!("{}: {}", shape.describe(), shape.area());
    }
    let largest = shapes.iter().max_by(|a, b| a.area().total_cmp(&b.area())).unwrap();
    println!("largest: {}", largest.describe());
    println!("sizes: {} {}", size_of_val(&*shapes[0]), size_of_val(&*shapes[1]));
}

trait Animal {
    fn name(&self) -> &str;
}

trait Pet: Animal + Debug {
    fn owner(&self) -> &str;
}

trait Champion: Pet + Display {
    fn medals(&self) -> u32;
}

#[derive(Debug)]
struct Dog {
    name: String,
    owner: String,
    medals: u32,
}

impl Animal for Dog {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Pet for Dog {
    fn owner(&self) -> &str {
        &self.owner
    }
}

impl Display for Dog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name, self.owner)
    }
}

impl Champion for Dog {
    fn medals(&self) -> u32 {
        self.medals
    }
}

impl Drop for Dog {
    fn drop(&mut self) {
        println!("{} goes home", self.name);
    }
}

#[dpor::test]
fn upcasting() {
    let dog = Dog { name: "Rex".into(), owner: "Ann".into(), medals: 7 };
    let champion: Box<dyn Champion> = Box::new(dog);
    println!("{champion} has {} medals", champion.medals());
    {
        let display: &dyn Display = &*champion;
        println!("{display}");
    }
    let pet: Box<dyn Pet> = champion;
    println!("{pet:?}, {}", pet.owner());
    let shared: Rc<dyn Pet> = Rc::from(pet);
    let debug: Rc<dyn Debug> = shared.clone();
    println!("{debug:?}");
    let animal: Rc<dyn Animal> = shared;
    drop(debug);
    println!("{} is alone: {}", animal.name(), Rc::strong_count(&animal));
}

#[dpor::test]
fn any_downcasts() {
    let mut things: Vec<Box<dyn Any>> =
        vec![Box::new(5i32), Box::new("text"), Box::new(String::from("owned")), Box::new([1u8, 2, 3]), Box::new(())];
    for thing in &mut things {
        if let Some(number) = thing.downcast_mut::<i32>() {
            *number += 1;
        } else if let Some(text) = thing.downcast_mut::<String>() {
            text.push('!');
        }
    }
    for thing in &things {
        if let Some(number) = thing.downcast_ref::<i32>() {
            println!("i32 {number}");
        } else if let Some(text) = thing.downcast_ref::<&str>() {
            println!("&str {text}");
        } else if let Some(text) = thing.downcast_ref::<String>() {
            println!("String {text}");
        } else if thing.is::<()>() {
            println!("unit");
        } else {
            println!("something else, an array: {}", (**thing).type_id() == TypeId::of::<[u8; 3]>());
        }
    }
    let last = things.remove(2);
    let text: Box<String> = last.downcast().expect("a string");
    println!("{text}");
    assert!(things.remove(0).downcast::<u32>().is_err());
    println!("{}", std::any::type_name::<Vec<Option<&str>>>());
}

trait Plugin {
    fn run(&self, input: i64) -> i64;

    fn twice(&self, input: i64) -> i64 {
        self.run(self.run(input))
    }
}

impl<F: Fn(i64) -> i64> Plugin for F {
    fn run(&self, input: i64) -> i64 {
        self(input)
    }
}

struct Offset(i64);

impl Plugin for Offset {
    fn run(&self, input: i64) -> i64 {
        input + self.0
    }

    fn twice(&self, input: i64) -> i64 {
        input + 2 * self.0
    }
}

#[dpor::test]
fn blanket_impls_and_default_methods() {
    let base = 10;
    let mut plugins: BTreeMap<&str, Box<dyn Plugin>> = BTreeMap::new();
    plugins.insert("square", Box::new(|x| x * x));
    plugins.insert("add", Box::new(move |x| x + base));
    plugins.insert("offset", Box::new(Offset(-3)));
    plugins.insert("negate", Box::new(i64::wrapping_neg as fn(i64) -> i64));
    for (name, plugin) in &plugins {
        println!("{name}: {} {}", plugin.run(7), plugin.twice(7));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
struct Vector {
    x: f64,
    y: f64,
}

impl Add for Vector {
    type Output = Vector;

    fn add(self, other: Vector) -> Vector {
        Vector { x: self.x + other.x, y: self.y + other.y }
    }
}

impl Sub for Vector {
    type Output = Vector;

    fn sub(self, other: Vector) -> Vector {
        self + -other
    }
}

impl Neg for Vector {
    type Output = Vector;

    fn neg(self) -> Vector {
        Vector { x: -self.x, y: -self.y }
    }
}

impl Mul<f64> for Vector {
    type Output = Vector;

    fn mul(self, factor: f64) -> Vector {
        Vector { x: self.x * factor, y: self.y * factor }
    }
}

impl AddAssign for Vector {
    fn add_assign(&mut self, other: Vector) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Vector {
    fn sum<I: Iterator<Item = Vector>>(iter: I) -> Vector {
        iter.fold(Vector::default(), Add::add)
    }
}

/// A grid that is indexed by pairs and derefs to its cells.
struct Grid {
    width: usize,
    cells: Vec<u8>,
}

impl Index<(usize, usize)> for Grid {
    type Output = u8;

    fn index(&self, (x, y): (usize, usize)) -> &u8 {
        &self.cells[y * self.width + x]
    }
}

impl IndexMut<(usize, usize)> for Grid {
    fn index_mut(&mut self, (x, y): (usize, usize)) -> &mut u8 {
        &mut self.cells[y * self.width + x]
    }
}

impl Deref for Grid {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.cells
    }
}

impl DerefMut for Grid {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.cells
    }
}

struct Flags(u8);

impl Not for Flags {
    type Output = u8;

    fn not(self) -> u8 {
        !self.0
    }
}

#[dpor::test]
fn operators() {
    let a = Vector { x: 1.0, y: 2.5 };
    let b = Vector { x: -4.0, y: 0.25 };
    let mut c = a + b * 2.0 - a;
    c += b;
    println!("{c:?} {:?} {:?}", a.partial_cmp(&b), a == b);
    println!("{:?}", [a, b, c].into_iter().sum::<Vector>());

    let mut grid = Grid { width: 4, cells: vec![0; 12] };
    grid[(1, 2)] = 7;
    grid[(3, 0)] += 9;
    grid.reverse();
    println!("{:?} {} {:?}", &*grid, grid.len(), grid.iter().max());
    println!("{}", !Flags(0b1010));
}

trait Visitor {
    type Out: Debug;

    fn number(&mut self, n: i64) -> Self::Out;
    fn list(&mut self, items: Vec<Self::Out>) -> Self::Out;
}

enum Data {
    Number(i64),
    List(Vec<Data>),
}

impl Data {
    fn accept<V: Visitor>(&self, visitor: &mut V) -> V::Out {
        match self {
            Data::Number(n) => visitor.number(*n),
            Data::List(items) => {
                let items = items.iter().map(|item| item.accept(visitor)).collect();
                visitor.list(items)
            }
        }
    }
}

struct Sum;
struct Show {
    depth: usize,
}

impl Visitor for Sum {
    type Out = i64;

    fn number(&mut self, n: i64) -> i64 {
        n
    }

    fn list(&mut self, items: Vec<i64>) -> i64 {
        items.iter().sum()
    }
}

impl Visitor for Show {
    type Out = String;

    fn number(&mut self, n: i64) -> String {
        self.depth += 1;
        n.to_string()
    }

    fn list(&mut self, items: Vec<String>) -> String {
        format!("({})", items.join(" "))
    }
}

#[dpor::test]
fn visitors_with_associated_types() {
    use Data::{List, Number};
    let data = List(vec![Number(1), List(vec![Number(20), Number(-3)]), List(vec![]), Number(400)]);
    let mut show = Show { depth: 0 };
    println!("{} = {} ({} numbers)", data.accept(&mut show), data.accept(&mut Sum), show.depth);
}

/// Dropping, hashing and comparing through generic wrappers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Token<'a, T> {
    Word(&'a str),
    Value(T),
    Pair { first: Box<Token<'a, T>>, second: Box<Token<'a, T>> },
    End,
}

#[dpor::test]
fn derived_traits() {
    use Token::{End, Pair, Value, Word};
    let pair = Pair { first: Box::new(Word("x")), second: Box::new(Value(3u16)) };
    let mut tokens = vec![End, Value(9), pair.clone(), Word("zeta"), Value(2), Word("alpha"), pair.clone()];
    tokens.sort();
    println!("{tokens:?}");
    tokens.dedup();
    println!("{} {}", tokens.len(), tokens.contains(&pair));
    println!("{:?} {:?}", Word::<u16>("a").cmp(&End), pair.partial_cmp(&pair.clone()));
    println!("{:#?}", tokens[4]);
}
