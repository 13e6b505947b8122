//! The parts of the test function that the expansion needs.

use crate::diagnostic::Diagnostic;
use crate::literal;
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// A function, taken apart.
pub struct Function {
    pub attributes: Vec<Attribute>,
    /// The visibility, and any word before `fn`.
    pub qualifiers: Vec<TokenTree>,
    pub name: Ident,
    /// The type after `->`, if there is one.
    pub returns: Option<TokenStream>,
    /// Everything from the parentheses on: `() -> T { … }`.
    pub signature_and_body: TokenStream,
}

/// One `#[path …]`.
pub struct Attribute {
    /// The whole of it, `#` included.
    pub tokens: TokenStream,
    /// The path's only or last segment.
    pub name: String,
    /// What follows the path.
    arguments: TokenStream,
    span: Span,
}

/// How a test is expected to end, or whether it is skipped.
pub enum Mark {
    ShouldPanic { expected: String },
    Ignore { reason: String },
}

/// Takes a function apart, or says why it cannot be a test.
pub fn parse(item: TokenStream) -> Result<Function, Diagnostic> {
    let mut tokens = item.into_iter().peekable();
    let mut attributes = Vec::new();
    while matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#') {
        let hash = tokens.next();
        let Some(TokenTree::Group(group)) = tokens.next() else { break };
        attributes.push(Attribute::new(hash.into_iter().collect(), &group));
    }
    let mut qualifiers = Vec::new();
    loop {
        match tokens.next() {
            Some(TokenTree::Ident(word)) if word.to_string() == "fn" => break,
            Some(TokenTree::Ident(word)) if is_item(&word.to_string()) => {
                return Err(Diagnostic::new(word.span(), "`#[dpor::test]` is for functions"));
            }
            Some(token) => qualifiers.push(token),
            None => return Err(Diagnostic::new(Span::call_site(), "`#[dpor::test]` is for functions")),
        }
    }
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        return Err(Diagnostic::new(Span::call_site(), "`#[dpor::test]` is for functions"));
    };
    let rest: Vec<TokenTree> = tokens.collect();
    let function = Function {
        returns: return_type(&rest),
        signature_and_body: rest.iter().cloned().collect(),
        attributes,
        qualifiers,
        name,
    };
    function.check(&rest)?;
    Ok(function)
}

fn is_item(word: &str) -> bool {
    ["struct", "enum", "union", "trait", "impl", "mod", "static", "type", "use", "macro_rules"].contains(&word)
}

/// The tokens between `->` and the body (or the `where` before it).
fn return_type(signature_and_body: &[TokenTree]) -> Option<TokenStream> {
    let is_punct = |token: &TokenTree, c| matches!(token, TokenTree::Punct(punct) if punct.as_char() == c);
    let arrow = signature_and_body.windows(2).position(|pair| is_punct(&pair[0], '-') && is_punct(&pair[1], '>'))?;
    let ends = |token: &&TokenTree| match token {
        TokenTree::Ident(word) => word.to_string() == "where",
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    Some(signature_and_body[arrow + 2..].iter().take_while(|token| !ends(token)).cloned().collect())
}

impl Function {
    /// Whether this can be a test: what the compiler would refuse in the expansion is better said of the source.
    fn check(&self, rest: &[TokenTree]) -> Result<(), Diagnostic> {
        for token in &self.qualifiers {
            if let TokenTree::Ident(word) = token {
                if ["async", "unsafe", "extern", "const"].contains(&word.to_string().as_str()) {
                    let message =
                        format!("a test cannot be `{word}`: `#[dpor::test]` calls it as an ordinary function");
                    return Err(Diagnostic::new(word.span(), message));
                }
            }
        }
        match rest.first() {
            Some(TokenTree::Group(parameters)) if !parameters.stream().is_empty() => {
                Err(Diagnostic::new(parameters.span(), "a test has no parameters"))
            }
            Some(TokenTree::Group(_)) => self.check_attributes(),
            other => {
                let span = other.map_or_else(Span::call_site, TokenTree::span);
                Err(Diagnostic::new(span, "a test cannot be generic"))
            }
        }
    }

    fn check_attributes(&self) -> Result<(), Diagnostic> {
        match self.attributes.iter().find(|attribute| attribute.name == "test") {
            Some(attribute) => Err(Diagnostic::new(
                attribute.span,
                "remove this: `#[dpor::test]` already makes the function a test, and is given once",
            )),
            None => Ok(()),
        }
    }

    /// The attributes that decide whether the function exists at all: whatever is put beside it needs them too.
    pub fn conditions(&self) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(|attribute| attribute.name == "cfg")
    }
}

impl Attribute {
    fn new(hash: TokenStream, group: &Group) -> Attribute {
        let mut name = String::new();
        let mut arguments = TokenStream::new();
        let mut in_path = true;
        for token in without_invisible_groups(group.stream()) {
            match &token {
                TokenTree::Ident(segment) if in_path => name = segment.to_string(),
                TokenTree::Punct(punct) if in_path && punct.as_char() == ':' => {}
                _ => {
                    in_path = false;
                    arguments.extend([token]);
                }
            }
        }
        let mut tokens = hash;
        tokens.extend([TokenTree::Group(group.clone())]);
        Attribute { tokens, name, arguments, span: group.span() }
    }

    /// What `#[should_panic]` and `#[ignore]` say, in all their forms.
    pub fn mark(&self) -> Option<Mark> {
        let text = first_string(self.arguments.clone()).unwrap_or_default();
        match self.name.as_str() {
            "should_panic" => Some(Mark::ShouldPanic { expected: text }),
            "ignore" => Some(Mark::Ignore { reason: text }),
            _ => None,
        }
    }

    /// For `#[cfg_attr(condition, …)]`: the condition and the attributes under it.
    pub fn conditional(&self) -> Option<(TokenStream, Vec<Attribute>)> {
        if self.name != "cfg_attr" {
            return None;
        }
        let Some(TokenTree::Group(arguments)) = self.arguments.clone().into_iter().next() else { return None };
        let tokens: Vec<TokenTree> = arguments.stream().into_iter().collect();
        let mut parts = tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
        let condition = parts.next()?.iter().cloned().collect();
        let attribute = |part: &[TokenTree]| {
            Attribute::new(TokenStream::new(), &Group::new(Delimiter::Bracket, part.iter().cloned().collect()))
        };
        Some((condition, parts.filter(|part| !part.is_empty()).map(attribute).collect()))
    }
}

/// The tokens of what a macro put in place of a `$fragment` too: those come in groups without delimiters.
fn without_invisible_groups(tokens: TokenStream) -> Vec<TokenTree> {
    let mut flat = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                flat.extend(without_invisible_groups(group.stream()));
            }
            token => flat.push(token),
        }
    }
    flat
}

/// The first string literal, at any depth: `= "x"` and `(expected = "x")`.
fn first_string(tokens: TokenStream) -> Option<String> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Literal(literal) => literal::string(&literal),
        TokenTree::Group(group) => first_string(group.stream()),
        _ => None,
    })
}
