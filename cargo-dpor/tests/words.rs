//! The words that `#[dpor::test(…)]` takes are those of the engine. The macro cannot depend on the engine, which needs a newer
//! compiler: it has the words in a table of its own.

use std::fs;
use std::path::Path;

use dpor_engine::explore::Equivalence;
use dpor_engine::model::MemoryModel;
use dpor_engine::verdict::ErrorKind;
use syn::visit::Visit;

/// The words in string literals.
#[derive(Default)]
struct Words(Vec<String>);

impl<'ast> Visit<'ast> for Words {
    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.0.push(literal.value());
    }
}

fn words(expression: &syn::Expr) -> Vec<String> {
    let mut words = Words::default();
    words.visit_expr(expression);
    words.0
}

/// The elements of an array in the macro's source, each with its words.
fn table(name: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dpor/macros/src/options.rs");
    let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
    let constant = file.items.iter().find_map(|item| match item {
        syn::Item::Const(constant) if constant.ident == name => Some(&*constant.expr),
        _ => None,
    });
    let Some(syn::Expr::Array(array)) = constant else { panic!("there is no array `{name}`") };
    array.elems.iter().map(words).collect()
}

/// The words that an option takes.
fn option(key: &str) -> Vec<String> {
    let options = table("OPTIONS");
    let option = options.iter().find(|option| option[0] == key);
    option.unwrap_or_else(|| panic!("there is no option `{key}`"))[1..].to_vec()
}

fn sorted(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut words: Vec<String> = words.into_iter().collect();
    words.sort();
    words
}

#[test]
fn models_are_those_of_the_engine() {
    assert_eq!(sorted(option("model")), sorted(MemoryModel::ALL.map(|model| model.name().to_owned())));
}

#[test]
fn equivalences_are_those_of_the_engine() {
    assert_eq!(sorted(option("equivalence")), sorted(Equivalence::ALL.map(|kind| kind.name().to_owned())));
}

#[test]
fn errors_are_those_of_the_engine() {
    let known = sorted(ErrorKind::ALL.map(|kind| kind.name().to_owned()));
    assert_eq!(sorted(table("ERROR_KINDS").into_iter().flatten()), known);
}
