//! Digests as lower-case hexadecimal text.

use sha1::Digest;

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// SHA-256.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&sha2::Sha256::digest(bytes))
}

/// The id git gives a blob of that content. Not collision-detecting: the graph's hash is, this one is independent of it.
pub fn git_blob(content: &[u8]) -> String {
    hex(&sha1::Sha1::new().chain_update(format!("blob {}\0", content.len())).chain_update(content).finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(git_blob(b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(git_blob(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
