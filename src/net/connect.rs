//! A connection to one of the addresses of a permit: IPv6 first, the next address a quarter of a second later or as
//! soon as one fails (Happy Eyeballs, RFC 8305 sections 4 and 5), the first that stands wins.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::net::failure::Failure;
use crate::net::gate::Permit;

/// Connects; the attempts that lost are dropped.
///
/// # Errors
/// [`Failure::Connect`] with what the last address said, once all have failed.
pub(in crate::net) async fn connect(permit: &Permit) -> Result<TcpStream, Failure> {
    let mut waiting = interleaved(permit.addresses()).into_iter();
    let mut attempts = JoinSet::new();
    let mut last = None;
    loop {
        let is_started = match waiting.next() {
            Some(address) => {
                attempts.spawn(async move { (address, TcpStream::connect(address).await) });
                true
            }
            None => false,
        };
        let done = tokio::select! {
            done = attempts.join_next() => done,
            () = sleep(HEAD_START), if is_started => continue,
        };
        match done {
            Some(Ok((_, Ok(stream)))) => {
                // Requests are written whole; Nagle's algorithm would only hold the last segment back.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Some(Ok((address, Err(error)))) => last = Some((address, error)),
            Some(Err(_)) => {}
            None => return Err(none_left(permit, last)),
        }
    }
}

/// IPv6 and IPv4 in turn, IPv6 first, the order within each family kept.
fn interleaved(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let (mut v6, mut v4) = (
        addresses.iter().filter(|a| a.is_ipv6()),
        addresses.iter().filter(|a| a.is_ipv4()),
    );
    let mut order = Vec::with_capacity(addresses.len());
    while order.len() < addresses.len() {
        order.extend(v6.next());
        order.extend(v4.next());
    }
    order
}

fn none_left(permit: &Permit, last: Option<(SocketAddr, io::Error)>) -> Failure {
    let (address, source) =
        last.unwrap_or_else(|| (permit.addresses()[0], io::ErrorKind::Interrupted.into()));
    Failure::Connect {
        host: permit.host().to_owned(),
        address,
        source,
    }
}

/// RFC 8305 section 8: the recommended Connection Attempt Delay.
const HEAD_START: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_families_take_turns() {
        let parsed = |text: &str| {
            text.split(' ')
                .map(|a| a.parse().unwrap())
                .collect::<Vec<SocketAddr>>()
        };
        let given = parsed("1.1.1.1:1 2.2.2.2:2 3.3.3.3:3 [::4]:4 [::5]:5");
        assert_eq!(
            interleaved(&given),
            parsed("[::4]:4 1.1.1.1:1 [::5]:5 2.2.2.2:2 3.3.3.3:3")
        );
    }
}
