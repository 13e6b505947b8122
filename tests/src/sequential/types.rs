//! Types of random programs, and values of them.

use super::expression::Scope;

/// A number, a truth value or a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// Its name, and how many bits it has.
    Int(&'static str, u32),
    Float(&'static str, u32),
    Bool,
    Char,
}

pub const INTEGERS: [Scalar; 12] = [
    Scalar::Int("u8", 8),
    Scalar::Int("u16", 16),
    Scalar::Int("u32", 32),
    Scalar::Int("u64", 64),
    Scalar::Int("u128", 128),
    Scalar::Int("usize", 64),
    Scalar::Int("i8", 8),
    Scalar::Int("i16", 16),
    Scalar::Int("i32", 32),
    Scalar::Int("i64", 64),
    Scalar::Int("i128", 128),
    Scalar::Int("isize", 64),
];

pub const FLOATS: [Scalar; 4] =
    [Scalar::Float("f16", 16), Scalar::Float("f32", 32), Scalar::Float("f64", 64), Scalar::Float("f128", 128)];

impl Scalar {
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Int(name, _) | Scalar::Float(name, _) => name,
            Scalar::Bool => "bool",
            Scalar::Char => "char",
        }
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Scalar(Scalar),
    NonZero(Scalar),
    Unit,
    Text,
    Option(Box<Type>),
    Result(Box<Type>, Box<Type>),
    Pair(Box<Type>, Box<Type>),
    Triple(Box<Type>, Box<Type>, Box<Type>),
    Array(Box<Type>, usize),
    Box(Box<Type>),
    Rc(Box<Type>),
    Vec(Box<Type>),
    /// One that the program defines, by its number.
    Named(usize),
}

impl Type {
    pub fn name(&self) -> String {
        match self {
            Type::Scalar(scalar) => scalar.name().to_owned(),
            Type::NonZero(scalar) => format!("NonZero<{}>", scalar.name()),
            Type::Unit => "()".to_owned(),
            Type::Text => "String".to_owned(),
            Type::Option(inner) => format!("Option<{}>", inner.name()),
            Type::Result(value, error) => format!("Result<{}, {}>", value.name(), error.name()),
            Type::Pair(a, b) => format!("({}, {})", a.name(), b.name()),
            Type::Triple(a, b, c) => format!("({}, {}, {})", a.name(), b.name(), c.name()),
            Type::Array(inner, count) => format!("[{}; {count}]", inner.name()),
            Type::Box(inner) => format!("Box<{}>", inner.name()),
            Type::Rc(inner) => format!("Rc<{}>", inner.name()),
            Type::Vec(inner) => format!("Vec<{}>", inner.name()),
            Type::Named(number) => format!("T{number}"),
        }
    }
}

/// What a program defines.
#[derive(Clone, Debug)]
pub enum Definition {
    Struct(Vec<Type>),
    /// `repr(C, packed)`: fields are copied to be looked at.
    Packed(Vec<Type>),
    /// The fields of each variant.
    Enum(Vec<Vec<Type>>),
    /// Bytes, and numbers and floats of that size.
    Union(u32),
}

impl Definition {
    /// The definition of a type, with its digest.
    pub fn source(&self, number: usize) -> String {
        match self {
            Definition::Struct(fields) => {
                let list: Vec<String> = fields.iter().map(Type::name).collect();
                let digest = digests((0..fields.len()).map(|index| format!("self.{index}.digest()")));
                format!("#[derive(Clone)]\nstruct T{number}({});\n{}", list.join(", "), implementation(number, &digest))
            }
            Definition::Packed(fields) => {
                let list: Vec<String> = fields.iter().map(Type::name).collect();
                let digest = digests((0..fields.len()).map(|index| format!("{{ self.{index} }}.digest()")));
                let header = "#[repr(C, packed)]\n#[derive(Clone, Copy)]";
                format!("{header}\nstruct T{number}({});\n{}", list.join(", "), implementation(number, &digest))
            }
            Definition::Enum(variants) => {
                let (mut list, mut arms) = (String::new(), String::new());
                for (index, fields) in variants.iter().enumerate() {
                    let types: Vec<String> = fields.iter().map(Type::name).collect();
                    let names: Vec<String> = (0..fields.len()).map(|field| format!("a{field}")).collect();
                    let (types, pattern) = match fields.is_empty() {
                        true => (String::new(), String::new()),
                        false => (format!("({})", types.join(", ")), format!("({})", names.join(", "))),
                    };
                    list += &format!("    V{index}{types},\n");
                    let digest = digests(names.iter().map(|name| format!("{name}.digest()")));
                    arms += &format!("            T{number}::V{index}{pattern} => mix({index}, {digest}),\n");
                }
                let digest = format!("match self {{\n{arms}        }}");
                format!("#[derive(Clone)]\nenum T{number} {{\n{list}}}\n{}", implementation(number, &digest))
            }
            Definition::Union(bits) => {
                let header = "#[repr(C)]\n#[derive(Clone, Copy)]";
                let fields = format!("bytes: [u8; {}], int: i{bits}, float: f{bits}", bits / 8);
                // SAFETY: all bytes are written, and every field may have any bytes.
                let digest = "unsafe { mix(self.bytes.digest(), mix(self.int.digest(), self.float.digest())) }";
                format!("{header}\nunion T{number} {{ {fields} }}\n{}", implementation(number, digest))
            }
        }
    }
}

fn implementation(number: usize, digest: &str) -> String {
    format!("impl Digest for T{number} {{\n    fn digest(&self) -> u64 {{\n        {digest}\n    }}\n}}\n")
}

fn digests(parts: impl Iterator<Item = String>) -> String {
    parts.fold("23".to_owned(), |so_far, part| format!("mix({so_far}, {part})"))
}

impl Scope<'_> {
    pub fn integer(&mut self) -> Scalar {
        self.random.one_of(&INTEGERS)
    }

    pub fn scalar(&mut self) -> Scalar {
        match self.random.below(10) {
            0 => Scalar::Bool,
            1 => Scalar::Char,
            2 | 3 => self.random.one_of(&FLOATS),
            _ => self.integer(),
        }
    }

    /// A type of at most that many layers, of types that the program defines before this one.
    pub fn ty(&mut self, depth: usize) -> Type {
        if depth == 0 {
            return Type::Scalar(self.scalar());
        }
        let inner = |scope: &mut Self| Box::new(scope.ty(depth - 1));
        match self.random.below(16) {
            0 => Type::NonZero(self.integer()),
            1 => Type::Unit,
            2 => Type::Text,
            3 | 4 => Type::Option(inner(self)),
            5 => Type::Result(inner(self), inner(self)),
            6 => Type::Pair(inner(self), inner(self)),
            7 => Type::Triple(inner(self), inner(self), inner(self)),
            8 => Type::Array(inner(self), self.random.below(4)),
            9 => Type::Box(inner(self)),
            10 => Type::Rc(inner(self)),
            11 => Type::Vec(inner(self)),
            12 | 13 if !self.definitions.is_empty() => Type::Named(self.random.below(self.definitions.len())),
            _ => Type::Scalar(self.scalar()),
        }
    }

    /// A new type for the program.
    pub fn definition(&mut self) -> Definition {
        let count = 1 + self.random.below(4);
        match self.random.below(6) {
            0 => Definition::Struct((0..count).map(|_| self.ty(2)).collect()),
            1 => Definition::Packed((0..count).map(|_| Type::Scalar(self.scalar())).collect()),
            2 => Definition::Union(self.random.one_of(&[16, 32, 64, 128])),
            _ => {
                let fields = |scope: &mut Self| (0..scope.random.below(3)).map(|_| scope.ty(2)).collect();
                Definition::Enum((0..1 + count).map(|_| fields(self)).collect())
            }
        }
    }

    /// An expression of a type.
    pub fn value(&mut self, ty: &Type, depth: usize) -> String {
        match ty {
            Type::Scalar(scalar) => self.expression(*scalar, depth),
            Type::NonZero(scalar) => {
                let value = self.expression(*scalar, depth);
                format!("NonZero::new({value}).unwrap_or(NonZero::<{}>::MAX)", scalar.name())
            }
            Type::Unit => "()".to_owned(),
            Type::Text => {
                let scalar = self.scalar();
                let value = self.expression(scalar, depth);
                match self.random.below(3) {
                    0 => format!("format!(\"{{:?}}\", {value})"),
                    1 => format!(
                        "String::from({:?})",
                        self.random.one_of(&["", "a", "zwölf", "日本", "long enough text"])
                    ),
                    _ => format!("format!(\"<{{:>6?}}>\", {value}).replace('0', \"o\")"),
                }
            }
            Type::Option(inner) if self.random.percent(30) => format!("None::<{}>", inner.name()),
            Type::Option(inner) => format!("Some({})", self.value(inner, depth)),
            Type::Result(value, error) => match self.random.percent(50) {
                true => format!("Ok::<_, {}>({})", error.name(), self.value(value, depth)),
                false => format!("Err::<{}, _>({})", value.name(), self.value(error, depth)),
            },
            Type::Pair(a, b) => format!("({}, {})", self.value(a, depth), self.value(b, depth)),
            Type::Triple(a, b, c) => {
                format!("({}, {}, {})", self.value(a, depth), self.value(b, depth), self.value(c, depth))
            }
            Type::Array(inner, count) => {
                let items: Vec<String> = (0..*count).map(|_| self.value(inner, depth)).collect();
                format!("[{}]", items.join(", "))
            }
            Type::Box(inner) => format!("Box::new({})", self.value(inner, depth)),
            Type::Rc(inner) => format!("Rc::new({})", self.value(inner, depth)),
            Type::Vec(inner) => {
                let items: Vec<String> = (0..self.random.below(4)).map(|_| self.value(inner, depth)).collect();
                format!("Vec::<{}>::from([{}])", inner.name(), items.join(", "))
            }
            Type::Named(number) => self.named(*number, depth),
        }
    }

    fn named(&mut self, number: usize, depth: usize) -> String {
        let values = |scope: &mut Self, fields: &[Type]| -> String {
            let values: Vec<String> = fields.iter().map(|field| scope.value(field, depth.saturating_sub(1))).collect();
            values.join(", ")
        };
        match self.definitions[number].clone() {
            Definition::Struct(fields) | Definition::Packed(fields) => {
                format!("T{number}({})", values(self, &fields))
            }
            Definition::Enum(variants) => {
                let index = self.random.below(variants.len());
                match variants[index].is_empty() {
                    true => format!("T{number}::V{index}"),
                    false => format!("T{number}::V{index}({})", values(self, &variants[index])),
                }
            }
            Definition::Union(bits) => {
                let fields = [("int", format!("i{bits}")), ("float", format!("f{bits}"))];
                let (field, ty) = self.random.one_of(&fields);
                let all = INTEGERS.iter().chain(&FLOATS);
                let scalar = all.into_iter().find(|scalar| scalar.name() == ty).copied();
                let value = scalar.map(|scalar| self.expression(scalar, depth)).unwrap_or_default();
                // The bits of what is no number are left open.
                match field {
                    "float" => {
                        format!("T{number} {{ float: Some({value}).filter(|x: &{ty}| !x.is_nan()).unwrap_or(1.0) }}")
                    }
                    _ => format!("T{number} {{ int: {value} }}"),
                }
            }
        }
    }
}
