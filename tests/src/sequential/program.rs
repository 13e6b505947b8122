//! Whole programs: types of their own, functions, and a test that prints what comes of them.

use dpor_reference::loops::random::Random;

use super::expression::Scope;
use super::types::{Scalar, Type};

/// How deep expressions are.
const DEPTH: usize = 3;

/// The module of a random program.
pub fn program(number: usize, random: &mut Random) -> String {
    let mut scope = Scope { random, definitions: Vec::new(), variables: Vec::new(), called: None, names: 0 };
    let mut items = String::new();
    for index in 0..2 + scope.random.below(3) {
        let definition = scope.definition();
        items += &definition.source(index);
        scope.definitions.push(definition);
    }
    for index in 0..scope.definitions.len() {
        items += &scope.method(index);
    }
    items += &scope.function();
    let mut body = String::new();
    for _ in 0..3 {
        body += &scope.variable();
    }
    for _ in 0..6 {
        body += &scope.statement();
    }
    format!(
        "mod p{number} {{\nuse super::*;\n\n{TRAIT}\n{items}\n#[dpor::test]\nfn test() {{\nlet mut digest = 0;\n{body}\
         println!(\"{{digest:x}}\");\n}}\n}}\n"
    )
}

const TRAIT: &str = "trait Shape {\n    fn size(&self, by: u64) -> u64;\n    fn consume(self: Box<Self>) -> u64;\n}\n";

impl Scope<'_> {
    /// An implementation of the trait for a type of the program.
    fn method(&mut self, number: usize) -> String {
        self.variables.push(("by".to_owned(), Scalar::Int("u64", 64)));
        let value = self.expression(Scalar::Int("u64", 64), DEPTH);
        self.variables.pop();
        format!(
            "impl Shape for T{number} {{\n    fn size(&self, by: u64) -> u64 {{\n        mix(self.digest(), {value})\n    }}\n\
                 fn consume(self: Box<Self>) -> u64 {{\n        mix({number}, (*self).digest())\n    }}\n}}\n"
        )
    }

    /// A function of a scalar, a value and a reference, generic in something that it only digests.
    fn function(&mut self) -> String {
        let (scalar, ty, result) = (self.scalar(), self.ty(2), self.ty(2));
        self.variables.push(("a".to_owned(), scalar));
        let (value, other) = (self.value(&result, DEPTH), self.value(&result, DEPTH));
        self.variables.pop();
        let condition = "(b.digest() ^ c.digest()) % 2 == 0";
        let source = format!(
            "fn function<T: Digest + ?Sized>(a: {}, b: {}, c: &T) -> {} {{\n    if {condition} {{ {value} }} else {{ {other} \
             }}\n}}\n",
            scalar.name(),
            ty.name(),
            result.name()
        );
        self.called = Some((scalar, ty));
        source
    }

    /// A variable with a scalar.
    fn variable(&mut self) -> String {
        let (name, ty) = (self.name(), self.scalar());
        let value = self.expression(ty, DEPTH);
        self.variables.push((name.clone(), ty));
        format!("let mut {name}: {} = {value};\ndigest = mix(digest, {name}.digest());\n", ty.name())
    }

    fn statement(&mut self) -> String {
        match self.random.below(12) {
            0 => self.variable(),
            1 | 2 => self.compound(),
            3 => self.counted_loop(),
            4 => self.closures(),
            5 => self.objects(),
            6 => self.lists(),
            7 => self.maps(),
            8 => self.futures(),
            9 => self.caught(),
            10 => self.bytes(),
            _ => self.call(),
        }
    }

    /// A value of some type, moved about.
    fn compound(&mut self) -> String {
        let (name, ty) = (self.name(), self.ty(3));
        let (value, other) = (self.value(&ty, 2), self.value(&ty, 2));
        let ty = ty.name();
        format!(
            "let mut {name}: {ty} = {value};\nlet old = std::mem::replace(&mut {name}, {other});\n\
             digest = mix(digest, mix(old.digest(), (&{name}, &old).digest()));\n\
             let both: Vec<{ty}> = vec![old, {name}.clone(), {name}];\n\
             println!(\"{{}} {{:x}}\", std::mem::size_of::<{ty}>(), both.digest());\n"
        )
    }

    fn counted_loop(&mut self) -> String {
        let Some((name, ty)) = self.variables.first().cloned() else { return String::new() };
        let step = self.expression(ty, DEPTH);
        let (condition, count) = (self.condition(2), 1 + self.random.below(20));
        format!(
            "for round in 0..{count}u32 {{\n    {name} = {step};\n    if round % 3 == 2 && {condition} {{ continue; }}\n    \
             digest = mix(digest, mix(round.into(), {name}.digest()));\n}}\n"
        )
    }

    /// Closures that capture by reference, by value, and to change something.
    fn closures(&mut self) -> String {
        let (a, b) = (Scalar::Int("u64", 64), self.scalar());
        let (first, second) = (self.expression(a, 2), self.expression(b, 2));
        self.variables.push(("n".to_owned(), a));
        let (plain, moved) = (self.expression(a, 2), self.expression(a, 2));
        self.variables.pop();
        format!(
            "{{\n    let mut count = {first};\n    let kept = vec![{second}; 2];\n    \
             let mut list: Vec<Box<dyn FnMut(u64) -> u64 + '_>> = vec![\n        \
             Box::new(|n| mix(n, {plain})),\n        \
             Box::new(move |n| {{ count = count.wrapping_add(n); mix(count, kept.digest()) }}),\n        \
             Box::new(move |n| {moved}),\n    ];\n    \
             for n in 0..6u64 {{\n        let index = n as usize % list.len();\n        \
             digest = mix(digest, list[index](n));\n    }}\n    \
             let pointers: [fn(u64, u64) -> u64; 2] = [mix, |a, b| a ^ b];\n    \
             digest = pointers[digest as usize % 2](digest, count);\n}}\n"
        )
    }

    /// Values of the program's types behind a trait.
    fn objects(&mut self) -> String {
        let mut list = String::new();
        for number in 0..self.definitions.len() {
            list += &format!("        Box::new({}),\n", self.value(&Type::Named(number), 1));
        }
        format!(
            "{{\n    let objects: Vec<Box<dyn Shape>> = vec![\n{list}    ];\n    \
             for object in &objects {{\n        digest = mix(digest, object.size(digest % 100));\n    }}\n    \
             digest = objects.into_iter().map(|object| object.consume()).fold(digest, mix);\n}}\n"
        )
    }

    /// Vectors, slices, queues and what iterators make of them.
    fn lists(&mut self) -> String {
        let ty = self.integer();
        let items: Vec<String> = (0..3 + self.random.below(5)).map(|_| self.expression(ty, 2)).collect();
        self.variables.push(("n".to_owned(), ty));
        let (mapped, key) = (self.expression(ty, 2), self.expression(ty, 1));
        self.variables.pop();
        format!(
            "{{\n    let mut list: Vec<{ty}> = vec![{items}];\n    list.sort_by_key(|&n| {key});\n    \
             let mapped: Vec<{ty}> = list.iter().rev().map(|&n| {mapped}).collect();\n    list.extend(&mapped);\n    \
             list.dedup();\n    println!(\"{{list:?}}\");\n    \
             let mut queue: VecDeque<{ty}> = list.iter().copied().skip(1).step_by(2).collect();\n    \
             queue.rotate_left(queue.len() / 2);\n    queue.push_front({first});\n    \
             let heap: BinaryHeap<{ty}> = queue.iter().copied().collect();\n    \
             println!(\"{{queue:?}} {{:?}}\", heap.into_sorted_vec());\n    \
             for window in list.windows(2) {{\n        digest = mix(digest, window.digest());\n    }}\n    \
             for chunk in list.chunks_exact(3) {{\n        digest = mix(digest, chunk.iter().max().digest());\n    }}\n    \
             let (less, more): (Vec<{ty}>, Vec<{ty}>) = list.iter().partition(|&&n| n < {first});\n    \
             digest = mix(digest, mix(less.digest(), more.iter().zip(&less).map(|(a, b)| a ^ b).collect::<Vec<_>>().digest()));\n\
             }}\n",
            ty = ty.name(),
            items = items.join(", "),
            first = items[0],
        )
    }

    fn maps(&mut self) -> String {
        let (key, ty) = (self.integer(), self.ty(2));
        let entries: Vec<String> =
            (0..4).map(|_| format!("({}, {})", self.expression(key, 2), self.value(&ty, 1))).collect();
        format!(
            "{{\n    let entries: Vec<({key}, {ty})> = vec![{entries}];\n    \
             let mut sorted = BTreeMap::new();\n    let mut hashed = HashMap::new();\n    \
             for (key, value) in entries {{\n        \
             sorted.entry(key % 5).or_insert_with(Vec::new).push(value.clone());\n        hashed.insert(key, value);\n    }}\n    \
             for (key, values) in sorted.range(0..) {{\n        digest = mix(digest, mix(key.digest(), values.digest()));\n    }}\n    \
             let total = hashed.iter().map(|(key, value)| mix(key.digest(), value.digest())).fold(0, u64::wrapping_add);\n    \
             let words: BTreeSet<String> = sorted.keys().map(|key| format!(\"{{key:#06x}}\")).collect();\n    \
             println!(\"{{}} {{total:x}} {{words:?}}\", hashed.len());\n}}\n",
            key = key.name(),
            ty = ty.name(),
            entries = entries.join(", "),
        )
    }

    /// Futures that wait, polled in turns.
    fn futures(&mut self) -> String {
        let (ty, rounds) = (self.ty(2), 1 + self.random.below(4));
        let (value, scalar) = (self.value(&ty, 2), self.expression(Scalar::Int("u64", 64), 2));
        format!(
            "{{\n    async fn inner(rounds: u32, value: {ty}) -> u64 {{\n        let mut total = 0;\n        \
             for round in 0..rounds {{\n            let borrowed = &value;\n            Later(false).await;\n            \
             total = mix(total, mix(round.into(), borrowed.digest()));\n        }}\n        total\n    }}\n    \
             let text = String::from(\"kept\");\n    let (total, polls) = in_turns(vec![\n        \
             Box::pin(inner({rounds}, {value})),\n        \
             Box::pin(async {{ mix(inner(2, {value}).await, text.digest()) }}),\n        \
             Box::pin(std::future::ready({scalar})),\n    ]);\n    digest = mix(digest, total);\n    \
             println!(\"{{polls}}\");\n}}\n",
            ty = ty.name(),
        )
    }

    /// Destructors, with and without a panic.
    fn caught(&mut self) -> String {
        let (condition, message) = (self.condition(2), self.expression(Scalar::Int("u16", 16), 2));
        format!(
            "{{\n    let kept = Noisy(1);\n    let result = std::panic::catch_unwind(|| {{\n        let first = Noisy(2);\n        \
             let list = [Noisy(3), Noisy(4)];\n        if {condition} {{\n            panic!(\"{{}}\", {message});\n        }}\n        \
             drop(first);\n        list.len()\n    }});\n    println!(\"{{:?}}\", result.is_ok());\n    drop(kept);\n}}\n"
        )
    }

    /// Values as bytes, and strings.
    fn bytes(&mut self) -> String {
        let (ty, scalar) = (self.integer(), self.scalar());
        let (value, other) = (self.expression(ty, 2), self.expression(scalar, 2));
        format!(
            "{{\n    let bytes = ({value}).to_ne_bytes();\n    let mut copy = [0u8; 16];\n    \
             // SAFETY: there are as many bytes, in both.\n    \
             unsafe {{ std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy.as_mut_ptr(), bytes.len()) }};\n    \
             // SAFETY: all bytes are written; any alignment will do.\n    \
             let back = unsafe {{ copy.as_ptr().cast::<{ty}>().read_unaligned() }};\n    \
             digest = mix(digest, mix(back.digest(), copy.digest()));\n    \
             let text: String = bytes.iter().map(|byte| char::from(byte % 26 + b'a')).rev().collect();\n    \
             println!(\"{{back:?}} {{:?}} {{:?}} {{:>8.3?}}|{{text:^20}}|\", text.find('c'), text.to_uppercase().split('A').count(), {other});\n\
             }}\n",
            ty = ty.name(),
        )
    }

    fn call(&mut self) -> String {
        let Some((scalar, ty)) = self.called.clone() else { return String::new() };
        let (a, b) = (self.expression(scalar, 2), self.value(&ty, 2));
        let c = self.random.one_of(&["&digest", "\"text\"", "&[1u8, 2, 3][..]", "&Some(Box::new(4i16))"]);
        format!("digest = mix(digest, function({a}, {b}, {c}).digest());\n")
    }
}
