//! A socket on loopback, and every byte that came to it.
//!
//! One request per connection: a reply ends it. Whatever else a peer sends until it closes its side is recorded, not answered.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use super::http::{Delivery, Parsed, Reply, Request};

/// How long a peer may take to send its request, or to take its reply.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a peer that has its reply may take to close its side.
const FAREWELL: Duration = Duration::from_secs(2);

/// Connections served at a time; one more is closed as it comes.
const MOST_AT_A_TIME: usize = 64;

/// What makes the replies.
pub type Site = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// What came on one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Every byte, in order.
    pub bytes: Vec<u8>,
}

impl Received {
    /// The requests in it, and the bytes that are none.
    pub fn requests(&self, server: SocketAddr) -> (Vec<Request>, &[u8]) {
        let (mut requests, mut rest) = (Vec::new(), self.bytes.as_slice());
        while let Parsed::Whole(request, taken) = Request::parse(rest, server) {
            requests.push(request);
            rest = &rest[taken..];
        }
        (requests, rest)
    }
}

/// What came on all connections, in the order in which they were accepted.
#[derive(Debug, Default)]
pub struct Record {
    connections: Mutex<Vec<Received>>,
    room: AtomicUsize,
}

impl Record {
    /// One that keeps so many bytes at most; what comes beyond is read and left out.
    fn of(bytes: usize) -> Record {
        Record { room: AtomicUsize::new(bytes), ..Record::default() }
    }

    /// The place of a new connection, if there is room for it, which takes a byte.
    fn open(&self) -> Option<usize> {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        (self.take(1) == 1).then(|| {
            connections.push(Received::default());
            connections.len() - 1
        })
    }

    fn add(&self, connection: Option<usize>, bytes: &[u8]) {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(received) = connection.and_then(|connection| connections.get_mut(connection)) {
            received.bytes.extend_from_slice(&bytes[..self.take(bytes.len())]);
        }
    }

    /// As much of the wanted room as is left.
    fn take(&self, wanted: usize) -> usize {
        let left = |room: usize| Some(room.saturating_sub(wanted));
        let before = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        before.unwrap_or_else(|room| room).min(wanted)
    }

    /// What there is.
    pub fn connections(&self) -> Vec<Received> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether more came than is kept.
    pub fn is_full(&self) -> bool {
        self.room.load(Ordering::Relaxed) == 0
    }
}

/// A running server. Dropped, it closes its socket and every connection, and waits for its threads.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    record: Arc<Record>,
    /// Its other end tells everyone to stop once this is closed.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens on that address, port 0 for any free one, and answers by `site`. Keeps so many `bytes` of what comes.
    ///
    /// # Errors
    /// The address is not loopback, or the system refuses it.
    pub fn start(address: SocketAddr, bytes: usize, site: Site) -> io::Result<Server> {
        if !address.ip().is_loopback() {
            return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, format!("{address} is not loopback")));
        }
        #[expect(clippy::disallowed_methods, reason = "the one place that listens, and on loopback alone")]
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC)?;
        let record = Arc::new(Record::of(bytes));
        let acceptor = Acceptor { listener, address, record: record.clone(), stopped: Arc::new(stopped), site };
        let thread = std::thread::Builder::new().name("producer".into()).spawn(move || acceptor.run())?;
        Ok(Server { address, record, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections came so far.
    pub fn connections(&self) -> usize {
        self.record.connections.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Closes everything; what came until then.
    pub fn finish(mut self) -> Arc<Record> {
        self.end();
        self.record.clone()
    }

    fn end(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

struct Acceptor {
    listener: TcpListener,
    address: SocketAddr,
    record: Arc<Record>,
    stopped: Arc<OwnedFd>,
    site: Site,
}

impl Acceptor {
    fn run(self) {
        let mut peers = Vec::<JoinHandle<()>>::new();
        loop {
            let stopped = !wait(&self.listener, PollFlags::IN, &self.stopped, None);
            // Who has connected before the end is on the record, too.
            while let Ok((stream, _)) = self.listener.accept() {
                peers.retain(|peer| !peer.is_finished());
                let connection = self.record.open();
                if peers.len() < MOST_AT_A_TIME {
                    let (record, stopped) = (self.record.clone(), self.stopped.clone());
                    let peer = Peer { stream, connection, address: self.address, record, stopped };
                    let site = self.site.clone();
                    peers.push(std::thread::spawn(move || drop(peer.serve(&site))));
                }
            }
            if stopped {
                break;
            }
        }
        for peer in peers {
            let _ = peer.join();
        }
    }
}

struct Peer {
    stream: TcpStream,
    connection: Option<usize>,
    address: SocketAddr,
    record: Arc<Record>,
    stopped: Arc<OwnedFd>,
}

impl Peer {
    fn serve(mut self, site: &Site) -> io::Result<()> {
        self.stream.set_nonblocking(true)?;
        self.stream.set_nodelay(true)?;
        let (mut bytes, deadline) = (Vec::new(), Instant::now() + PATIENCE);
        let reply = loop {
            match Request::parse(&bytes, self.address) {
                Parsed::Whole(request, _) => break site(&request),
                Parsed::Refused(status) => break Reply::json(status, &serde_json::json!({"detail": "No request."})),
                Parsed::Partial => match self.receive(deadline) {
                    Some(more) => bytes.extend_from_slice(&more),
                    None => return Ok(()),
                },
            }
        };
        self.send(&reply.bytes())?;
        match reply.delivery {
            Delivery::Stalled(_) => while self.receive(None).is_some() {},
            Delivery::Reset => rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO))?,
            _ => {
                self.stream.shutdown(std::net::Shutdown::Write)?;
                let deadline = Instant::now() + FAREWELL;
                while self.receive(deadline).is_some() {}
            }
        }
        Ok(())
    }

    /// What comes next, recorded; nothing at the end of it, at the deadline, or if the server stops.
    fn receive(&mut self, deadline: impl Into<Option<Instant>>) -> Option<Vec<u8>> {
        let ready = wait(&self.stream, PollFlags::IN, &self.stopped, deadline.into());
        let mut chunk = vec![0; 65536];
        // What is there is recorded even if nobody waits for it any more.
        let read = self.stream.read(&mut chunk).ok().filter(|&read| read > 0)?;
        chunk.truncate(read);
        self.record.add(self.connection, &chunk);
        ready.then_some(chunk)
    }

    fn send(&mut self, mut message: &[u8]) -> io::Result<()> {
        let deadline = Some(Instant::now() + PATIENCE);
        while !message.is_empty() && wait(&self.stream, PollFlags::OUT, &self.stopped, deadline) {
            match self.stream.write(message) {
                Ok(written) => message = &message[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Waits for a socket. `false` if the deadline or the end of the server came first.
fn wait(socket: &impl AsFd, what: PollFlags, stopped: &OwnedFd, deadline: Option<Instant>) -> bool {
    loop {
        let mut watched = [PollFd::new(socket, what), PollFd::new(stopped, PollFlags::empty())];
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut watched, left.as_ref()) {
            Ok(0) => return false,
            Ok(_) if !watched[1].revents().is_empty() => return false,
            Ok(_) => return true,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests;
