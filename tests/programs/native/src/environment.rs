//! What a program learns about the world it runs in, as far as it is the same everywhere.

use std::env;
use std::hint::black_box;
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[dpor::test]
fn time_advances() {
    let start = Instant::now();
    thread::sleep(Duration::from_millis(2));
    let elapsed = start.elapsed();
    println!("{} {}", elapsed >= Duration::from_millis(2), Instant::now() >= start);
    println!("{:?}", start.checked_duration_since(start + Duration::from_secs(1)));
    println!("{}", SystemTime::now().duration_since(UNIX_EPOCH).is_ok());
    let duration = Duration::new(3, 999_999_999) + Duration::from_micros(1);
    println!("{duration:?} {} {:?}", duration.as_millis(), duration.checked_sub(Duration::MAX));
    println!("{:?} {:?} {:.2?}", duration * 2, duration / 3, Duration::from_secs_f64(1.0 / 3.0));
}

#[dpor::test]
fn environment_variables() {
    println!("{:?}", std::env::var("SURELY_NOT_SET_ANYWHERE"));
    println!("{}", thread::available_parallelism().is_ok());
    println!("{} {}", cfg!(debug_assertions), cfg!(test));
    println!("{} {}", option_env!("CARGO_PKG_NAME").unwrap_or("?"), env!("CARGO_PKG_VERSION"));
    println!("{} {}", std::env::consts::OS, usize::BITS);
}

#[dpor::test]
fn paths() {
    let path = Path::new("/usr/./lib/../share/doc.tar.gz");
    println!("{:?} {:?} {:?}", path.file_name(), path.file_stem(), path.extension());
    println!("{:?}", path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>());
    let mut buffer = PathBuf::from("a");
    buffer.push("b");
    buffer.set_extension("txt");
    println!("{} {:?} {}", buffer.display(), buffer.parent(), path.starts_with("/usr"));
    println!("{:?}", buffer.strip_prefix("a").map(|p| p.join("c").with_file_name("d")));
}

#[dpor::test]
fn readers_and_writers() -> io::Result<()> {
    let mut cursor = Cursor::new(b"first line\nsecond\n\nlast".to_vec());
    let mut line = String::new();
    println!("{} {line:?}", cursor.read_line(&mut line)?);
    println!("{:?}", cursor.clone().lines().collect::<io::Result<Vec<_>>>()?);
    cursor.seek(SeekFrom::End(-4))?;
    let mut rest = String::new();
    cursor.read_to_string(&mut rest)?;
    println!("{rest} {}", cursor.position());
    let mut short = [0; 3];
    println!("{:?}", (&b"ab"[..]).read_exact(&mut short).map_err(|e| (e.kind(), e.to_string())));
    let mut chained = (&b"abc"[..]).chain(&b"def"[..]).take(5);
    println!("{:?}", io::read_to_string(&mut chained));
    let mut writer = io::BufWriter::new(Vec::new());
    for n in 0..3 {
        write!(writer, "{n};")?;
    }
    println!("{:?}", String::from_utf8(writer.into_inner()?));
    let stdout = io::stdout();
    let mut lock = stdout.lock();
    writeln!(lock, "written {}", black_box("directly"))?;
    lock.flush()?;
    print!("no newline at the end");
    Ok(())
}

#[dpor::test]
fn all_variables_are_there() {
    let all: Vec<(String, String)> = env::vars().collect();
    assert!(all.iter().all(|(name, value)| env::var(name).as_ref() == Ok(value)));
    println!("{} {}", all.iter().any(|(name, _)| name == "PATH"), env::args().len() > 0);
}
