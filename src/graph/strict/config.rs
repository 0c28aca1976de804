//! Git's parser for configuration text held in memory, in all that decides which variables it sees.
//!
//! A library's parser would not do: a hostile `.gitmodules` lives from what git makes of text that no other parser accepts, and
//! git judges every variable up to the place where it gives up.

/// Calls `variable` with each full name (`section.subsection.key`, section and key in lower case) and value, in order, until
/// the text ends or cannot be parsed. Names and values end at their first NUL, as git's strings do. Linear in the bytes.
pub(in crate::graph) fn variables(data: &[u8], mut variable: impl FnMut(&[u8], Option<&[u8]>)) {
    // That the text cannot be parsed is only INFO to git; what was seen before counts.
    let _ = Parser { data, at: 0, ended: false }.run(&mut variable);
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
    fn run(&mut self, variable: &mut impl FnMut(&[u8], Option<&[u8]>)) -> Result<(), Malformed> {
        let mut name = Vec::new();
        let mut section = 0;
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
                    name.clear();
                    self.header(&mut name)?;
                    name.push(b'.');
                    section = name.len();
                }
                c if c.is_ascii_alphabetic() => {
                    name.truncate(section);
                    name.push(c.to_ascii_lowercase());
                    let value = self.variable(&mut name)?;
                    variable(until_nul(&name), value.as_deref().map(until_nul));
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
    fn variable(&mut self, name: &mut Vec<u8>) -> Result<Option<Vec<u8>>, Malformed> {
        let mut c = self.next();
        while !self.ended && is_key(c) {
            name.push(c.to_ascii_lowercase());
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

fn until_nul(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}
