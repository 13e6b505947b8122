//! A JSON parser, an expression evaluator and a stack machine.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::iter::Peekable;
use std::str::{Chars, FromStr};

#[derive(Debug, Clone, PartialEq)]
enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

#[derive(Debug, PartialEq)]
struct JsonError {
    at: usize,
    what: String,
}

struct JsonParser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> JsonParser<'a> {
    fn error<T>(&self, what: impl Into<String>) -> Result<T, JsonError> {
        Err(JsonError { at: self.at, what: what.into() })
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.next();
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), JsonError> {
        self.space();
        match self.peek() {
            Some(c) if c == wanted => {
                self.next();
                Ok(())
            }
            other => self.error(format!("expected {wanted:?}, found {other:?}")),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonError> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            self.error("unknown word")
        }
    }

    fn value(&mut self) -> Result<Json, JsonError> {
        self.space();
        match self.peek() {
            Some('n') => self.word("null", Json::Null),
            Some('t') => self.word("true", Json::Bool(true)),
            Some('f') => self.word("false", Json::Bool(false)),
            Some('"') => self.string().map(Json::Text),
            Some('[') => self.list(),
            Some('{') => self.object(),
            Some('-' | '0'..='9') => self.number(),
            other => self.error(format!("unexpected {other:?}")),
        }
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let rest: &'a str = &self.text[self.at..];
        let end = rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let number = rest[..end].parse().or_else(|e| self.error(format!("{e}")))?;
        self.at += end;
        Ok(Json::Number(number))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.next() {
                None => return self.error("unfinished string"),
                Some('"') => return Ok(text),
                Some('\\') => match self.next() {
                    Some('n') => text.push('\n'),
                    Some('u') => {
                        let digits = self.text.get(self.at..self.at + 4);
                        let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok()).and_then(char::from_u32);
                        let Some(c) = code else { return self.error("bad escape") };
                        text.push(c);
                        self.at += 4;
                    }
                    Some(c) => text.push(c),
                    None => return self.error("unfinished escape"),
                },
                Some(c) => text.push(c),
            }
        }
    }

    fn list(&mut self) -> Result<Json, JsonError> {
        self.expect('[')?;
        let mut items = Vec::new();
        self.space();
        if self.peek() != Some(']') {
            loop {
                items.push(self.value()?);
                self.space();
                if self.peek() != Some(',') {
                    break;
                }
                self.next();
            }
        }
        self.expect(']')?;
        Ok(Json::List(items))
    }

    fn object(&mut self) -> Result<Json, JsonError> {
        self.expect('{')?;
        let mut fields = BTreeMap::new();
        self.space();
        if self.peek() != Some('}') {
            loop {
                self.space();
                let key = self.string()?;
                self.expect(':')?;
                fields.insert(key, self.value()?);
                self.space();
                if self.peek() != Some(',') {
                    break;
                }
                self.next();
            }
        }
        self.expect('}')?;
        Ok(Json::Object(fields))
    }
}

impl FromStr for Json {
    type Err = JsonError;

    fn from_str(text: &str) -> Result<Json, JsonError> {
        let mut parser = JsonParser { text, at: 0 };
        let value = parser.value()?;
        parser.space();
        if parser.at == text.len() { Ok(value) } else { parser.error("more after the end") }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(b) => write!(f, "{b}"),
            Json::Number(n) => write!(f, "{n}"),
            Json::Text(text) => write!(f, "{text:?}"),
            Json::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Json::Object(fields) => {
                f.write_str("{")?;
                for (i, (key, value)) in fields.iter().enumerate() {
                    write!(f, "{}{key:?}:{value}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

#[dpor::test]
fn json_parser() {
    let text =
        r#" {"name": "Zoë \u00e9\n", "tags": ["a", "b", []], "size": {"w": -1.5e3, "h": 12}, "ok": true, "no": null} "#;
    let json: Json = text.parse().unwrap();
    println!("{json}");
    assert_eq!(json.to_string().parse::<Json>().unwrap(), json);
    if let Json::Object(fields) = &json {
        println!("{:?}", fields.keys().collect::<Vec<_>>());
        println!("{:#?}", fields["size"]);
    }
    for bad in ["", "[1, 2", "{\"a\" 1}", "tru", "\"abc", "1.2.3", "[] []", "\"\\u12\""] {
        println!("{bad:?}: {:?}", bad.parse::<Json>());
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Symbol(char),
}

fn tokenize(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        match c {
            ' ' => drop(chars.next()),
            '0'..='9' | '.' => {
                let number = take_while(&mut chars, |c| c.is_ascii_digit() || c == '.');
                tokens.push(Token::Number(number.parse().map_err(|e| format!("{number}: {e}"))?));
            }
            c if c.is_alphabetic() => tokens.push(Token::Name(take_while(&mut chars, char::is_alphanumeric))),
            '+' | '-' | '*' | '/' | '^' | '(' | ')' | ',' | '=' => {
                chars.next();
                tokens.push(Token::Symbol(c));
            }
            other => return Err(format!("unexpected {other:?}")),
        }
    }
    Ok(tokens)
}

fn take_while(chars: &mut Peekable<Chars<'_>>, keep: impl Fn(char) -> bool) -> String {
    std::iter::from_fn(|| chars.next_if(|c| keep(*c))).collect()
}

/// Evaluates while it parses: a Pratt parser.
struct Evaluator<'a> {
    tokens: Peekable<std::slice::Iter<'a, Token>>,
    variables: &'a HashMap<String, f64>,
}

impl Evaluator<'_> {
    fn expression(&mut self, min_power: u8) -> Result<f64, String> {
        let mut left = match self.tokens.next() {
            Some(Token::Number(n)) => *n,
            Some(Token::Symbol('-')) => -self.expression(5)?,
            Some(Token::Symbol('(')) => {
                let value = self.expression(0)?;
                self.close()?;
                value
            }
            Some(Token::Name(name)) if self.tokens.next_if_eq(&&Token::Symbol('(')).is_some() => {
                let mut arguments = vec![self.expression(0)?];
                while self.tokens.next_if_eq(&&Token::Symbol(',')).is_some() {
                    arguments.push(self.expression(0)?);
                }
                self.close()?;
                call(name, &arguments)?
            }
            Some(Token::Name(name)) => *self.variables.get(name).ok_or_else(|| format!("unknown {name}"))?,
            other => return Err(format!("unexpected {other:?}")),
        };
        while let Some(Token::Symbol(operator)) = self.tokens.peek() {
            let (left_power, right_power) = match operator {
                '+' | '-' => (1, 2),
                '*' | '/' => (3, 4),
                '^' => (8, 7),
                _ => break,
            };
            if left_power < min_power {
                break;
            }
            self.tokens.next();
            let right = self.expression(right_power)?;
            left = match operator {
                '+' => left + right,
                '-' => left - right,
                '*' => left * right,
                '/' if right == 0.0 => return Err("division by zero".into()),
                '/' => left / right,
                _ => left.powf(right),
            };
        }
        Ok(left)
    }

    fn close(&mut self) -> Result<(), String> {
        match self.tokens.next() {
            Some(Token::Symbol(')')) => Ok(()),
            other => Err(format!("expected ), found {other:?}")),
        }
    }
}

fn call(name: &str, arguments: &[f64]) -> Result<f64, String> {
    match (name, arguments) {
        ("max", [first, rest @ ..]) => Ok(rest.iter().copied().fold(*first, f64::max)),
        ("sqrt", [x]) => Ok(x.sqrt()),
        ("sum", all) => Ok(all.iter().sum()),
        (name, all) => Err(format!("no function {name} with {} arguments", all.len())),
    }
}

#[dpor::test]
fn expression_evaluator() {
    let mut variables = HashMap::new();
    for line in [
        "1 + 2 * 3",
        "x = (1 + 2) * -3",
        "2 ^ 3 ^ 2 / 2",
        "y = max(x, 4, sqrt(2 * 8)) - 0.5",
        "sum(x, y, x * y)",
        "10 - 4 - 3",
        "1 / (2 - 2)",
        "z + 1",
        "(1 + 2",
        "min(1)",
        "1.2.3",
        "3 $ 4",
    ] {
        let result = tokenize(line).and_then(|tokens| {
            let (name, body) = match &tokens[..] {
                [Token::Name(name), Token::Symbol('='), body @ ..] => (Some(name.clone()), body),
                body => (None, body),
            };
            let mut evaluator = Evaluator { tokens: body.iter().peekable(), variables: &variables };
            Ok((name, evaluator.expression(0)?))
        });
        match result {
            Ok((Some(name), value)) => {
                println!("{name} is {value}");
                variables.insert(name, value);
            }
            Ok((None, value)) => println!("{line} = {value}"),
            Err(error) => println!("{line}: {error}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Instruction {
    Push(i64),
    Load(usize),
    Store(usize),
    Add,
    Mul,
    Rem,
    Less,
    Jump(usize),
    JumpIfZero(usize),
    Call(usize),
    Return,
    Print,
    Halt,
}

#[derive(Debug)]
#[allow(dead_code, reason = "only printed")]
enum Fault {
    StackUnderflow { pc: usize },
    BadJump(usize),
    DivisionByZero,
    OutOfFuel,
}

#[derive(Default)]
struct Machine {
    stack: Vec<i64>,
    calls: Vec<usize>,
    memory: [i64; 8],
    output: Vec<String>,
}

impl Machine {
    fn run(&mut self, code: &[Instruction], mut fuel: u32) -> Result<u32, Fault> {
        use Instruction::*;
        let mut pc = 0;
        let mut steps = 0;
        loop {
            fuel = fuel.checked_sub(1).ok_or(Fault::OutOfFuel)?;
            steps += 1;
            let instruction = *code.get(pc).ok_or(Fault::BadJump(pc))?;
            let at = pc;
            pc += 1;
            let mut pop = || self.stack.pop().ok_or(Fault::StackUnderflow { pc: at });
            match instruction {
                Push(n) => self.stack.push(n),
                Load(i) => self.stack.push(self.memory[i]),
                Store(i) => self.memory[i] = pop()?,
                Add | Mul | Rem | Less => {
                    let (right, left) = (pop()?, pop()?);
                    self.stack.push(match instruction {
                        Add => left.wrapping_add(right),
                        Mul => left.wrapping_mul(right),
                        Rem => left.checked_rem(right).ok_or(Fault::DivisionByZero)?,
                        _ => i64::from(left < right),
                    });
                }
                Jump(to) => pc = to,
                JumpIfZero(to) => {
                    if pop()? == 0 {
                        pc = to;
                    }
                }
                Call(to) => {
                    self.calls.push(pc);
                    pc = to;
                }
                Return => match self.calls.pop() {
                    Some(to) => pc = to,
                    None => return Ok(steps),
                },
                Print => {
                    let value = pop()?;
                    self.output.push(value.to_string());
                }
                Halt => return Ok(steps),
            }
        }
    }
}

#[dpor::test]
fn stack_machine() {
    use Instruction::*;
    // Prints the numbers below 60 that are multiples of 7, from 1 on.
    let multiples = [
        Push(1),
        Store(0), // i = 1
        Load(0),
        Push(60),
        Less,
        JumpIfZero(18), // while i < 60
        Load(0),
        Push(7),
        Rem,
        JumpIfZero(13), // if i % 7 == 0 goto print
        Call(19),
        Jump(2),
        Halt, // next
        Load(0),
        Push(100),
        Mul,
        Print,
        Jump(10), // print a hundred times it
        Halt,     // end
        Load(0),
        Push(1),
        Add,
        Store(0),
        Return, // i += 1
    ];
    let mut machine = Machine::default();
    println!("{:?} {}", machine.run(&multiples, 10_000), machine.output.join(","));
    for code in [&[Push(1), Add][..], &[Push(1), Push(0), Rem], &[Jump(9)], &[Jump(0)], &[Return]] {
        println!("{:?}", Machine::default().run(code, 100));
    }
}
