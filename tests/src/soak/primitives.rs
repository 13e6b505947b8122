//! Writes random programs with what the standard library has for threads: locks, condition variables, channels,
//! reference counts, parking, as Rust.
//!
//! Half of them have threads that are alike. All are small: two or three threads with one to three statements each.

use dpor_reference::loops::random::Random;

/// What all threads share.
pub const HEAD: &str = "
struct Shared {
    m: std::sync::Mutex<u32>,
    c: std::sync::Condvar,
    rw: std::sync::RwLock<u32>,
    once: std::sync::OnceLock<u32>,
    arc: std::sync::Mutex<Option<std::sync::Arc<u32>>>,
    x: AtomicU32,
    y: AtomicU32,
    refs: AtomicU32,
    sum: AtomicU32,
    d: Cell,
}

impl Shared {
    fn new(refs: u32) -> Shared {
        Shared {
            m: Default::default(),
            c: Default::default(),
            rw: Default::default(),
            once: Default::default(),
            arc: std::sync::Mutex::new(Some(std::sync::Arc::new(1))),
            x: Default::default(),
            y: Default::default(),
            refs: AtomicU32::new(refs),
            sum: Default::default(),
            d: Cell(UnsafeCell::new(0)),
        }
    }
}
";

/// Statements, by what they are about. `V` is a number, `L` and `U` are orderings of a load and of an update.
const STATEMENTS: &[&[&str]] = &[
    // Mutex
    &[
        "*s.m.lock().unwrap() += V;",
        "acc = acc * 4 + *s.m.lock().unwrap();",
        "match s.m.try_lock() { Ok(mut g) => *g += V, Err(_) => acc += 1 }",
        "{ let mut g = s.m.lock().unwrap(); *g += s.x.load(L); }",
        "{ let mut g = s.m.lock().unwrap(); *g += *s.rw.read().unwrap(); }",
        "{ let mut g = s.rw.write().unwrap(); *g += *s.m.lock().unwrap(); }",
        "{ let g = s.m.lock().unwrap(); s.d.set(s.d.get() + *g); }",
    ],
    // RwLock
    &[
        "acc = acc * 4 + *s.rw.read().unwrap();",
        "*s.rw.write().unwrap() += V;",
        "match s.rw.try_read() { Ok(g) => acc = acc * 4 + *g, Err(_) => acc += 2 }",
        "match s.rw.try_write() { Ok(mut g) => *g += V, Err(_) => acc += 2 }",
        "{ let g = s.rw.read().unwrap(); acc = acc * 4 + *g + s.x.load(L); }",
        "{ let g = s.rw.read().unwrap(); s.x.fetch_add(1, U); }",
        "{ let g = s.rw.read().unwrap(); black_box(s.d.get()); }",
        "{ let g = s.rw.write().unwrap(); s.d.set(*g); }",
    ],
    // Condvar
    &[
        "{ let mut g = s.m.lock().unwrap(); while *g < V { g = s.c.wait(g).unwrap(); } }",
        "{ let g = s.m.lock().unwrap(); let g = s.c.wait_while(g, |g| *g == 0).unwrap(); acc = acc * 4 + *g; }",
        "{ *s.m.lock().unwrap() += 1; s.c.notify_one(); }",
        "{ *s.m.lock().unwrap() += 1; s.c.notify_all(); }",
        "{ s.c.notify_all(); *s.m.lock().unwrap() += V; }",
    ],
    // Once
    &[
        "acc = acc * 4 + *s.once.get_or_init(|| V);",
        "acc = acc * 4 + s.once.get().copied().unwrap_or(3);",
        "acc = acc * 4 + s.once.set(V).is_ok() as u32;",
        "acc = acc * 4 + *s.once.get_or_init(|| s.x.fetch_add(1, U));",
    ],
    // Updates that commute, and some that look.
    &[
        "s.x.fetch_add(V, U);",
        "s.x.fetch_add(V, U);",
        "s.x.fetch_or(V, U);",
        "s.x.fetch_max(V, U);",
        "acc = acc * 4 + s.x.fetch_sub(1, U);",
        "acc = acc * 4 + s.x.load(L);",
        "s.y.store(V, Release);",
        "acc = acc * 4 + s.y.swap(V, U);",
        "fence(SeqCst);",
        "if s.x.load(L) == V { s.y.fetch_add(1, U); }",
    ],
    // Reference counts
    &[
        "if s.refs.fetch_sub(1, Release) == 1 { fence(Acquire); s.d.set(V); }",
        "if s.refs.fetch_sub(1, Relaxed) == 1 { s.d.set(V); }",
        "{ let t = s.clone(); drop(t); }",
        "acc = acc * 4 + (std::sync::Arc::strong_count(&s) > 2) as u32;",
        "{ let a = s.arc.lock().unwrap().clone(); drop(a); }",
        "drop(s.arc.lock().unwrap().take());",
        "if let Some(a) = s.arc.lock().unwrap().take() { acc = acc * 4 + std::sync::Arc::try_unwrap(a).is_ok() as u32; }",
        "{ let w = std::sync::Arc::downgrade(&s); drop(w); }",
        "{ let w = s.arc.lock().unwrap().as_ref().map(std::sync::Arc::downgrade); \
         if let Some(w) = w { acc = acc * 4 + w.upgrade().is_some() as u32; } }",
    ],
    // Loops that wait
    &[
        "while s.x.load(L) < V { spin_loop(); }",
        "while s.y.load(L) == 0 { thread::yield_now(); }",
        "while s.x.compare_exchange(0, 1, U, Relaxed).is_err() { spin_loop(); }",
        "while s.x.fetch_add(1, U) > V { s.x.fetch_sub(1, U); }",
        "let _ = s.x.fetch_update(U, Relaxed, |x| Some(x + 1));",
    ],
    // Parking: the main thread unparks all others in the end.
    &["thread::park();", "main.unpark();", "thread::park_timeout(std::time::Duration::from_millis(1));"],
    // What is not atomic
    &["s.d.set(V);", "black_box(s.d.get());"],
];

/// The body of a program.
pub fn program(random: &mut Random) -> String {
    let threads = random.one_of(&[2, 2, 3]);
    let topics: Vec<&[&str]> = (0..random.one_of(&[1, 2, 2, 3])).map(|_| random.one_of(STATEMENTS)).collect();
    let alike = random.percent(50);
    let mut text = format!("    let s = std::sync::Arc::new(Shared::new({threads}));\n");
    text += "    let main = thread::current();\n";
    let bodies = if alike { 1 } else { threads };
    for id in 0..bodies {
        let lines = thread(random, &topics);
        text += &format!("    let body{id} = || {{\n        let (s, main) = (s.clone(), main.clone());\n");
        text += &format!("        thread::spawn(move || {{\n            let mut acc = 0_u32;\n{lines}");
        let result = if alike { "s.sum.fetch_add(acc, Relaxed);" } else { "acc" };
        text += &format!("            {result}\n        }})\n    }};\n");
    }
    let spawned: Vec<String> = (0..threads).map(|id| format!("body{}()", if alike { 0 } else { id })).collect();
    text += &format!("    let threads = [{}];\n    let mut acc = 0_u32;\n", spawned.join(", "));
    text += &if random.percent(40) { thread(random, &topics) } else { String::new() };
    text += "    for thread in &threads { thread.thread().unpark(); }\n    let mut code = acc;\n";
    let join = if alike { "thread.join().unwrap();" } else { "code = code * 37 + thread.join().unwrap();" };
    text += &format!("    for thread in threads {{ {join} }}\n");
    for value in [
        "*s.m.lock().unwrap()",
        "*s.rw.read().unwrap()",
        "s.once.get().copied().unwrap_or(9)",
        "s.x.load(Relaxed)",
        "s.y.load(Relaxed)",
        "s.sum.load(Relaxed)",
        "s.arc.lock().unwrap().is_some() as u32",
    ] {
        text += &format!("    code = code.wrapping_mul(11).wrapping_add({value});\n");
    }
    text + "    outcome(code);\n"
}

/// The statements of a thread.
fn thread(random: &mut Random, topics: &[&[&str]]) -> String {
    let count = random.one_of(&[1, 1, 2, 2, 3]);
    (0..count).map(|_| format!("            {}\n", statement(random, topics))).collect()
}

fn statement(random: &mut Random, topics: &[&[&str]]) -> String {
    let topic = random.one_of(topics);
    let template = random.one_of(topic);
    let value = random.one_of(&["1", "1", "2"]);
    let load = random.one_of(&["Relaxed", "Acquire", "SeqCst"]);
    let update = random.one_of(&["Relaxed", "Relaxed", "AcqRel", "SeqCst", "Release", "Acquire"]);
    let fill = |word: &str| match word {
        "V" => value.to_owned(),
        "L" => load.to_owned(),
        "U" => update.to_owned(),
        _ => word.to_owned(),
    };
    words(template).map(fill).collect()
}

/// The words of a text, and what is between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = is_word(rest.chars().next()?);
        let end = rest.find(|c| is_word(c) != word).unwrap_or(rest.len());
        let (first, others) = rest.split_at(end);
        rest = others;
        Some(first)
    })
}
