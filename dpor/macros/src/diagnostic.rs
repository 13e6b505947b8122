//! Compile errors that point at the token they speak of.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// One error: what to say, and where.
pub struct Diagnostic {
    span: Span,
    message: String,
}

impl Diagnostic {
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { span, message: message.into() }
    }

    /// `::core::compile_error! { "message" }`, all of it at the error's place.
    pub fn into_tokens(self) -> TokenStream {
        let at = |mut token: TokenTree| {
            token.set_span(self.span);
            token
        };
        let punct = |c, spacing| at(Punct::new(c, spacing).into());
        let message = TokenStream::from(at(Literal::string(&self.message).into()));
        TokenStream::from_iter([
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            at(Ident::new("core", self.span).into()),
            punct(':', Spacing::Joint),
            punct(':', Spacing::Alone),
            at(Ident::new("compile_error", self.span).into()),
            punct('!', Spacing::Alone),
            at(Group::new(Delimiter::Brace, message).into()),
        ])
    }
}

/// `a, b and c`
pub fn list(items: impl Iterator<Item = String>, conjunction: &str) -> String {
    let items: Vec<String> = items.collect();
    match items.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} {conjunction} {last}", others.join(", ")),
        _ => items.concat(),
    }
}
