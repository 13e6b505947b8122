//! Whether a test may ask which thread is which: for an id or a name. The standard library asks for itself, and that
//! does not count.

use crate::program::address::{CODE_REGION, GLOBAL_REGION, REGION_BITS, code_index};
use crate::program::{Builtin, FuncId, Function, Op, Origin, Program};

/// Modules that may ask: whatever they do with the answer is not the user's.
const MAY_ASK: [&str; 4] = ["std::thread::current::", "std::thread::lifecycle::", "std::panicking::", "std::rt::"];

/// Whether a function that may run in a test asks which thread is which.
pub fn is_asked_for(program: &Program, entry: FuncId) -> bool {
    let mut search = Search::new(program, entry);
    while !search.asked && search.step() {}
    search.asked
}

/// The functions that may run in a test.
pub fn reachable(program: &Program, entry: FuncId) -> impl Iterator<Item = &Function> {
    let mut search = Search::new(program, entry);
    while search.step() {}
    program.functions.iter().zip(search.functions).filter(|(_, reached)| *reached).map(|(function, _)| function)
}

/// Something that is to be looked at.
#[derive(Clone, Copy, Debug)]
enum Reached {
    Function(usize),
    Global(usize),
}

/// A search through all functions that may be called.
struct Search<'p> {
    program: &'p Program,
    functions: Vec<bool>,
    globals: Vec<bool>,
    todo: Vec<Reached>,
    asked: bool,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, entry: FuncId) -> Search<'p> {
        let mut search = Search {
            program,
            functions: vec![false; program.functions.len()],
            globals: vec![false; program.globals.len()],
            todo: Vec::new(),
            asked: false,
        };
        search.reach_function(entry.0);
        program.thread_locals.iter().for_each(|local| search.scan(&local.bytes));
        search
    }

    /// Looks at something that is reached; says whether there was something.
    fn step(&mut self) -> bool {
        let program = self.program;
        match self.todo.pop() {
            Some(Reached::Function(index)) => self.follow(&program.functions[index]),
            Some(Reached::Global(index)) => self.scan(&program.globals[index].bytes),
            None => return false,
        }
        true
    }

    /// Looks at what a function calls, and at the addresses in it.
    fn follow(&mut self, function: &Function) {
        for op in &function.code {
            match *op {
                Op::Call { func, .. } => {
                    self.asked |= tells(self.program.function(func)) && !may_ask(function);
                    self.reach_function(func.0);
                }
                Op::Builtin { builtin: Builtin::PthreadSelf, .. } => self.asked |= function.origin != Origin::Std,
                Op::Imm { value, .. } => self.reach(value),
                _ => {}
            }
        }
    }

    fn reach_function(&mut self, index: u32) {
        let index = index as usize;
        if self.functions.get(index) == Some(&false) {
            self.functions[index] = true;
            self.todo.push(Reached::Function(index));
        }
    }

    /// Follows a number, if it may be an address. Whoever calls the function there may be anybody.
    fn reach(&mut self, address: u64) {
        match address >> REGION_BITS {
            CODE_REGION => {
                if let Some(index) = code_index(address).filter(|index| (*index as usize) < self.functions.len()) {
                    self.asked |= tells(&self.program.functions[index as usize]);
                    self.reach_function(index);
                }
            }
            GLOBAL_REGION => {
                let after = self.program.globals.partition_point(|global| global.address <= address);
                if let Some(index) = after.checked_sub(1).filter(|index| !self.globals[*index]) {
                    self.globals[index] = true;
                    self.todo.push(Reached::Global(index));
                }
            }
            _ => {}
        }
    }

    /// Follows all words.
    fn scan(&mut self, bytes: &[u8]) {
        let (words, _) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.reach(u64::from_le_bytes(*word)));
    }
}

/// Whether a function gives away which thread is which.
fn tells(function: &Function) -> bool {
    let name = function.name.as_str();
    let is_method = |method: &str| name.strip_suffix(method).is_some_and(|path| path.ends_with("thread::Thread"));
    is_method("::id") || is_method("::name") || name.contains("thread::Thread as ") && name.ends_with("Debug>::fmt")
}

fn may_ask(function: &Function) -> bool {
    MAY_ASK.iter().any(|module| function.name.trim_start_matches('<').starts_with(module))
}
