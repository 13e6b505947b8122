//! As much of TOML as finding a dependency in a manifest needs: the string and bare values with their full keys.
//!
//! A manifest that is malformed is cargo's to report, long before this runs: reading here simply ends at what it cannot
//! make sense of.

/// A value with the keys that lead to it: `("dev-dependencies", "checker", "package") = "dpor"`.
///
/// The elements of an array have the array's keys.
pub struct Entry {
    pub keys: Vec<String>,
    pub value: String,
}

/// All values of a document, in order.
pub fn entries(text: &str) -> Vec<Entry> {
    let mut reader = Reader { rest: text, entries: Vec::new() };
    // What follows the first thing not understood is not read.
    let _ = reader.document();
    reader.entries
}

struct Reader<'a> {
    rest: &'a str,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn document(&mut self) -> Option<()> {
        let mut table = Vec::new();
        loop {
            self.skip_blank_lines();
            if self.rest.is_empty() {
                return Some(());
            }
            if self.eat('[') {
                let array_of_tables = self.eat('[');
                table = self.dotted_key()?;
                self.expect(']')?;
                if array_of_tables {
                    self.expect(']')?;
                }
            } else {
                self.pair(&table)?;
            }
        }
    }

    /// `key = value`, below the keys of `table`.
    fn pair(&mut self, table: &[String]) -> Option<()> {
        let mut keys = table.to_vec();
        keys.extend(self.dotted_key()?);
        self.expect('=')?;
        self.skip_spaces();
        self.value(&keys)
    }

    fn value(&mut self, keys: &[String]) -> Option<()> {
        match self.rest.chars().next()? {
            '{' => self.sequence('{', '}', |reader| reader.pair(keys)),
            '[' => self.sequence('[', ']', |reader| reader.value(keys)),
            '"' | '\'' => {
                let value = self.string()?;
                self.entries.push(Entry { keys: keys.to_vec(), value });
                Some(())
            }
            _ => {
                let value = self.take_while(|c| !",]}#\n\r".contains(c)).trim_end().to_owned();
                self.entries.push(Entry { keys: keys.to_vec(), value });
                Some(())
            }
        }
    }

    /// Items between brackets, with commas between them.
    fn sequence(&mut self, open: char, close: char, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(open)?;
        loop {
            self.skip_blank_lines();
            if self.eat(close) {
                return Some(());
            }
            item(self)?;
            self.skip_blank_lines();
            self.eat(',');
        }
    }

    fn dotted_key(&mut self) -> Option<Vec<String>> {
        let mut keys = vec![self.key()?];
        while self.eat('.') {
            keys.push(self.key()?);
        }
        Some(keys)
    }

    fn key(&mut self) -> Option<String> {
        self.skip_spaces();
        let key = match self.rest.chars().next()? {
            '"' | '\'' => self.string()?,
            _ => self.take_while(|c| c.is_alphanumeric() || c == '-' || c == '_').to_owned(),
        };
        self.skip_spaces();
        (!key.is_empty()).then_some(key)
    }

    /// A string of any of the four forms. Escapes are left as they are but for the quote's: no name has any.
    fn string(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let triple = quote.to_string().repeat(3);
        if let Some(body) = self.rest.strip_prefix(triple.as_str()) {
            let end = body.find(triple.as_str())?;
            self.rest = &body[end + 3..];
            return Some(body[..end].to_owned());
        }
        let body = &self.rest[1..];
        let mut escaped = false;
        let end = body.find(|c| {
            let ends = c == quote && !escaped;
            escaped = c == '\\' && quote == '"' && !escaped;
            ends
        })?;
        self.rest = &body[end + 1..];
        Some(body[..end].replace("\\\"", "\""))
    }

    fn skip_blank_lines(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &str {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn eat(&mut self, c: char) -> bool {
        self.skip_spaces();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Option<()> {
        self.eat(c).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    fn flat(text: &str) -> Vec<String> {
        entries(text).into_iter().map(|e| format!("{}={}", e.keys.join("/"), e.value)).collect()
    }

    #[test]
    fn tables_inline_tables_and_dotted_keys_are_the_same() {
        let expected = ["a/b/c=d"];
        assert_eq!(flat("[a.b]\nc = \"d\""), expected);
        assert_eq!(flat("[a]\nb = { c = 'd' }"), expected);
        assert_eq!(flat("a.b.c = \"\"\"d\"\"\" # comment"), expected);
        assert_eq!(flat("[ 'a' . \"b\" ]\n\n# comment\nc=\"d\"\r\n"), expected);
    }

    #[test]
    fn arrays_over_several_lines_are_passed_over() {
        let text =
            "[[bin]]\nx = [ # first\n  \"1\", { y = 2 },\n]\n[target.'cfg(unix)'.dependencies]\nz.workspace = true";
        assert_eq!(flat(text), ["bin/x=1", "bin/x/y=2", "target/cfg(unix)/dependencies/z/workspace=true"]);
    }

    #[test]
    fn quotes_and_brackets_inside_strings_do_not_count() {
        assert_eq!(flat("a = \"x \\\" ] # }\"\nb = 1"), ["a=x \" ] # }", "b=1"]);
    }

    #[test]
    fn nonsense_ends_the_reading() {
        assert_eq!(flat("a = 1\n= =\nb = 2"), ["a=1"]);
    }
}
