//! What `#[dpor::test]` becomes.
//!
//! ```text
//! #[::core::prelude::v1::test]
//! fn name() {
//!     fn name() { /* the body */ }
//!     ::dpor::__rt::run(name, ::core::option::Option::None)
//! }
//!
//! #[cfg(test)]
//! const __dpor_marker_name: ::dpor::__rt::Marker = ::dpor::__rt::Marker { name: "name", config: "", f: || name() };
//! ```
//!
//! The outer function is where `cargo test` makes a false assumption end the test as passed. The marker is what
//! `cargo dpor` looks for: the options as lines of `key=value`, and the function to explore.

use crate::crate_name;
use crate::diagnostic::Diagnostic;
use crate::function::{self, Attribute, Function, Mark};
use crate::options::{self, Setting};
use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

/// Expands the attribute. With errors, the function stays, so that nothing else is reported because it is missing.
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Vec::new();
    let settings = options::parse(arguments, &mut errors);
    let function = match function::parse(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            errors.push(error);
            return errors.into_iter().map(Diagnostic::into_tokens).chain([item]).collect();
        }
    };
    let expansion = Expansion { function, settings, dpor: format!("::{}", crate_name::find()) };
    let mut tokens = expansion.test_function();
    match errors.is_empty() {
        true => tokens.extend(expansion.markers()),
        false => tokens.extend(errors.into_iter().map(Diagnostic::into_tokens)),
    }
    tokens
}

struct Expansion {
    function: Function,
    settings: Vec<Setting>,
    /// The path of the `dpor` crate.
    dpor: String,
}

/// Under which conditions which marks are on the function.
#[derive(Clone)]
struct Variant<'a> {
    conditions: String,
    marks: Vec<&'a Mark>,
}

impl Expansion {
    /// The function that `cargo test` runs.
    fn test_function(&self) -> TokenStream {
        let function = &self.function;
        let mut tokens = source("#[::core::prelude::v1::test]");
        tokens.extend(function.attributes.iter().map(|attribute| attribute.tokens.clone()));
        tokens.extend(function.qualifiers.iter().cloned());
        tokens.extend(source("fn"));
        tokens.extend([TokenTree::Ident(function.name.clone())]);
        tokens.extend(source("()"));
        if self.returns_value() {
            tokens.extend(source(&format!("-> {}::__rt::Native<", self.dpor)));
            tokens.extend(function.returns.clone());
            tokens.extend(source(">"));
        }
        let mut body = self.inner_function();
        body.extend(self.run_inner_function());
        tokens.extend([TokenTree::Group(Group::new(Delimiter::Brace, body))]);
        tokens
    }

    /// The function as the user wrote it.
    fn inner_function(&self) -> TokenStream {
        let mut tokens = source("fn");
        tokens.extend([TokenTree::Ident(self.function.name.clone())]);
        tokens.extend(self.function.signature_and_body.clone());
        tokens
    }

    fn run_inner_function(&self) -> TokenStream {
        let entry = if self.returns_value() { "run_returning" } else { "run" };
        let mut arguments = match self.returns_never() {
            true => calling(&self.function.name, "", ""),
            false => TokenStream::from(TokenTree::Ident(self.function.name.clone())),
        };
        if !self.returns_value() {
            arguments.extend(source(&format!(", {}", self.expected_panic())));
        }
        let mut tokens = source(&format!("{}::__rt::{entry}", self.dpor));
        tokens.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, arguments))]);
        tokens
    }

    /// An expression for the message of the panic that `#[should_panic]` waits for.
    fn expected_panic(&self) -> String {
        let none = "::core::option::Option::None".to_owned();
        let expected = |mark: &Mark| match mark {
            Mark::ShouldPanic { expected } => {
                Some(format!("::core::option::Option::Some({})", Literal::string(expected)))
            }
            Mark::Ignore { .. } => None,
        };
        let always = self.function.attributes.iter().filter_map(Attribute::mark).find_map(|mark| expected(&mark));
        let sometimes = self.function.attributes.iter().filter_map(Attribute::conditional);
        sometimes.fold(always.unwrap_or(none), |otherwise, (condition, attributes)| {
            match attributes.iter().filter_map(Attribute::mark).find_map(|mark| expected(&mark)) {
                Some(expected) => format!("if ::core::cfg!({condition}) {{ {expected} }} else {{ {otherwise} }}"),
                None => otherwise,
            }
        })
    }

    /// The marker, once for each combination of the conditions that the function's marks depend on.
    fn markers(&self) -> TokenStream {
        let always: Vec<Mark> = self.function.attributes.iter().filter_map(Attribute::mark).collect();
        let sometimes: Vec<(TokenStream, Vec<Mark>)> = self
            .function
            .attributes
            .iter()
            .filter_map(Attribute::conditional)
            .map(|(condition, attributes)| (condition, attributes.iter().filter_map(Attribute::mark).collect()))
            .collect();
        let mut variants = vec![Variant { conditions: "test".to_owned(), marks: always.iter().collect() }];
        for (condition, marks) in sometimes.iter().filter(|(_, marks)| !marks.is_empty()) {
            variants = variants.into_iter().flat_map(|variant| variant.split(condition, marks)).collect();
        }
        variants.iter().map(|variant| self.marker(variant)).collect()
    }

    fn marker(&self, variant: &Variant) -> TokenStream {
        let name = self.function.name.to_string();
        let marker = format!("__dpor_marker_{}", name.trim_start_matches("r#"));
        let path = format!("{}::__rt::Marker", self.dpor);
        let mut tokens = source(&format!("#[cfg(all({}))]", variant.conditions));
        tokens.extend(self.function.conditions().map(|attribute| attribute.tokens.clone()));
        tokens.extend(source("#[doc(hidden)] #[allow(non_upper_case_globals, dead_code)]"));
        let config = Literal::string(&self.config(&variant.marks));
        let mut fields = source(&format!("name: {}, config: {config}, f:", Literal::string(&name)));
        fields.extend(match self.returns_value() {
            true => calling(&self.function.name, &format!("use {}::__rt::Finish as _;", self.dpor), ".finish()"),
            false => calling(&self.function.name, "", ""),
        });
        // All of the constant counts as written where the test's name is: that is the place of the test.
        let at = self.function.name.span();
        let mut value = Group::new(Delimiter::Brace, fields);
        value.set_span(at);
        tokens.extend(respanned(&format!("const {marker}: {path} = {path}"), at));
        tokens.extend([TokenTree::Group(value)]);
        tokens.extend(respanned(";", at));
        tokens
    }

    /// The options and marks, a line each.
    fn config(&self, marks: &[&Mark]) -> String {
        let settings = self.settings.iter().map(|setting| (setting.key, setting.value.as_str()));
        let marks = marks.iter().map(|mark| match mark {
            Mark::ShouldPanic { expected } => ("should_panic", expected.as_str()),
            Mark::Ignore { reason } => ("ignore", reason.as_str()),
        });
        settings.chain(marks).map(|(key, value)| format!("{key}={}\n", escape(value))).collect()
    }

    fn returns_never(&self) -> bool {
        self.function.returns.as_ref().is_some_and(|returns| returns.to_string() == "!")
    }

    fn returns_value(&self) -> bool {
        self.function.returns.is_some() && !self.returns_never()
    }
}

impl<'a> Variant<'a> {
    /// This variant where the condition holds, and where it does not.
    fn split(self, condition: &TokenStream, marks: &'a [Mark]) -> [Variant<'a>; 2] {
        let mut holds = self.clone();
        holds.conditions = format!("{}, {condition}", self.conditions);
        holds.marks.extend(marks);
        let fails = Variant { conditions: format!("{}, not({condition})", self.conditions), ..self };
        [holds, fails]
    }
}

/// A value on one line.
fn escape(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n")
}

/// `|| { before name() after }`
fn calling(name: &Ident, before: &str, after: &str) -> TokenStream {
    let mut body = source(before);
    body.extend([TokenTree::Ident(name.clone())]);
    let mut call = TokenTree::Group(Group::new(Delimiter::Parenthesis, TokenStream::new()));
    call.set_span(name.span());
    body.extend([call]);
    body.extend(respanned(after, name.span()));
    let mut tokens = source("||");
    tokens.extend([TokenTree::Group(Group::new(Delimiter::Brace, body))]);
    tokens
}

/// Tokens that count as written at `span`.
fn respanned(text: &str, span: Span) -> TokenStream {
    source(text)
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}

fn source(text: &str) -> TokenStream {
    text.parse().expect("the expansion is valid Rust")
}
