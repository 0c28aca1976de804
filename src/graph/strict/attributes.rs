//! The bounds git sets to `.gitattributes`.

use super::Message;

/// The largest file git reads, in bytes.
const LARGEST_FILE: usize = 100 << 20;

/// A line of so many bytes, its newline not counted, is too long.
const TOO_LONG: usize = 2048;

/// Judges the content of a `.gitattributes`.
pub fn gitattributes(data: &[u8], messages: &mut Vec<Message>) {
    if data.len() > LARGEST_FILE {
        let detail = format!("the file has {} bytes where at most {LARGEST_FILE} are read", data.len());
        messages.push(Message { id: "gitattributesLarge", detail });
        return;
    }
    // To git the text ends at the first NUL.
    let text = data.split(|&byte| byte == 0).next().unwrap_or_default();
    let mut lines = text.split(|&byte| byte == b'\n');
    if let Some(at) = lines.position(|line| line.len() >= TOO_LONG) {
        let detail = format!("line {} has {TOO_LONG} bytes or more", at + 1);
        messages.push(Message { id: "gitattributesLineLength", detail });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(data: &[u8]) -> Vec<(&'static str, String)> {
        let mut messages = Vec::new();
        gitattributes(data, &mut messages);
        messages.into_iter().map(|message| (message.id, message.detail)).collect()
    }

    #[test]
    fn a_line_may_have_2047_bytes() {
        assert_eq!(judged(b""), []);
        assert_eq!(judged(b"* text=auto\n"), []);
        let line = |length: usize| [b"*.py text\n".as_slice(), &vec![b'a'; length], b"\n"].concat();
        assert_eq!(judged(&line(2047)), []);
        assert_eq!(judged(&line(2048)), [("gitattributesLineLength", "line 2 has 2048 bytes or more".into())]);
        assert_eq!(judged(&[b"a\0".as_slice(), &line(5000)].concat()), [], "nothing counts after a NUL");
    }

    #[test]
    fn a_file_may_have_100_mebibytes() {
        assert_eq!(judged(&vec![b'\n'; 100 << 20]), []);
        let detail = "the file has 104857601 bytes where at most 104857600 are read".to_owned();
        assert_eq!(judged(&vec![b'\n'; (100 << 20) + 1]), [("gitattributesLarge", detail)]);
    }
}
