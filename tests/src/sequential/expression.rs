//! Expressions on scalars. They do not panic, but for a few additions.

use dpor_reference::loops::random::Random;

use super::types::{Definition, FLOATS, INTEGERS, Scalar};

/// What a program has defined so far, at the place that is written.
pub struct Scope<'r> {
    pub random: &'r mut Random,
    pub definitions: Vec<Definition>,
    /// Variables that can be copied.
    pub variables: Vec<(String, Scalar)>,
    /// What the function of the program takes.
    pub called: Option<(Scalar, super::types::Type)>,
    /// How many names were given.
    pub names: usize,
}

impl Scope<'_> {
    /// A name that nothing has yet.
    pub fn name(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    /// An expression of a scalar type, of at most that many layers.
    pub fn expression(&mut self, ty: Scalar, depth: usize) -> String {
        if depth == 0 || self.random.percent(15) {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        if self.random.percent(12) {
            return self.general(ty, depth);
        }
        match ty {
            Scalar::Int(name, bits) => self.integer_expression(ty, name, bits, depth),
            Scalar::Float(name, bits) => self.float_expression(ty, name, bits, depth),
            Scalar::Bool => self.condition(depth),
            Scalar::Char => self.character(depth),
        }
    }

    /// A variable or a number.
    fn leaf(&mut self, ty: Scalar) -> String {
        let fitting: Vec<&String> =
            self.variables.iter().filter(|(_, other)| *other == ty).map(|(name, _)| name).collect();
        if !fitting.is_empty() && self.random.percent(70) {
            return fitting[self.random.below(fitting.len())].clone();
        }
        match ty {
            Scalar::Int(name, bits) => {
                let number = self.random.number() >> self.random.below(64);
                let edge = self.random.one_of(&["MIN", "MAX"]);
                match self.random.below(4) {
                    0 => format!("{name}::{edge}"),
                    1 => format!("({}_u64 as {name})", number),
                    _ => format!("{}_{name}", number & (u64::MAX >> (64 - bits.min(7)))),
                }
            }
            Scalar::Float(name, _) => {
                let number = self.random.one_of(&["0.0", "1.0", "-1.5", "0.1", "3e4", "-1e-3", "65504.0"]);
                let special = self.random.one_of(&["INFINITY", "MAX", "MIN_POSITIVE", "EPSILON"]);
                if self.random.percent(15) { format!("{name}::{special}") } else { format!("({number}_{name})") }
            }
            Scalar::Bool => self.random.one_of(&["true", "false"]).to_owned(),
            Scalar::Char => self.random.one_of(&["'a'", "'Z'", "'ß'", "'語'", "'\\u{10ffff}'"]).to_owned(),
        }
    }

    /// What there is for every type.
    fn general(&mut self, ty: Scalar, depth: usize) -> String {
        let [a, b, c] = [(); 3].map(|()| self.expression(ty, depth));
        match self.random.below(6) {
            0 => format!("(if {} {{ {a} }} else {{ {b} }})", self.condition(depth)),
            1 => format!("[{a}, {b}, {c}][{} % 3]", self.expression(Scalar::Int("usize", 64), depth)),
            2 => format!("Some({a}).filter(|_| {}).unwrap_or({b})", self.condition(depth)),
            3 => {
                let parameter = self.name();
                self.variables.push((parameter.clone(), ty));
                let body = self.expression(ty, depth);
                self.variables.pop();
                format!("(|{parameter}: {}| {body})({a})", ty.name())
            }
            4 => format!("({a}, {}).0", self.leaf(Scalar::Bool)),
            _ => {
                let which = self.expression(Scalar::Int("u8", 8), depth);
                format!("(match {which} {{ 0..=9 => {a}, even if even % 2 == 0 => {b}, _ => {c} }})")
            }
        }
    }

    fn integer_expression(&mut self, ty: Scalar, name: &str, bits: u32, depth: usize) -> String {
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        let amount = self.expression(Scalar::Int("u32", 32), depth.min(1));
        match self.random.below(14) {
            0..=2 => {
                let operation = self.random.one_of(&["wrapping_add", "wrapping_sub", "wrapping_mul"]);
                format!("({a}).{operation}({b})")
            }
            3 => format!("({a} {} {b})", self.random.one_of(&["&", "|", "^"])),
            4 => format!("({a}).{}({amount})", self.random.one_of(&["wrapping_shl", "wrapping_shr"])),
            5 => format!("({a}).{}({amount} % 200)", self.random.one_of(&["rotate_left", "rotate_right"])),
            6 => {
                let operation = self.random.one_of(&["checked_div", "checked_rem", "checked_add", "checked_mul"]);
                format!("({a}).{operation}({b}).unwrap_or({})", self.leaf(ty))
            }
            7 => {
                let operation = self.random.one_of(&["saturating_add", "saturating_sub", "saturating_mul"]);
                format!("({a}).{operation}({b})")
            }
            8 => {
                let operation = self.random.one_of(&["overflowing_add", "overflowing_sub", "overflowing_mul"]);
                format!("({a}).{operation}({b}).0")
            }
            9 => {
                let operation = self.random.one_of(&["count_ones", "leading_zeros", "trailing_zeros"]);
                format!("(({a}).{operation}() as {name})")
            }
            10 => format!("({a}).{}()", self.random.one_of(&["swap_bytes", "reverse_bits"])),
            11 if self.random.percent(10) => format!("({a} + {b})"),
            11 => format!("({a}).wrapping_pow({amount} & 7)"),
            12 if bits > 8 => format!("{name}::from_le_bytes(({a}).to_be_bytes())"),
            12 => format!("(!{a})"),
            _ => self.converted(name, depth),
        }
    }

    /// Another number as an integer.
    fn converted(&mut self, name: &str, depth: usize) -> String {
        let from = match self.random.below(6) {
            0 => Scalar::Bool,
            1 => Scalar::Char,
            2 => self.random.one_of(&FLOATS),
            _ => self.random.one_of(&INTEGERS),
        };
        format!("({} as {name})", self.expression(from, depth))
    }

    fn float_expression(&mut self, ty: Scalar, name: &str, bits: u32, depth: usize) -> String {
        let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
        match self.random.below(8) {
            0..=3 => format!("({a} {} {b})", self.random.one_of(&["+", "-", "*", "/"])),
            4 => format!("(-{a})"),
            5 if bits == 32 || bits == 64 => {
                let operation = self.random.one_of(&["floor", "ceil", "trunc", "sqrt", "round", "fract", "recip"]);
                format!("({a}).{operation}()")
            }
            6 => {
                let from = self.random.one_of(&INTEGERS);
                format!("({} as {name})", self.expression(from, depth))
            }
            _ => {
                let from = self.random.one_of(&FLOATS);
                format!("({} as {name})", self.expression(from, depth))
            }
        }
    }

    pub fn condition(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(Scalar::Bool);
        }
        let depth = depth - 1;
        match self.random.below(6) {
            0 => format!("(!{})", self.condition(depth)),
            1 => {
                let operation = self.random.one_of(&["&&", "||", "^", "&", "|"]);
                format!("({} {operation} {})", self.condition(depth), self.condition(depth))
            }
            _ => {
                let ty = self.scalar();
                let operation = self.random.one_of(&["<", "<=", "==", "!=", ">", ">="]);
                format!("(({}) {operation} ({}))", self.expression(ty, depth), self.expression(ty, depth))
            }
        }
    }

    fn character(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => format!("char::from({})", self.expression(Scalar::Int("u8", 8), depth)),
            1 => {
                let number = self.expression(Scalar::Int("u32", 32), depth);
                format!("char::from_u32({number} % 0x11_0000).unwrap_or('?')")
            }
            2 => format!("({}).to_ascii_uppercase()", self.expression(Scalar::Char, depth)),
            _ => format!("char::from_digit({} % 36, 36).unwrap()", self.expression(Scalar::Int("u32", 32), depth)),
        }
    }
}
