use super::*;

fn server(bytes: usize, reply: Reply) -> Server {
    Server::start(([127, 0, 0, 1], 0).into(), bytes, Arc::new(move |_| reply.clone())).unwrap()
}

/// Sends these bytes and reads to the end of what comes.
#[expect(clippy::disallowed_methods, reason = "the peer of the server under test")]
fn send(server: &Server, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server.address())?;
    stream.write_all(bytes)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(answer)
}

const GET: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

#[test]
fn it_listens_on_loopback_alone() {
    for address in [[0, 0, 0, 0], [192, 0, 2, 1]] {
        let error = Server::start((address, 0).into(), 0, Arc::new(|_| Reply::of_json(200, ""))).unwrap_err();
        assert_eq!(error.to_string(), format!("{} is not loopback", SocketAddr::from((address, 0))));
    }
}

#[test]
fn every_byte_is_recorded_and_one_request_answered() {
    let server = server(1 << 20, Reply::of_json(200, "{}"));
    let twice = [GET, GET, b"more"].concat();
    let answer = send(&server, &twice).unwrap();
    assert_eq!(answer.windows(8).filter(|window| window == b"HTTP/1.1").count(), 1);
    let refused = send(&server, b"\x16\x03\x01\r\n\r\n").unwrap();
    assert!(refused.starts_with(b"HTTP/1.1 400 Bad Request\r\n"));
    let address = server.address();
    let connections = server.finish().connections();
    assert_eq!(connections[0].bytes, twice);
    let (requests, rest) = connections[0].requests(address);
    assert_eq!((requests.len(), rest), (2, &b"more"[..]));
    assert_eq!(connections[1].requests(address), (vec![], &b"\x16\x03\x01\r\n\r\n"[..]));
}

#[test]
fn the_record_keeps_what_there_is_room_for() {
    let server = server(1 + GET.len() + 1, Reply::of_json(200, "{}"));
    for _ in 0..3 {
        assert!(send(&server, GET).unwrap().ends_with(b"{}"));
    }
    let record = server.finish();
    assert!(record.is_full());
    assert_eq!(record.connections().iter().map(|it| it.bytes.len()).collect::<Vec<_>>(), [GET.len(), 0]);
}

#[test]
fn a_reset_is_a_reset_and_a_cut_is_an_end() {
    let reply = Reply::of_json(200, "{}");
    let error = send(&server(1 << 20, reply.clone().delivered(Delivery::Reset)), GET).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(send(&server(1 << 20, reply.delivered(Delivery::Cut(4))), GET).unwrap(), b"HTTP");
}

#[test]
fn the_end_of_the_server_ends_a_stalled_connection() {
    let server = server(1 << 20, Reply::of_json(200, "{}").delivered(Delivery::Stalled(4)));
    #[expect(clippy::disallowed_methods, reason = "the peer of the server under test")]
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.write_all(GET).unwrap();
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP");
    drop(server);
    assert_eq!(stream.read(&mut answer).unwrap(), 0);
}
