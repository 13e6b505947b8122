//! Errors as values.

use std::error::Error;
use std::fmt;
use std::io;
use std::num::{ParseFloatError, ParseIntError};

#[derive(Debug)]
enum ConfigError {
    Missing(&'static str),
    Number { key: String, source: ParseIntError },
    Float(ParseFloatError),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Missing(key) => write!(f, "`{key}` is missing"),
            ConfigError::Number { key, .. } => write!(f, "`{key}` is not a number"),
            ConfigError::Float(_) => f.write_str("bad ratio"),
        }
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ConfigError::Missing(_) => None,
            ConfigError::Number { source, .. } => Some(source),
            ConfigError::Float(source) => Some(source),
        }
    }
}

impl From<ParseFloatError> for ConfigError {
    fn from(error: ParseFloatError) -> Self {
        ConfigError::Float(error)
    }
}

fn field<'a>(text: &'a str, key: &'static str) -> Result<&'a str, ConfigError> {
    text.split(',')
        .filter_map(|pair| pair.split_once(':'))
        .find_map(|(k, v)| (k == key).then_some(v))
        .ok_or(ConfigError::Missing(key))
}

fn parse(text: &str) -> Result<(u16, f64), ConfigError> {
    let port = field(text, "port")?;
    let port = port.parse().map_err(|source| ConfigError::Number { key: port.to_owned(), source })?;
    Ok((port, field(text, "ratio")?.parse()?))
}

#[dpor::test]
fn chains() {
    for text in ["port:80,ratio:0.5", "ratio:1", "port:x1,ratio:1", "port:1,ratio:half", "port:99999"] {
        match parse(text) {
            Ok(config) => println!("{config:?}"),
            Err(error) => {
                print!("{error}");
                let mut source = error.source();
                while let Some(cause) = source {
                    print!(" because {cause}");
                    source = cause.source();
                }
                println!();
            }
        }
    }
}

fn dynamic(n: i32) -> Result<i32, Box<dyn Error + Send + Sync>> {
    match n {
        0 => Err("just text".into()),
        1 => Err(Box::new(ConfigError::Missing("one"))),
        2 => Ok("two".parse::<i32>()?),
        3 => Err(format!("formatted {n}"))?,
        4 => Ok(i32::from(u8::try_from(400)?)),
        n => Ok(n),
    }
}

#[dpor::test]
fn boxed_errors() -> Result<(), Box<dyn Error>> {
    for n in 0..6 {
        match dynamic(n) {
            Ok(value) => println!("{value}"),
            Err(error) => println!("{error} / {error:?} {}", error.is::<ConfigError>()),
        }
    }
    let error = dynamic(1).unwrap_err().downcast::<ConfigError>().unwrap();
    println!("{error:?}");
    println!("{}", "7".parse::<u8>()? + 1);
    Ok(())
}

#[dpor::test]
fn options_and_results() -> Result<(), String> {
    let some = Some(3u32);
    println!("{:?} {:?} {:?}", some.map(|n| n * 2), some.filter(|n| *n > 5), some.xor(None));
    println!("{:?} {:?}", some.and_then(|n| n.checked_sub(4)), None.or(some));
    println!("{:?} {:?}", some.zip(Some('x')), some.ok_or("none"));
    println!("{} {}", some.is_some_and(|n| n == 3), some.map_or(0, |n| n + 1));
    let mut slot = None;
    println!("{}", slot.get_or_insert(5));
    println!("{:?} {:?}", slot.replace(6), slot.take_if(|n| *n == 6));
    println!("{:?} {:?}", slot, Some(Some(1)).flatten());
    let ok: Result<u8, &str> = Ok(1);
    let bad: Result<u8, &str> = Err("bad");
    println!("{:?} {:?} {:?}", ok.and(bad), bad.or(ok), bad.unwrap_or_default());
    println!("{:?} {:?}", bad.map_err(str::len), bad.ok());
    println!("{:?} {:?}", Some(ok).transpose(), ok.iter().chain(bad.iter()).count());
    println!("{:?} {:?}", bad.inspect_err(|e| print!("<{e}>")), ok.as_ref().copied());
    let Some(n) = some else { return Err("cannot be".into()) };
    println!("{n}");
    Ok(())
}

#[dpor::test]
fn errors_of_the_system() {
    for number in [0, 1, 2, 13, 22, 35, 110, 133, 134, 9999, -1] {
        let error = io::Error::from_raw_os_error(number);
        println!("{error} {:?} {error:?}", error.kind());
    }
}
