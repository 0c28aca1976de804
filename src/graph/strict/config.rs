//! Git's parser for configuration text held in memory, in all that decides which variables it sees.
//!
//! A library's parser would not do: a hostile `.gitmodules` lives from what git makes of text that no other parser accepts, and
//! git judges every variable up to the place where it gives up.

use gix::bstr::ByteSlice;

/// One variable as git's callbacks see it. Names and values end at their first NUL, as git's strings do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::graph) struct Variable<'a> {
    /// All of the full name before the last dot: section in lower case, dot, subsection. Empty if there is no dot.
    pub(in crate::graph) section: &'a [u8],
    /// What follows that dot; in lower case, unless a NUL in the header made it part of the subsection.
    pub(in crate::graph) key: &'a [u8],
    /// `None` for a lone key.
    pub(in crate::graph) value: Option<&'a [u8]>,
    /// No variable before it has this very header, so what depends on the section alone need not be judged again.
    pub(in crate::graph) first: bool,
}

/// Calls `each` with the variables in order, until the text ends or cannot be parsed; whether it could. Linear in the bytes.
pub(in crate::graph) fn variables(data: &[u8], mut each: impl FnMut(Variable<'_>)) -> bool {
    Parser { data, at: 0, ended: false }.run(&mut each).is_ok()
}

/// The text is not configuration.
struct Malformed;

struct Parser<'a> {
    data: &'a [u8],
    at: usize,
    /// The end was seen. More may follow, see [`Parser::byte`].
    ended: bool,
}

impl Parser<'_> {
    fn run(&mut self, each: &mut impl FnMut(Variable<'_>)) -> Result<(), Malformed> {
        let mut header = Vec::new();
        // Where section and key are in a header that a NUL cuts short: no variable adds to it.
        let mut cut = None;
        let mut first = true;
        loop {
            match self.next() {
                b'\n' if self.ended => return Ok(()),
                b'#' | b';' => {
                    while self.next() != b'\n' {}
                    if self.ended {
                        return Ok(());
                    }
                }
                c if is_space(c) => {}
                b'[' => {
                    header.clear();
                    self.header(&mut header)?;
                    cut = header.find_byte(0).map(|nul| (header[..nul].rfind_byte(b'.'), nul));
                    first = true;
                }
                c if c.is_ascii_alphabetic() => {
                    let mut key = vec![c.to_ascii_lowercase()];
                    let value = self.variable(&mut key)?;
                    let value = value.as_deref().map(|value| &value[..value.find_byte(0).unwrap_or(value.len())]);
                    let (section, key) = match cut {
                        None => (header.as_slice(), key.as_slice()),
                        Some((Some(dot), nul)) => (&header[..dot], &header[dot + 1..nul]),
                        Some((None, nul)) => (&[] as &[u8], &header[..nul]),
                    };
                    each(Variable { section, key, value, first });
                    first = false;
                }
                // A byte order mark ends here too: in memory git does not know it.
                _ => return Err(Malformed),
            }
        }
    }

    /// One byte. 0xFF reads as the end of the text, because git holds its bytes in signed characters; it may read on behind it.
    fn byte(&mut self) -> Option<u8> {
        let byte = self.data.get(self.at).copied()?;
        self.at += 1;
        (byte != 0xff).then_some(byte)
    }

    /// The next character; the end reads as a newline, and so does CR LF.
    fn next(&mut self) -> u8 {
        let c = match self.byte() {
            Some(b'\r') => match self.byte() {
                Some(b'\n') => Some(b'\n'),
                Some(_) => {
                    self.at -= 1;
                    Some(b'\r')
                }
                None => Some(b'\r'),
            },
            c => c,
        };
        self.ended |= c.is_none();
        c.unwrap_or(b'\n')
    }

    /// The rest of `[section]`, `[section.subsection]` or `[section "subsection"]`.
    fn header(&mut self, name: &mut Vec<u8>) -> Result<(), Malformed> {
        loop {
            match self.next() {
                _ if self.ended => return Err(Malformed),
                // Nothing between the brackets is refused, a lone dot is a name.
                b']' => return if name.is_empty() { Err(Malformed) } else { Ok(()) },
                c if is_space(c) => return self.quoted_subsection(c, name),
                c if is_key(c) || c == b'.' => name.push(c.to_ascii_lowercase()),
                _ => return Err(Malformed),
            }
        }
    }

    fn quoted_subsection(&mut self, space: u8, name: &mut Vec<u8>) -> Result<(), Malformed> {
        let mut c = space;
        while is_space(c) {
            if c == b'\n' {
                return Err(Malformed);
            }
            c = self.next();
        }
        if c != b'"' {
            return Err(Malformed);
        }
        name.push(b'.');
        loop {
            let c = match self.next() {
                b'"' => break,
                b'\\' => self.next(),
                c => c,
            };
            if c == b'\n' {
                return Err(Malformed);
            }
            name.push(c);
        }
        if self.next() == b']' { Ok(()) } else { Err(Malformed) }
    }

    /// The rest of `key = value`, or of a lone `key`, which has no value.
    fn variable(&mut self, key: &mut Vec<u8>) -> Result<Option<Vec<u8>>, Malformed> {
        let mut c = self.next();
        while !self.ended && is_key(c) {
            key.push(c.to_ascii_lowercase());
            c = self.next();
        }
        while matches!(c, b' ' | b'\t') {
            c = self.next();
        }
        match c {
            b'\n' => Ok(None),
            b'=' => self.value().map(Some),
            _ => Err(Malformed),
        }
    }

    fn value(&mut self) -> Result<Vec<u8>, Malformed> {
        let mut value = Vec::new();
        let mut quoted = false;
        // Where the blanks begin that the value currently ends in.
        let mut blanks = None;
        loop {
            let mut c = self.next();
            match c {
                b'\n' if quoted => return Err(Malformed),
                b'\n' => break,
                c if is_space(c) && !quoted => {
                    if !value.is_empty() {
                        blanks.get_or_insert(value.len());
                        value.push(c);
                    }
                    continue;
                }
                b'#' | b';' if !quoted => {
                    while self.next() != b'\n' {}
                    break;
                }
                _ => blanks = None,
            }
            match c {
                b'"' => quoted = !quoted,
                b'\\' => {
                    c = match self.next() {
                        b'\n' => continue,
                        b't' => b'\t',
                        b'b' => 8,
                        b'n' => b'\n',
                        c @ (b'\\' | b'"') => c,
                        _ => return Err(Malformed),
                    };
                    value.push(c);
                }
                c => value.push(c),
            }
        }
        value.truncate(blanks.unwrap_or(value.len()));
        Ok(value)
    }
}

/// Git's space: no vertical tab, no form feed.
fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_key(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// `section|key=value`, the first of a header with a star.
    fn parsed(text: &[u8]) -> Vec<String> {
        let mut all = Vec::new();
        variables(text, |variable| {
            let value = variable.value.map_or(String::new(), |value| format!("={}", value.escape_ascii()));
            let star = if variable.first { "*" } else { "" };
            all.push(format!("{star}{}|{}{value}", variable.section.escape_ascii(), variable.key.escape_ascii()));
        });
        all
    }

    #[test]
    fn headers_keys_and_values_are_read_as_git_reads_them() {
        for (text, expected) in [
            (&b""[..], &[] as &[&str]),
            (b"a=b", &["*|a=b"]),
            (b"[A]\nB=C\nb\n[a]\nB=", &["*a|b=C", "a|b", "*a|b="]),
            (b"[A.B \"C.D\"]e=f", &["*a.b.C.D|e=f"]),
            (b"[a \"\"]b", &["*a.|b"]),
            (b"[a \"\\\"\\x\"]b", &["*a.\\\"x|b"]),
            (b"[a]b = c  d \t e   # f", &["*a|b=c  d \\t e"]),
            (b"[a]b = \" c \"  ;\n", &["*a|b= c "]),
            (b"[a]b=c\\\n d\n", &["*a|b=c d"]),
            (b"[a]b=\\t\\b\\n\\\\\\\"", &["*a|b=\\t\\x08\\n\\\\\\\""]),
            (b"[a]b=c\r\nd=e\rf\r", &["*a|b=c", "a|d=e\\rf"]),
            (b"[a]b=c\xffd=e", &["*a|b=c", "a|d=e"]),
            (b"[a]b=c\xffde=f", &["*a|b=c"]),
            (b"[a \"b.c\0d\"]e\nf", &["*a.b|c", "a.b|c"]),
            (b"[a \"b\"]c=d\0e", &["*a.b|c=d"]),
            (b"[a\0]b", &[]),
            (b"[a]b\n[]c", &["*a|b"]),
            (b"[a]b\n\xef\xbb\xbfc", &["*a|b"]),
            (b"[a]b=c\\d\ne", &[]),
            (b"[a]b=\"c\nd", &[]),
        ] {
            assert_eq!(parsed(text), expected, "{}", text.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn any_text_has_fewer_variables_than_letters(text in proptest::collection::vec(
            prop_oneof![Just(b'['), Just(b']'), Just(b'"'), Just(b'='), Just(b'\n'), Just(b'a'), Just(b'.'), any::<u8>()], 0..200,
        )) {
            prop_assert!(parsed(&text).len() <= text.iter().filter(|byte| byte.is_ascii_alphabetic()).count());
        }

        #[test]
        fn a_quoted_value_is_read_back(value in "[ -~\t]{0,30}", subsection in "[ -~]{0,10}") {
            let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!("[s \"{}\"]\nk = \"{}\"\n", quoted(&subsection), quoted(&value));
            let mut seen = 0;
            variables(text.as_bytes(), |variable| {
                seen += 1;
                assert_eq!(variable.section, format!("s.{subsection}").as_bytes());
                assert_eq!(variable.value, Some(value.as_bytes()));
            });
            prop_assert_eq!(seen, 1);
        }
    }
}
