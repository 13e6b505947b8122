//! Running the tests in parts, on several machines: `--partition`, as in cargo-nextest.

use std::str::FromStr;

/// One of several parts of the tests. Together the parts are all tests, and no test is in two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    by: By,
    /// Which part, from 0.
    part: u64,
    parts: u64,
}

/// What decides to which part a test belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Its number among the selected tests of its target: parts are of the same size.
    Count,
    /// Its name: other tests have no influence.
    Hash,
}

/// The text names no part of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected count:M/N or hash:M/N, with M from 1 to N")]
pub struct UnknownPartition;

impl FromStr for Partition {
    type Err = UnknownPartition;

    fn from_str(text: &str) -> Result<Partition, UnknownPartition> {
        let (by, part) = text.split_once(':').ok_or(UnknownPartition)?;
        let by = match by {
            "count" => By::Count,
            "hash" => By::Hash,
            _ => return Err(UnknownPartition),
        };
        let (part, parts) = part.split_once('/').ok_or(UnknownPartition)?;
        let (part, parts) = (part.parse::<u64>(), parts.parse::<u64>());
        match (part, parts) {
            (Ok(part), Ok(parts)) if (1..=parts).contains(&part) => Ok(Partition { by, part: part - 1, parts }),
            _ => Err(UnknownPartition),
        }
    }
}

impl Partition {
    /// Whether a test belongs to the part, given its number among the selected tests of its target.
    pub fn contains(&self, number: usize, name: &str) -> bool {
        let value = match self.by {
            By::Count => number as u64,
            By::Hash => hash(name),
        };
        value % self.parts == self.part
    }
}

/// FNV-1a (Fowler, Noll, Vo): the same on every machine and in every version.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_from_one() {
        assert!("count:1/1".parse::<Partition>().is_ok() && "hash:3/4".parse::<Partition>().is_ok());
        for wrong in ["", "count", "count:1", "count:0/2", "count:3/2", "size:1/2", "hash:1/0", "hash:-1/2"] {
            assert_eq!(wrong.parse::<Partition>(), Err(UnknownPartition), "{wrong}");
        }
    }

    #[test]
    fn every_test_is_in_one_part() {
        let names: Vec<String> = (0..100).map(|number| format!("tests::a{number}")).collect();
        for by in ["count", "hash"] {
            let parts: Vec<Partition> = (1..=3).map(|part| format!("{by}:{part}/3").parse().unwrap()).collect();
            for (number, name) in names.iter().enumerate() {
                assert_eq!(parts.iter().filter(|part| part.contains(number, name)).count(), 1, "{by} {name}");
            }
            let sizes = parts.iter().map(|part| (0..100).filter(|i| part.contains(*i, &names[*i])).count());
            assert!(sizes.clone().all(|size| size >= 20), "{:?}", sizes.collect::<Vec<_>>());
        }
    }

    #[test]
    fn hashes_are_those_that_others_compute() {
        // From the authors' list of test vectors for 64 bits.
        assert_eq!([hash(""), hash("a"), hash("foobar")], [0xcbf29ce484222325, 0xaf63dc4c8601ec8c, 0x85944171f73967e8]);
    }
}
