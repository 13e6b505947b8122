//! How much memory a check may use: sizes as users write them, the default limit, and releasing freed memory.

use std::fs;

use dpor_engine::memory::resident;

/// The units of sizes, each 1024 times the one before.
const UNITS: [char; 5] = ['B', 'K', 'M', 'G', 'T'];

/// Reads a size such as `4G`, `1.5GiB` or `512M`; a number alone is in bytes.
pub fn parse(text: &str) -> Result<u64, &'static str> {
    const WRONG: &str = "it must be a size greater than 0, such as 512M or 4G";
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| WRONG)?;
    let unit = unit.to_ascii_uppercase();
    let short = unit.strip_suffix("IB").or_else(|| unit.strip_suffix('B').filter(|short| !short.is_empty()));
    let power = match short.unwrap_or(&unit) {
        "" => 0,
        short => UNITS.iter().position(|unit| short.chars().eq([*unit])).ok_or(WRONG)?,
    };
    let bytes = number * 1024f64.powi(power as i32);
    (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(bytes as u64).ok_or(WRONG)
}

/// A size as users write it: `512 MB`
pub fn format(bytes: u64) -> String {
    let power = (bytes.max(1).ilog2() / 10).min(4);
    let number = bytes as f64 / 1024f64.powi(power as i32);
    let unit = if power == 0 { "bytes".to_owned() } else { format!("{}B", UNITS[power as usize]) };
    // One digit after the point, where it says something.
    let number = format!("{number:.1}");
    format!("{} {unit}", number.strip_suffix(".0").unwrap_or(&number))
}

/// How much memory a check may use by default: three quarters of what is available, including what the process has already.
pub fn default_limit() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let group = |file: &str| fs::read_to_string(format!("/sys/fs/cgroup/{file}")).ok()?.trim().parse::<u64>().ok();
    let group = group("memory.max").map(|max| max.saturating_sub(group("memory.current").unwrap_or(0)));
    let free = meminfo.into_iter().chain(group).min()?;
    Some((free + resident().unwrap_or(0)) / 4 * 3)
}

/// What the system says is available, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns memory that a test has freed to the system, if it is so much that the next test might lack it.
pub fn give_back(limit: Option<u64>) {
    let is_much = |limit| resident().is_some_and(|bytes| bytes > limit / 4);
    if limit.is_some_and(is_much) {
        dpor_system::release_freed_memory();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!([parse("4G"), parse("1.5GiB"), parse("512M")], [Ok(4 << 30), Ok(3 << 29), Ok(512 << 20)]);
        assert_eq!([parse("100kB"), parse("7"), parse("7B")], [Ok(100 << 10), Ok(7), Ok(7)]);
        for wrong in ["", "G", "0", "-1", "4X", "1e9", "4GG", "nan", "99999999999T"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!([format(4 << 30), format(3 << 29), format(100)], ["4 GB", "1.5 GB", "100 bytes"]);
    }

    #[test]
    fn the_default_is_a_part_of_what_is_there() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:     2048 kB\n"), Some(2 << 20));
        assert!(default_limit().is_some_and(|limit| limit > 1 << 20));
    }

    #[test]
    fn what_is_freed_is_given_back() {
        let blocks: Vec<Vec<u8>> = (0..2000).map(|_| vec![1; 100_000]).collect();
        let keep: Vec<Vec<u8>> = blocks.into_iter().step_by(100).collect();
        let before = resident().unwrap();
        give_back(Some(1));
        let after = resident().unwrap();
        assert!(after + (100 << 20) < before, "{before} {after} {}", keep.len());
    }
}
