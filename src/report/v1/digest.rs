//! The digest a report carries of itself: SHA-256 of its text, byte for byte, with zeros in the place of the digest.

use crate::digest::sha256;

/// Stands in a report until its text is complete.
pub(super) const UNKNOWN: &str = "0000000000000000000000000000000000000000000000000000000000000000";

// A quote inside a string is escaped, so nothing but the member itself is spelled like this.
const MEMBER: &str = "\"report_sha256\": \"";

/// The text with its digest filled in.
pub(super) fn fill_in(text: &str) -> String {
    match place(text) {
        Some(at) => format!("{}{}{}", &text[..at], sha256(text.as_bytes()), &text[at + UNKNOWN.len()..]),
        None => text.to_owned(),
    }
}

/// The digest that a report's bytes should name; none if they name none.
pub fn digest_of(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let at = place(text)?;
    Some(sha256(format!("{}{UNKNOWN}{}", &text[..at], &text[at + UNKNOWN.len()..]).as_bytes()))
}

fn place(text: &str) -> Option<usize> {
    let at = text.rfind(MEMBER)? + MEMBER.len();
    text.get(at..at + UNKNOWN.len()).map(|_| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_in_digest_is_found_again_and_depends_on_every_byte() {
        let text = format!("{{\n  \"a\": \"\\\"report_sha256\\\": \\\"\",\n  \"report_sha256\": \"{UNKNOWN}\"\n}}\n");
        let filled = fill_in(&text);
        let digest = digest_of(filled.as_bytes()).unwrap();
        assert_eq!((digest.as_str(), filled.replace(&digest, UNKNOWN)), (&*sha256(text.as_bytes()), text));
        assert!(filled.contains(&digest));
        let touched = filled.replacen("\"a\"", "\"b\"", 1);
        assert_ne!(digest_of(touched.as_bytes()), Some(digest));
        assert_eq!(digest_of(b"{}"), None);
        assert_eq!(digest_of(b"\"report_sha256\": \"00"), None);
        assert_eq!(fill_in("{}"), "{}");
    }
}
