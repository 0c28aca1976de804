//! Which submodule URLs git takes for safe.

/// What may follow `%` unchanged although it is a delimiter (RFC 3986, 2.2).
const RESERVED: &[u8] = b":/?#[]@!$&'()*+,;=";

/// The URL is no option, does not smuggle a newline to a remote helper, and does not climb out of its root.
pub(super) fn is_good(url: &[u8]) -> bool {
    if url.starts_with(b"-") {
        return false;
    }
    if let Some(climbs) = relative(url) {
        return !decodes_to_newline(url) && !climbs;
    }
    if url.starts_with(b"git://") {
        return !decodes_to_newline(url);
    }
    match for_curl(url) {
        Some(url) => normalized(url).is_some_and(|url| !decodes_to_newline(&url)),
        None => true,
    }
}

/// For a URL that begins with `./` or `../`: whether, after going up, it goes on where host or port of the parent would be.
fn relative(url: &[u8]) -> Option<bool> {
    let mut rest = url;
    let mut up = false;
    loop {
        match rest {
            [b'.', b'.', b'/' | b'\\', after @ ..] => (rest, up) = (after, true),
            [b'.', b'/' | b'\\', after @ ..] => rest = after,
            _ => break,
        }
    }
    (rest.len() < url.len()).then_some(up && matches!(rest.first(), Some(b':' | b'/')))
}

/// The URL that the HTTP and FTP helper would get, if it is for that one.
fn for_curl(url: &[u8]) -> Option<&[u8]> {
    let schemes = [b"http".as_slice(), b"https", b"ftp", b"ftps"];
    let after = |scheme| url.strip_prefix(scheme);
    if let Some(rest) = schemes.into_iter().find_map(|scheme| after(scheme)?.strip_prefix(b"::")) {
        return Some(rest);
    }
    schemes.into_iter().any(|scheme| after(scheme).is_some_and(|rest| rest.starts_with(b"://"))).then_some(url)
}

/// A newline appears once `%XX` is decoded, which git does only from the first colon on.
fn decodes_to_newline(url: &[u8]) -> bool {
    let colon = url.iter().position(|&byte| byte == b':').unwrap_or(0);
    url.contains(&b'\n') || url[colon..].windows(3).any(|escape| escape.eq_ignore_ascii_case(b"%0a"))
}

/// The normal form of an absolute URL, a port apart, which stays as it is; none for one that git calls invalid.
///
/// Git keeps a stale pointer when the text grows while it is normalised, and may then accept a path that climbs above its
/// root. We refuse that path always.
fn normalized(url: &[u8]) -> Option<Vec<u8>> {
    let scheme = url.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"+.-".contains(byte))?;
    let mut rest = url[scheme..].strip_prefix(b"://")?;
    if !url[0].is_ascii_alphabetic() {
        return None;
    }
    let mut out = url[..scheme + 3].to_ascii_lowercase();
    let is_file = out.starts_with(b"file:");

    let (authority, path) = rest.split_at(rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len()));
    rest = authority;
    if let Some(at) = authority.iter().position(|&byte| byte == b'@') {
        append(&mut out, &authority[..at])?;
        out.push(b'@');
        rest = &authority[at + 1..];
    }
    let no_host = matches!(rest.first(), None | Some(b':'));
    if no_host && !is_file {
        return None;
    }
    let colon = rest.iter().rposition(|byte| matches!(byte, b':' | b']')).filter(|&at| rest[at] == b':');
    let (host, port) = rest.split_at(colon.unwrap_or(rest.len()));
    if !host.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_[:]".contains(byte)) {
        return None;
    }
    out.extend(host.to_ascii_lowercase());
    if let [b':', port @ ..] = port
        && !port.is_empty()
    {
        let number = std::str::from_utf8(port).ok().filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()))?;
        if no_host || number.parse::<u16>().unwrap_or(0) == 0 {
            return None;
        }
        out.extend([b":", port].concat());
    }
    append_path(&mut out, path)?;
    Some(out)
}

/// Appends the path, its `.` and `..` resolved, then query and fragment.
fn append_path(out: &mut Vec<u8>, path: &[u8]) -> Option<()> {
    let root = out.len();
    out.push(b'/');
    let (path, rest) = path.split_at(path.iter().position(|byte| b"?#".contains(byte)).unwrap_or(path.len()));
    let segments = path.strip_prefix(b"/").unwrap_or(path);
    let mut separate = false;
    for segment in segments.split(|&byte| byte == b'/') {
        if separate {
            out.push(b'/');
        }
        let start = out.len();
        append(out, segment)?;
        separate = true;
        let dots = match &out[start..] {
            b"." => 1,
            b".." => 2,
            _ => continue,
        };
        // Go back to the slash before the segment; for two dots, to the one before that.
        let mut slash = start - 1;
        if dots == 2 {
            if slash == root {
                return None;
            }
            slash = out[..slash].iter().rposition(|&byte| byte == b'/')?;
        }
        // The slash of the root stays, and stands for the separator too.
        separate = slash != root;
        out.truncate(if separate { slash } else { root + 1 });
    }
    append(out, rest)
}

/// Appends text with its escapes made uniform; none if a `%` is not followed by two hexadecimal digits.
fn append(out: &mut Vec<u8>, text: &[u8]) -> Option<()> {
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        let (mut byte, mut escaped) = (*byte, false);
        if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            let digit = |at: usize| char::from(digits[at]).to_digit(16);
            byte = u8::try_from(digit(0)? << 4 | digit(1)?).ok()?;
            (rest, escaped) = (after, true);
        }
        let unsafe_byte = byte <= b' ' || byte >= 0x7f || b"<>\"%{}|\\^`".contains(&byte);
        if unsafe_byte || (escaped && RESERVED.contains(&byte)) {
            const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
            out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        } else {
            out.push(byte);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn normal(url: &str) -> Option<String> {
        normalized(url.as_bytes()).map(|url| String::from_utf8(url).unwrap())
    }

    #[test]
    fn a_url_is_normalised() {
        for (url, expected) in [
            ("HTTPS://User:%41%2f@Host:0443/%7ex/./a/../b?Q=%0a#%2F", "https://User:A%2F@host:0443/~x/b?Q=%0A#%2F"),
            ("http://h", "http://h/"),
            ("http://h?q", "http://h/?q"),
            ("http://h/a/..", "http://h/"),
            ("http://h/a/b/..", "http://h/a"),
            ("http://h/a/.", "http://h/a"),
            ("http://h//..", "http://h/"),
            ("http://h/\u{e9} ", "http://h/%C3%A9%20"),
            ("file:///x", "file:///x"),
        ] {
            assert_eq!(normal(url).as_deref(), Some(expected), "{url}");
        }
        for url in [
            "",
            "x",
            "://h",
            "1x://h",
            "http:/h",
            "http://",
            "http://:1",
            "http://h:0",
            "http://h:x",
            "http://h%41",
            "http://h/%4",
            "http://h/..",
        ] {
            assert_eq!(normal(url), None, "{url}");
        }
    }

    #[test]
    fn a_path_above_its_root_is_refused_however_much_it_grows() {
        for length in [1, 5, 20, 100, 5_000] {
            assert!(!is_good(format!("https://h/{}/../..", "\u{e9}".repeat(length)).as_bytes()), "{length}");
        }
    }

    #[test]
    fn options_newlines_and_climbing_are_refused() {
        for url in
            ["-x", "./%0a", "../:x", "..//x", "git://h/%0A", "https://h/%0a", "https://h/a\nb", "http::h", "ftp:///x"]
        {
            assert!(!is_good(url.as_bytes()), "{url:?}");
        }
        for url in
            ["", "x", "./%0a:", "./:x", "../a/:x", "git://h", "https://h/%0a/..", "ssh://h/%0a", "HTTP://h/%0a", "a\nb"]
        {
            assert!(is_good(url.as_bytes()), "{url:?}");
        }
    }

    proptest! {
        #[test]
        fn the_normal_form_is_normal(url in "https?://[a-z]{1,3}(:[0-9]{1,5})?(/[a-z.%0-9AF]{0,4}){0,5}([?#][a-z%0-9]{0,4})?") {
            if let Some(once) = normal(&url) {
                prop_assert_eq!(normal(&once), Some(once.clone()));
                prop_assert!(!once.split(['?', '#']).next().unwrap().contains("/../"));
            }
        }

        #[test]
        fn arbitrary_bytes_are_judged(url in proptest::collection::vec(any::<u8>(), 0..60)) {
            let whole = [b"https://h/".as_slice(), &url].concat();
            // What is unsafe alone stays unsafe: a newline that no dots remove.
            let plain = !url.contains(&b'.') && !url.windows(3).any(|escape| escape.eq_ignore_ascii_case(b"%2e"));
            if plain && url.contains(&b'\n') {
                prop_assert!(!is_good(&whole));
            }
            is_good(&url);
        }
    }
}
