//! JSON that keeps what a reader of doubles loses: number tokens as written, member order, repeated members.
//!
//! The grammar is RFC 8259 plus the three tokens that Python's `json` reads and writes beyond it: `NaN`, `Infinity` and
//! `-Infinity`. A lone surrogate escape, which Python reads and UTF-8 cannot hold, is an error here.

use std::collections::HashMap;
use std::fmt;

use super::number::Number;

/// How deep arrays and objects may nest.
pub const MAX_DEPTH: usize = 128;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, its token as written; also `NaN`, `Infinity` and `-Infinity`.
    Number(String),
    /// A string, its escapes resolved.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// The members as written: in order, repeated ones included.
    Object(Vec<(String, Json)>),
}

/// The text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected} at byte {offset}")]
pub struct JsonError {
    /// What the grammar asks for there.
    pub expected: &'static str,
    /// Where, in bytes from the start.
    pub offset: usize,
}

impl Json {
    /// Reads one value and nothing after it but white space. Linear in the length of `text`.
    ///
    /// # Errors
    /// The text breaks the grammar, nests deeper than [`MAX_DEPTH`] or holds a lone surrogate.
    pub fn parse(text: &str) -> Result<Json, JsonError> {
        let mut reader = Reader { text, offset: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.offset == text.len() { Ok(value) } else { Err(reader.error("the end of the text")) }
    }
}

/// As the value it is. A number that neither 64 bits nor a double hold exactly becomes a string.
impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(value) => serializer.serialize_bool(*value),
            Json::String(text) => serializer.serialize_str(text),
            Json::Array(items) => serializer.collect_seq(items),
            Json::Object(members) => serializer.collect_map(members.iter().map(|(name, value)| (name, value))),
            Json::Number(token) => match (token.parse::<u64>(), token.parse::<i64>(), token.parse::<f64>()) {
                (Ok(value), ..) => serializer.serialize_u64(value),
                (_, Ok(value), _) if value != 0 => serializer.serialize_i64(value),
                (.., Ok(value)) if value.is_finite() && Number::parse(token) == Number::parse(&value.to_string()) => {
                    serializer.serialize_f64(value)
                }
                _ => serializer.serialize_str(token),
            },
        }
    }
}

impl schemars::JsonSchema for Json {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AnyValue".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

/// Finds the members of an object by name: of repeated ones the first.
#[derive(Debug)]
pub struct Lookup<'a> {
    members: &'a [(String, Json)],
    index: HashMap<&'a str, &'a Json>,
}

impl<'a> Lookup<'a> {
    /// A handful is looked through sooner than hashed.
    const FEW: usize = 8;

    /// Of these members.
    pub fn new(members: &'a [(String, Json)]) -> Self {
        let hashed = if members.len() > Self::FEW { members } else { &[] };
        Lookup { members, index: hashed.iter().rev().map(|(name, value)| (name.as_str(), value)).collect() }
    }

    /// The member of that name.
    pub fn get(&self, name: &str) -> Option<&'a Json> {
        if self.members.len() > Self::FEW {
            return self.index.get(name).copied();
        }
        self.members.iter().find(|(found, _)| found == name).map(|(_, value)| value)
    }
}

/// The shortest text of the value: no white space, escapes only where the grammar demands them. The alternate form has a
/// line for every item and member.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return write_lines(f, self, 0);
        }
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(token) => f.write_str(token),
            Json::String(text) => write_string(f, text),
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index == 0 { "[" } else { "," })?;
                }
                f.write_str(if items.is_empty() { "[]" } else { "]" })
            }
            Json::Object(members) => {
                for (index, (name, value)) in members.iter().enumerate() {
                    f.write_str(if index == 0 { "{" } else { "," })?;
                    write_string(f, name)?;
                    write!(f, ":{value}")?;
                }
                f.write_str(if members.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn write_lines(f: &mut fmt::Formatter<'_>, value: &Json, depth: usize) -> fmt::Result {
    let line = |f: &mut fmt::Formatter<'_>, depth: usize| write!(f, "\n{:1$}", "", depth * 2);
    match value {
        Json::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                f.write_str(if index == 0 { "[" } else { "," })?;
                line(f, depth + 1)?;
                write_lines(f, item, depth + 1)?;
            }
            line(f, depth)?;
            f.write_str("]")
        }
        Json::Object(members) if !members.is_empty() => {
            for (index, (name, value)) in members.iter().enumerate() {
                f.write_str(if index == 0 { "{" } else { "," })?;
                line(f, depth + 1)?;
                write_string(f, name)?;
                f.write_str(": ")?;
                write_lines(f, value, depth + 1)?;
            }
            line(f, depth)?;
            f.write_str("}")
        }
        plain => write!(f, "{plain}"),
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\0'..='\x1f' => write!(f, "\\u{:04x}", c as u32)?,
            _ => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

struct Reader<'a> {
    text: &'a str,
    offset: usize,
}

impl Reader<'_> {
    fn error(&self, expected: &'static str) -> JsonError {
        JsonError { expected, offset: self.offset }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.offset).copied()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.text.as_bytes()[self.offset..].starts_with(token.as_bytes());
        if found {
            self.offset += token.len();
        }
        found
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.offset += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.error("at most 128 levels of nesting"));
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::String(self.string()?)),
            _ if self.take("null") => Ok(Json::Null),
            _ if self.take("true") => Ok(Json::Bool(true)),
            _ if self.take("false") => Ok(Json::Bool(false)),
            _ => self.number(),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.offset += 1;
        let mut items = Vec::new();
        self.space();
        if self.take("]") {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.take("]") {
                return Ok(Json::Array(items));
            }
            self.require(",", "`,` or `]`")?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.offset += 1;
        let mut members = Vec::new();
        self.space();
        if self.take("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.space();
            self.require(":", "`:`")?;
            members.push((name, self.value(depth + 1)?));
            self.space();
            if self.take("}") {
                return Ok(Json::Object(members));
            }
            self.require(",", "`,` or `}`")?;
        }
    }

    fn require(&mut self, token: &str, expected: &'static str) -> Result<(), JsonError> {
        if self.take(token) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.offset;
        if !(self.take("NaN") || self.take("Infinity") || self.take("-Infinity")) {
            self.take("-");
            if !self.take("0") {
                self.digits("a value")?;
            }
            if self.take(".") {
                self.digits("a digit")?;
            }
            if self.take("e") || self.take("E") {
                let _ = self.take("+") || self.take("-");
                self.digits("a digit")?;
            }
        }
        Ok(Json::Number(self.text[start..self.offset].to_owned()))
    }

    fn digits(&mut self, expected: &'static str) -> Result<(), JsonError> {
        let start = self.offset;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.offset += 1;
        }
        if self.offset > start { Ok(()) } else { Err(self.error(expected)) }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.require("\"", "`\"`")?;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.offset..];
            let plain = rest.find(|c| c < ' ' || c == '"' || c == '\\').unwrap_or(rest.len());
            text.push_str(&rest[..plain]);
            self.offset += plain;
            if self.take("\"") {
                return Ok(text);
            }
            self.require("\\", "`\"`")?;
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let simple = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\x08',
            Some(b'f') => '\x0c',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.code_point(),
            _ => return Err(self.error("an escape")),
        };
        self.offset += 1;
        Ok(simple)
    }

    fn code_point(&mut self) -> Result<char, JsonError> {
        let high = self.code_unit()?;
        let value = if matches!(high, 0xd800..0xdc00) {
            self.require("\\", "the other half of a surrogate pair")?;
            let low = self.code_unit()?;
            if !matches!(low, 0xdc00..0xe000) {
                return Err(self.error("the other half of a surrogate pair"));
            }
            0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
        } else {
            high
        };
        char::from_u32(value).ok_or_else(|| self.error("no lone surrogate"))
    }

    fn code_unit(&mut self) -> Result<u32, JsonError> {
        self.require("u", "`u`")?;
        let digits = self.text.as_bytes().get(self.offset..self.offset + 4).unwrap_or_default();
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        // `from_str_radix` alone would take a sign.
        if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(self.error("four hexadecimal digits"));
        }
        self.offset += 4;
        u32::from_str_radix(digits, 16).map_err(|_| self.error("four hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests;
