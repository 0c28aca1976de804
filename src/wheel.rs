//! The binary distribution format, as far as it is read here (PEP 376, PEP 427).

/// Paths as a RECORD spells them, each with the SHA-256 it gives, or `None` for a file listed without.
pub type Listed = Vec<(String, Option<String>)>;

/// Rows of path, `algorithm=digest` and size; only SHA-256 counts as a digest.
///
/// # Errors
/// The first row that is none of these, in words.
pub fn parse_record(bytes: &[u8]) -> Result<Listed, String> {
    let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(bytes);
    let mut files = Vec::new();
    for row in rows.records() {
        let row = row.map_err(|error| error.to_string())?;
        let (Some(path), Some(digest), Some(_), 3) = (row.get(0), row.get(1), row.get(2), row.len()) else {
            return Err(format!("row {} has {} columns", files.len() + 1, row.len()));
        };
        let digest = match digest {
            "" => None,
            digest => match digest.strip_prefix("sha256=") {
                Some(digest) => Some(digest.to_owned()),
                None => return Err(format!("row {} has the digest {digest:?}, which is not SHA-256", files.len() + 1)),
            },
        };
        files.push((path.to_owned(), digest));
    }
    Ok(files)
}

/// A SHA-256 as a RECORD spells it: URL-safe base64 without padding.
pub fn record_digest(sha256: &[u8; 32]) -> String {
    data_encoding::BASE64URL_NOPAD.encode(sha256)
}

/// Where a file of a wheel is installed, relative to site-packages. Programs, headers and data go elsewhere, programs with another
/// first line; none of them can be imported.
pub fn place(path: &str) -> Option<&str> {
    let Some((folder, rest)) = path.split_once(".data/").filter(|(folder, _)| !folder.contains('/')) else {
        return Some(path);
    };
    let _ = folder;
    rest.strip_prefix("purelib/").or_else(|| rest.strip_prefix("platlib/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_record_is_rows_of_three() {
        let rows = parse_record(b"a.py,sha256=x,1\n\"b,c.py\",,\nd-1.dist-info/RECORD,,\n").unwrap();
        let row = |path: &str, digest: Option<&str>| (path.to_owned(), digest.map(str::to_owned));
        assert_eq!(rows, [row("a.py", Some("x")), row("b,c.py", None), row("d-1.dist-info/RECORD", None)]);
        assert_eq!(parse_record(b"a.py,sha256=x\n"), Err("row 1 has 2 columns".into()));
        assert_eq!(parse_record(b"a.py,md5=x,1\n"), Err("row 1 has the digest \"md5=x\", which is not SHA-256".into()));
        assert!(parse_record(b"a.py,sha256=x,1\nb\n").is_err());
    }

    #[test]
    fn what_goes_into_site_packages_is_known_by_its_place() {
        for (path, expected) in [
            ("a/b.py", Some("a/b.py")),
            ("a-1.data/purelib/a/b.py", Some("a/b.py")),
            ("a-1.data/platlib/a.so", Some("a.so")),
            ("a-1.data/scripts/run", None),
            ("a/b.data/purelib/c.py", Some("a/b.data/purelib/c.py")),
        ] {
            assert_eq!(place(path), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_told(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            if let Ok(rows) = parse_record(&bytes) {
                prop_assert!(rows.len() <= bytes.len());
            }
        }
    }
}
