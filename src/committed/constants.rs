//! The constants that decide at run time: read from the module's syntax tree, never by running it.

use std::ops::Range;

use rustpython_ruff_python_ast as ast;
use rustpython_ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use serde_json::Value;

use super::drift::{Drift, Kind};
use super::yaml::shortened;
use crate::activation::Record;

/// The names of the seven constants, in the order of the record's members, and what a difference is called.
const NAMES: [(&str, Kind); 7] = [
    ("MCP_BRIDGE_ACTIVATION_SCHEMA_VERSION", Kind::ConstantsSchemaVersion),
    ("MCP_BRIDGE_ACTIVATION_STATE", Kind::ConstantsState),
    ("MCP_BRIDGE_EXPECTED_SDK_VERSION", Kind::ConstantsVersion),
    ("MCP_BRIDGE_EXPECTED_SDK_COMMIT", Kind::ConstantsCommit),
    ("MCP_BRIDGE_EXPECTED_MODULE_ORIGIN", Kind::ConstantsModuleOrigin),
    ("MCP_BRIDGE_REQUIRED_CONTRACTS", Kind::ConstantsContracts),
    ("MCP_BRIDGE_BLOCK_REASON", Kind::ConstantsReason),
];

/// The largest source parsed, in bytes. It bounds the parser's stack.
const MAX_SOURCE: usize = 256 << 10;

/// The module's constants and their places.
#[derive(Clone, Debug)]
pub(super) struct Constants {
    file: String,
    source: String,
    found: Vec<Constant>,
}

#[derive(Clone, Debug)]
struct Constant {
    line: usize,
    value: Value,
    /// Of the value's expression, without parentheses around it.
    range: Range<usize>,
}

impl Constants {
    /// Reads them.
    ///
    /// # Errors
    /// Every reason why a constant's text does not tell its value.
    pub(super) fn read(file: &str, source: Vec<u8>) -> Result<Constants, Vec<Drift>> {
        let malformed =
            |line, why: String| vec![Drift::new(Kind::ConstantsNotPython, (file, line), "Python source in UTF-8", why)];
        if source.len() > MAX_SOURCE {
            return Err(malformed(None, format!("{} bytes where at most {MAX_SOURCE} are parsed", source.len())));
        }
        let source = String::from_utf8(source).map_err(|error| malformed(None, error.to_string()))?;
        if let Some((at, line)) = source.lines().enumerate().take(2).find(|(_, line)| declares_encoding(line)) {
            return Err(malformed(Some(at + 1), format!("a declared encoding: {}", shortened(line))));
        }
        // The parser recurses with the nesting of its input, so it runs on a stack sized by that input.
        let stack = (1 << 20) + source.len() * (4 << 10);
        let (name, text) = (file.to_owned(), source.clone());
        let parser = std::thread::Builder::new().stack_size(stack).spawn(move || parse(&name, &text));
        let found = match parser.map(std::thread::JoinHandle::join) {
            Ok(Ok(parsed)) => parsed.map_err(|why| match why {
                Refusal::NotPython(line, why) => malformed(Some(line), why),
                Refusal::Drifts(drifts) => drifts,
            })?,
            Ok(Err(_)) => return Err(malformed(None, "source the parser cannot read".into())),
            Err(error) => return Err(malformed(None, error.to_string())),
        };
        Ok(Constants { file: file.to_owned(), source, found })
    }

    /// Every constant that says something else than this record.
    pub(super) fn drifts(&self, record: &Record) -> Vec<Drift> {
        let mut drifts = Vec::new();
        for (((name, kind), constant), value) in NAMES.iter().zip(&self.found).zip(record.values()) {
            if constant.value != value {
                let expected = format!("{name} = {}, as the record says", shortened(&python(&value)));
                let found = shortened(&python(&constant.value));
                let place = (&*self.file, Some(constant.line));
                drifts.push(Drift::new(*kind, place, expected, found));
            }
        }
        drifts
    }

    /// The module's text, and what it becomes when it says what this record says.
    pub(super) fn rewritten(&self, record: &Record) -> (&str, String) {
        let mut text = self.source.clone();
        let mut edits: Vec<_> =
            self.found.iter().zip(record.values()).filter(|(constant, value)| constant.value != *value).collect();
        edits.sort_by_key(|(constant, _)| std::cmp::Reverse(constant.range.start));
        for (constant, value) in edits {
            text.replace_range(constant.range.clone(), &python(&value));
        }
        (&self.source, text)
    }
}

/// A value as Python writes it: JSON's spelling but for `None` and the booleans.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

/// PEP 263, unless it is UTF-8 all the same.
fn declares_encoding(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let named = line.trim_start().starts_with('#') && (line.contains("coding:") || line.contains("coding="));
    named && !line.contains("utf-8")
}

enum Refusal {
    NotPython(usize, String),
    Drifts(Vec<Drift>),
}

fn parse(file: &str, text: &str) -> Result<Vec<Constant>, Refusal> {
    let line_at = |offset: usize| text.get(..offset).unwrap_or(text).matches('\n').count() + 1;
    let module = rustpython_ruff_python_parser::parse_module(text)
        .map_err(|error| Refusal::NotPython(line_at(error.location.start().to_usize()), error.to_string()))?;
    let mut bindings = Bindings::default();
    for statement in &module.syntax().body {
        bindings.visit_stmt(statement);
    }
    let mut drifts = Vec::new();
    if let Some(at) = bindings.star {
        let place = (file, Some(line_at(at)));
        // What it binds is not said here.
        drifts.push(Drift::new(Kind::ConstantsRebound, place, "no star import", "a star import"));
    }
    let mut found = Vec::new();
    for (name, _) in NAMES {
        let assigned: Vec<_> = module.syntax().body.iter().filter_map(|statement| assigned(statement, name)).collect();
        let bound: Vec<_> = bindings.names.iter().filter(|(bound, _)| *bound == name).collect();
        let expected = format!("{name}, assigned once at the top level");
        let drift = match (&assigned[..], &bound[..]) {
            ([value], [_]) => match literal(value) {
                Some(read) => {
                    let range = ast_range(value);
                    found.push(Constant { line: line_at(range.start), value: read, range });
                    continue;
                }
                None => {
                    let place = (file, Some(line_at(ast_range(value).start)));
                    Drift::new(Kind::ConstantsNotLiteral, place, format!("{name} as a literal"), "an expression")
                }
            },
            (_, []) => Drift::new(Kind::ConstantsMissing, (file, None), expected, "no such name"),
            (_, [.., (_, at)]) => {
                let place = (file, Some(line_at(*at)));
                let counted = if bound.len() == 1 {
                    "bound in another way".into()
                } else {
                    format!("bound {} times", bound.len())
                };
                Drift::new(Kind::ConstantsRebound, place, expected, counted)
            }
        };
        drifts.push(drift);
    }
    if drifts.is_empty() { Ok(found) } else { Err(Refusal::Drifts(drifts)) }
}

fn assigned<'a>(statement: &'a ast::Stmt, name: &str) -> Option<&'a ast::Expr> {
    match statement {
        ast::Stmt::Assign(ast::StmtAssign { targets, value, .. }) => match targets.as_slice() {
            [ast::Expr::Name(target)] if target.id == name => Some(value),
            _ => None,
        },
        ast::Stmt::AnnAssign(ast::StmtAnnAssign { target, value: Some(value), .. }) => match &**target {
            ast::Expr::Name(target) if target.id == name => Some(value),
            _ => None,
        },
        _ => None,
    }
}

fn ast_range(expr: &ast::Expr) -> Range<usize> {
    let range = rustpython_ruff_text_size::Ranged::range(expr);
    range.start().to_usize()..range.end().to_usize()
}

fn literal(expr: &ast::Expr) -> Option<Value> {
    match expr {
        ast::Expr::StringLiteral(literal) => Some(literal.value.to_str().into()),
        ast::Expr::NoneLiteral(_) => Some(Value::Null),
        ast::Expr::BooleanLiteral(literal) => Some(literal.value.into()),
        ast::Expr::NumberLiteral(ast::ExprNumberLiteral { value: ast::Number::Int(number), .. }) => {
            number.as_u64().map(Value::from)
        }
        ast::Expr::List(list) => list.elts.iter().map(literal).collect(),
        _ => None,
    }
}

/// Where the names are bound, deleted, or their values changed in place.
#[derive(Default)]
struct Bindings {
    names: Vec<(&'static str, usize)>,
    star: Option<usize>,
}

impl Bindings {
    fn note(&mut self, name: &str, at: usize) {
        if let Some((known, _)) = NAMES.iter().find(|(known, _)| *known == name) {
            self.names.push((known, at));
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Bindings {
    fn visit_expr(&mut self, expr: &'a ast::Expr) {
        let at = ast_range(expr).start;
        match expr {
            ast::Expr::Name(name) if !matches!(name.ctx, ast::ExprContext::Load) => self.note(&name.id, at),
            // A method may change a list; another object's attribute of that name is none of ours.
            ast::Expr::Attribute(attribute) => {
                if let ast::Expr::Name(name) = &*attribute.value {
                    self.note(&name.id, at);
                }
                return self.visit_expr(&attribute.value);
            }
            ast::Expr::Subscript(subscript) if !matches!(subscript.ctx, ast::ExprContext::Load) => {
                if let ast::Expr::Name(name) = &*subscript.value {
                    self.note(&name.id, at);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_identifier(&mut self, identifier: &'a ast::Identifier) {
        let at = rustpython_ruff_text_size::Ranged::range(identifier).start().to_usize();
        if &*identifier.id == "*" {
            self.star.get_or_insert(at);
        }
        self.note(&identifier.id, at);
    }
}
