//! Which tests are run: the filters of `cargo test`.

use dpor_engine::program::Test;

use crate::args::Filter;
use crate::compile::Binary;

/// The selected tests, by target.
pub struct Selection<'a> {
    pub targets: Vec<SelectedTarget<'a>>,
    /// How many tests the filters left out.
    pub filtered_out: usize,
}

/// The selected tests of a target, by name. There is at least one.
pub struct SelectedTarget<'a> {
    pub binary: &'a Binary,
    pub tests: Vec<SelectedTest<'a>>,
}

pub struct SelectedTest<'a> {
    pub test: &'a Test,
    /// It is reported, but not run.
    pub ignored: bool,
}

impl Selection<'_> {
    pub fn tests(&self) -> usize {
        self.targets.iter().map(|target| target.tests.len()).sum()
    }
}

/// Applies the filters.
pub fn select<'a>(binaries: &'a [Binary], filter: &Filter) -> Selection<'a> {
    let mut selection = Selection { targets: Vec::new(), filtered_out: 0 };
    for binary in binaries {
        let mut tests: Vec<SelectedTest> = Vec::new();
        for test in &binary.program.tests {
            match decide(filter, &test.name, test.config.ignore.is_some()) {
                Some(ignored) => tests.push(SelectedTest { test, ignored }),
                None => selection.filtered_out += 1,
            }
        }
        tests.sort_by(|a, b| a.test.name.cmp(&b.test.name));
        if let Some(partition) = filter.partition {
            let before = tests.len();
            let mut number = 0..;
            tests
                .retain(|selected| number.next().is_some_and(|number| partition.contains(number, &selected.test.name)));
            selection.filtered_out += before - tests.len();
        }
        if !tests.is_empty() {
            selection.targets.push(SelectedTarget { binary, tests });
        }
    }
    selection
}

/// `None` where a test is left out; else whether it is only reported as ignored.
fn decide(filter: &Filter, name: &str, ignore: bool) -> Option<bool> {
    let matches = |pattern: &String| if filter.exact { name == pattern } else { name.contains(pattern.as_str()) };
    let wanted = filter.filters.is_empty() || filter.filters.iter().any(matches);
    let skipped = filter.skip.iter().any(matches) || (filter.ignored && !ignore);
    (wanted && !skipped).then_some(ignore && !filter.ignored && !filter.include_ignored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(filters: &[&str]) -> Filter {
        Filter { filters: filters.iter().map(|filter| (*filter).to_owned()).collect(), ..Filter::default() }
    }

    #[test]
    fn any_filter_suffices() {
        assert_eq!(decide(&filter(&[]), "a::b", false), Some(false));
        assert_eq!(decide(&filter(&["x", "::b"]), "a::b", false), Some(false));
        assert_eq!(decide(&filter(&["x"]), "a::b", false), None);
    }

    #[test]
    fn exact_filters_are_full_names() {
        let exact = |name| Filter { exact: true, ..filter(&[name]) };
        assert_eq!(decide(&exact("a::b"), "a::b", false), Some(false));
        assert_eq!(decide(&exact("a"), "a::b", false), None);
        let skip = Filter { exact: true, skip: vec!["a".into()], ..filter(&[]) };
        assert_eq!(decide(&skip, "a::b", false), Some(false));
        assert_eq!(decide(&skip, "a", false), None);
    }

    #[test]
    fn ignored_tests_are_run_on_demand() {
        assert_eq!(decide(&filter(&[]), "a", true), Some(true));
        assert_eq!(decide(&Filter { include_ignored: true, ..filter(&[]) }, "a", true), Some(false));
        assert_eq!(decide(&Filter { ignored: true, ..filter(&[]) }, "a", true), Some(false));
        assert_eq!(decide(&Filter { ignored: true, ..filter(&[]) }, "a", false), None);
    }
}
