//! A workflow as a tree with line numbers. Nothing is resolved: an alias stays one, and a key that stands twice is told.

use granit_parser::{Event, Parser, ScalarStyle};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// From 1.
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Its text; whether it was written without quotes, so that `false` is the boolean; whether as a literal block, so
    /// that its lines are the file's.
    Scalar {
        text: String,
        plain: bool,
        literal: bool,
    },
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
    Alias,
}

/// A document and what is odd about it.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) root: Node,
    /// The first anchor, alias or merge key.
    pub(super) alias: Option<usize>,
    /// The first key that stands twice in its mapping.
    pub(super) duplicate: Option<(usize, String)>,
}

/// Why a text is no document: the line and the words.
pub(super) type Malformed = (usize, String);

/// Reads exactly one document.
pub(super) fn parse(text: &str) -> Result<Document, Malformed> {
    let mut reader = Reader { parser: Parser::new_from_str(text), alias: None, duplicate: None };
    let mut root = None;
    loop {
        let (event, line) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentEnd => {}
            Event::DocumentStart(..) if root.is_none() => {}
            Event::DocumentStart(..) => return Err((line, "a second document".into())),
            Event::StreamEnd => break,
            event => root = Some(reader.node(event, line)?),
        }
    }
    let root = root.ok_or((1, "nothing".to_owned()))?;
    Ok(Document { root, alias: reader.alias, duplicate: reader.duplicate })
}

struct Reader<'a> {
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    alias: Option<usize>,
    duplicate: Option<(usize, String)>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, usize), Malformed> {
        loop {
            match self.parser.next_event() {
                None => return Ok((Event::StreamEnd, 1)),
                Some(Ok((event, span))) if is_content(&event) => return Ok((event, span.start.line())),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err((error.marker().line(), error.to_string())),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, line: usize) -> Result<Node, Malformed> {
        let anchored = |anchor: usize, alias: &mut Option<usize>| {
            if anchor != 0 {
                alias.get_or_insert(line);
            }
        };
        let value = match event {
            Event::Scalar(text, style, anchor, _) => {
                anchored(anchor, &mut self.alias);
                Value::Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain,
                    literal: style == ScalarStyle::Literal,
                }
            }
            Event::SequenceStart(_, anchor, _) => {
                anchored(anchor, &mut self.alias);
                let mut items = Vec::new();
                loop {
                    let (event, line) = self.next()?;
                    if event == Event::SequenceEnd {
                        break Value::Sequence(items);
                    }
                    items.push(self.node(event, line)?);
                }
            }
            Event::MappingStart(_, anchor, _) => {
                anchored(anchor, &mut self.alias);
                self.mapping()?
            }
            _ => {
                self.alias.get_or_insert(line);
                Value::Alias
            }
        };
        Ok(Node { line, value })
    }

    fn mapping(&mut self) -> Result<Value, Malformed> {
        let mut members: Vec<(Node, Node)> = Vec::new();
        loop {
            let (event, line) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Value::Mapping(members));
            }
            let key = self.node(event, line)?;
            if let Some(name) = key.text() {
                if name == "<<" {
                    self.alias.get_or_insert(line);
                }
                if members.iter().any(|(other, _)| other.text() == Some(name)) {
                    self.duplicate.get_or_insert((line, name.to_owned()));
                }
            }
            let (event, line) = self.next()?;
            let value = self.node(event, line)?;
            members.push((key, value));
        }
    }
}

fn is_content(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::SequenceEnd
            | Event::MappingStart(..)
            | Event::MappingEnd
    )
}

impl Node {
    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The member of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.members().iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value)
    }

    /// The members of a mapping; none of anything else.
    pub(super) fn members(&self) -> &[(Node, Node)] {
        match &self.value {
            Value::Mapping(members) => members,
            _ => &[],
        }
    }

    /// The items of a sequence; none of anything else.
    pub(super) fn items(&self) -> &[Node] {
        match &self.value {
            Value::Sequence(items) => items,
            _ => &[],
        }
    }

    /// The boolean, spelled without quotes.
    pub(super) fn is_bool(&self, wanted: bool) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true, .. } if *text == wanted.to_string())
    }

    /// Nothing, spelled in one of its ways.
    pub(super) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true, .. } if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// In words for a message, shortened.
    pub(super) fn shown(&self) -> String {
        match &self.value {
            _ if self.is_null() => "nothing".into(),
            Value::Scalar { text, .. } => shortened(text.trim_end()),
            Value::Sequence(items) => format!("a list of {}", items.len()),
            Value::Mapping(members) => format!("a mapping of {}", members.len()),
            Value::Alias => "an alias".into(),
        }
    }
}

/// At most eighty characters.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_quotes_aliases_and_repetitions_are_kept() {
        let document = parse("on: push\n\"a\": 'false'\nb: false\nc:\n  - x\n  - >-\n    one\n    two\n").unwrap();
        let root = &document.root;
        assert_eq!(root.get("on").and_then(Node::text), Some("push"));
        assert_eq!((root.get("b").unwrap().line, root.get("b").unwrap().is_bool(false)), (3, true));
        assert!(!root.get("a").unwrap().is_bool(false));
        let items = root.get("c").unwrap().items();
        assert_eq!((items[1].text(), items[0].line), (Some("one two"), 5));
        assert_eq!((document.alias, document.duplicate), (None, None));

        assert_eq!(parse("a: &x 1\nb: *x\n").unwrap().alias, Some(1));
        assert_eq!(parse("a: 1\n<<: {b: 2}\n").unwrap().alias, Some(2));
        assert_eq!(parse("a:\n  b: 1\n  \"b\": 2\n").unwrap().duplicate, Some((3, "b".into())));
        assert_eq!(parse("--- 1\n--- 2\n").unwrap_err(), (2, "a second document".into()));
        assert_eq!(parse("# nothing\n").unwrap_err(), (1, "nothing".into()));
        assert_eq!(parse("a: [1\nb: 2\n").unwrap_err().0, 2);
        assert!(parse("a: *unknown\n").is_err());
        assert!(parse(&"[".repeat(10_000)).is_err());
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_read_or_refused_without_a_panic(text in "[-a-z:\\[\\]{}&*!|>'\"%# \n]{0,80}") {
            let _ = parse(&text);
        }

        #[test]
        fn what_is_written_quoted_is_read_back(text in "\\PC{0,40}", line in 0..5_usize) {
            let source = format!("{}key: {}\n", "# x\n".repeat(line), serde_json::Value::from(text.as_str()));
            let node = parse(&source).unwrap().root.get("key").unwrap().clone();
            prop_assert_eq!((node.text(), node.line), (Some(text.as_str()), line + 1));
        }
    }
}
