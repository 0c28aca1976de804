//! HTTP/1.1 messages: requests as they were read, replies as they are to be written, soundly or not.

use std::io::Write;
use std::net::SocketAddr;

use serde_json::Value;

/// Bytes of the longest head of a request.
const LONGEST_HEAD: usize = 64 << 10;

/// Bytes of the longest body of a request: what the oracle judges at most.
const LONGEST_BODY: usize = crate::contract::oracle::MAX_BYTES;

/// Headers of one request.
const MOST_HEADERS: usize = 100;

/// A whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// As it stands there.
    pub method: String,
    /// The request target as it stands there, query included.
    pub target: String,
    /// Names and values as they stand there, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
    /// The address it came to.
    pub server: SocketAddr,
}

/// What some bytes are the beginning of.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed {
    /// A request that is not complete.
    Partial,
    /// A request, and how many bytes it took.
    Whole(Request, usize),
    /// No request that is served: the status that says so.
    Refused(u16),
}

impl Request {
    /// Reads one request from the beginning of `bytes`.
    pub fn parse(bytes: &[u8], server: SocketAddr) -> Parsed {
        let mut slots = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Request::new(&mut slots);
        let start = match head.parse(bytes) {
            Ok(httparse::Status::Complete(start)) => start,
            Ok(httparse::Status::Partial) if bytes.len() <= LONGEST_HEAD => return Parsed::Partial,
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => return Parsed::Refused(431),
            Err(_) => return Parsed::Refused(400),
        };
        let named = |name: &str| {
            let of_name = head.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
            of_name.map(|header| header.value).collect::<Vec<_>>()
        };
        if !named("transfer-encoding").is_empty() {
            return Parsed::Refused(411);
        }
        let length = match named("content-length")[..] {
            [] => 0,
            [value] => match std::str::from_utf8(value).ok().filter(|it| it.bytes().all(|b| b.is_ascii_digit())) {
                Some(digits) => digits.parse::<usize>().unwrap_or(if digits.is_empty() { 0 } else { usize::MAX }),
                None => return Parsed::Refused(400),
            },
            _ => return Parsed::Refused(400),
        };
        if length > LONGEST_BODY {
            return Parsed::Refused(413);
        }
        let Some(body) = bytes.get(start..start + length) else { return Parsed::Partial };
        let (Some(method), Some(target)) = (head.method, head.path) else { return Parsed::Refused(400) };
        let headers = head.headers.iter().map(|header| (header.name.to_owned(), header.value.to_vec())).collect();
        let (method, target, body) = (method.to_owned(), target.to_owned(), body.to_vec());
        Parsed::Whole(Request { method, target, headers, body, server }, start + length)
    }

    /// The target without its query.
    pub fn path(&self) -> &str {
        self.target.split_once('?').map_or(&self.target, |(path, _)| path)
    }

    /// The values of the headers of that name, given in lower case.
    pub fn headers_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let of_name = self.headers.iter().filter(move |(found, _)| found.eq_ignore_ascii_case(name));
        of_name.map(|(_, value)| value.as_slice())
    }

    /// Whether the Host header is the address the request came to: another site's page, resolved to loopback, is turned away.
    pub(super) fn names_its_server(&self) -> bool {
        let (address, port) = (self.server, self.server.port());
        let names = [address.to_string(), format!("localhost:{port}")];
        let mut hosts = self.headers_named("host");
        let named = hosts.next().is_some_and(|host| names.iter().any(|name| name.as_bytes() == host));
        named && hosts.next().is_none()
    }

    /// Whether the body is said to be JSON.
    pub(super) fn is_json(&self) -> bool {
        let kind = self.headers_named("content-type").next().and_then(|value| std::str::from_utf8(value).ok());
        let kind = kind.and_then(|value| value.split(';').next());
        kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
    }

    /// The absolute URL of a path on this server.
    pub fn absolute(&self, path: &str) -> String {
        format!("http://{}{path}", self.server)
    }
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers but for those that frame the body.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How it is sent.
    pub delivery: Delivery,
}

/// How a reply is sent. All but the first two are faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// As it is, its length stated.
    Whole,
    /// In chunks, its length not stated.
    Chunked,
    /// The first so many bytes of the message, then the end of the connection.
    Cut(usize),
    /// The head and the first half of the body, then the end of the connection.
    Truncated,
    /// Nothing but a reset of the connection.
    Reset,
    /// The first so many bytes of the message, then nothing while the connection stays open.
    Stalled(usize),
}

impl Reply {
    /// A JSON body of that text, which need not be JSON.
    pub fn of_json(status: u16, text: impl Into<Vec<u8>>) -> Reply {
        let headers = vec![("Content-Type".into(), "application/json".into())];
        Reply { status, headers, body: text.into(), delivery: Delivery::Whole }
    }

    /// A JSON body.
    pub fn json(status: u16, body: &Value) -> Reply {
        Reply::of_json(status, body.to_string())
    }

    /// The same with another header, in the place of any of that name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.retain(|(found, _)| !found.eq_ignore_ascii_case(name));
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same, sent so.
    #[must_use]
    pub fn delivered(self, delivery: Delivery) -> Reply {
        Reply { delivery, ..self }
    }

    /// The same, its body deflated.
    #[must_use]
    pub fn compressed(mut self) -> Reply {
        let mut writer = gix::zlib::stream::deflate::Write::new(Vec::new(), gix::zlib::Compression::BEST_SPEED);
        // Writing to memory does not fail.
        let _ = writer.write_all(&self.body).and_then(|()| writer.flush());
        self.body = writer.into_inner();
        self.header("Content-Encoding", "deflate")
    }

    /// The head alone.
    pub(super) fn without_body(mut self) -> Reply {
        self.headers.push(("Content-Length".into(), self.body.len().to_string()));
        self.body.clear();
        self
    }

    /// The message as it goes out, as far as it goes out.
    pub fn bytes(&self) -> Vec<u8> {
        let mut message = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)).into_bytes();
        for (name, value) in &self.headers {
            message.extend(format!("{name}: {value}\r\n").bytes());
        }
        let framed = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let bodyless = matches!(self.status, 204 | 304);
        if self.delivery == Delivery::Chunked {
            message.extend(b"Transfer-Encoding: chunked\r\n");
        } else if !framed && !bodyless {
            message.extend(format!("Content-Length: {}\r\n", self.body.len()).bytes());
        }
        message.extend(b"Connection: close\r\n\r\n");
        let head = message.len();
        if self.delivery == Delivery::Chunked {
            for chunk in self.body.chunks(4096) {
                message.extend(format!("{:x}\r\n", chunk.len()).bytes());
                message.extend(chunk);
                message.extend(b"\r\n");
            }
            message.extend(b"0\r\n\r\n");
        } else {
            message.extend(&self.body);
        }
        match self.delivery {
            Delivery::Whole | Delivery::Chunked => {}
            Delivery::Cut(length) | Delivery::Stalled(length) => message.truncate(length),
            Delivery::Truncated => message.truncate(head + self.body.len() / 2),
            Delivery::Reset => message.clear(),
        }
        message
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        409 => "Conflict",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unnamed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Parsed {
        Request::parse(text.as_bytes(), ([127, 0, 0, 1], 80).into())
    }

    #[test]
    fn a_request_is_whole_once_its_body_is_there() {
        let text = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET ";
        for end in 0..text.len() - 4 {
            assert_eq!(parse(&text[..end]), Parsed::Partial, "{end}");
        }
        let Parsed::Whole(request, taken) = parse(text) else { panic!("not whole") };
        assert_eq!((taken, request.body.as_slice()), (text.len() - 4, &b"abc"[..]));
        assert_eq!((request.method.as_str(), request.target.as_str(), request.path()), ("POST", "/a?b=c", "/a"));
        assert_eq!(request.headers_named("HOST").collect::<Vec<_>>(), [b"x"]);
    }

    #[test]
    fn what_frames_its_body_in_doubt_is_refused() {
        for (headers, status) in [
            ("Content-Length: 1\r\nContent-Length: 1\r\n", 400),
            ("Content-Length: +1\r\n", 400),
            ("Content-Length: 1, 1\r\n", 400),
            ("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n", 411),
            ("Content-Length: 1048577\r\n", 413),
            ("Content-Length: 99999999999999999999999999\r\n", 413),
            (" : \r\n", 400),
            (&"a: b\r\n".repeat(101), 431),
        ] {
            let text = format!("GET / HTTP/1.1\r\n{headers}\r\n");
            assert_eq!(parse(&text), Parsed::Refused(status), "{headers}");
        }
        assert_eq!(parse("GET\u{1} / HTTP/1.1\r\n\r\n"), Parsed::Refused(400));
        assert_eq!(parse(&format!("GET /{} HTTP/1.1\r\n", "a".repeat(65_536))), Parsed::Refused(431));
    }

    #[test]
    fn a_reply_is_sent_as_its_delivery_says() {
        let reply = Reply::of_json(200, "{}");
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        let whole = format!("{head}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}");
        let bytes = |delivery| String::from_utf8(reply.clone().delivered(delivery).bytes()).unwrap();
        assert_eq!(bytes(Delivery::Whole), whole);
        let chunked = format!("{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n");
        assert_eq!(bytes(Delivery::Chunked), chunked);
        assert_eq!(bytes(Delivery::Cut(8)), "HTTP/1.1");
        assert_eq!(bytes(Delivery::Stalled(0)), "");
        assert_eq!(bytes(Delivery::Truncated), whole[..whole.len() - 1]);
        assert_eq!(bytes(Delivery::Reset), "");
        let head_alone = String::from_utf8(reply.without_body().bytes()).unwrap();
        assert_eq!(head_alone, whole.trim_end_matches("{}"));
    }
}
