//! Listening sockets: bound all at once or not at all, with a bound on the connections they let in.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long accepting rests when the system has no more descriptors to give.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(50);

/// One listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    room: Arc<Semaphore>,
}

/// What came in.
#[derive(Debug)]
pub enum Incoming {
    /// A connection, with its place among the open ones, kept until dropped.
    Connection(TcpStream, OwnedSemaphorePermit),
    /// A connection beyond the bound; it is already closed.
    Refused,
}

impl Listener {
    /// Binds `address`; port 0 picks a free one. `room` bounds the connections open at once.
    ///
    /// # Errors
    /// Whatever the system says: taken, not ours, not allowed.
    pub async fn bind(address: SocketAddr, room: Arc<Semaphore>) -> io::Result<Listener> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        Ok(Listener {
            socket,
            address,
            room,
        })
    }

    /// The address it is bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection. Errors of single connections are passed over; when descriptors run out it rests a while,
    /// since nothing else would make any free.
    pub async fn next(&self) -> Incoming {
        let mut told = false;
        loop {
            let stream = match self.socket.accept().await {
                Ok((stream, _)) => stream,
                Err(error) if is_exhausted(&error) => {
                    if !std::mem::replace(&mut told, true) {
                        tracing::warn!(%error, "cannot accept until a descriptor is free");
                    }
                    tokio::time::sleep(EXHAUSTED_PAUSE).await;
                    continue;
                }
                Err(_) => continue,
            };
            // Small answers leave at once, and each is one write.
            let _ = stream.set_nodelay(true);
            return match Arc::clone(&self.room).try_acquire_owned() {
                Ok(place) => Incoming::Connection(stream, place),
                Err(_) => Incoming::Refused,
            };
        }
    }
}

/// Too many open files, in the process or in the system.
fn is_exhausted(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}
