//! `peerfarm serve`: starts a farm, says how to reach it, and ends it when a signal comes.

use std::io::{self, IsTerminal};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::cli::{Exit, output, show};
use crate::command::serve::{Flags, Settings};
use crate::farm::Who;
use crate::launch::{self, Addresses, Running};

/// Runs a farm until a signal ends it.
pub(super) fn serve(flags: Flags) -> Exit {
    log(&flags.log);
    let settings = match flags.check() {
        Ok(settings) => settings,
        Err(conflicts) => {
            for conflict in conflicts {
                output::error(&conflict.to_string());
            }
            return Exit::Words;
        }
    };
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return cannot_start(&error),
    };
    let exit = runtime.block_on(run(settings));
    // Who ends the farm at once does not wait for keys that are still being made.
    runtime.shutdown_background();
    exit
}

async fn run(settings: Settings) -> Exit {
    let mut signals = match Signals::new() {
        Ok(signals) => signals,
        Err(error) => return cannot_start(&error),
    };
    let names = names(&settings);
    let started = tokio::select! {
        started = launch::start(settings) => started,
        () = signals.next() => return Exit::Interrupted,
    };
    let running = match started {
        Ok(running) => running,
        Err(error) => {
            output::error(&output::not_started(&error));
            return Exit::from(&error);
        }
    };
    // Whoever started the farm may close the pipe once it is ready, or not read at all: the farm is there for others.
    if let Err(error) = output::result(&welcome(&running, &names)) {
        output::error(&format!("cannot write to stdout: {error}"));
        return Exit::Unreached;
    }
    signals.next().await;
    output::notice("ending; a second signal ends at once");
    tokio::select! {
        () = running.shutdown() => Exit::Done,
        () = signals.next() => Exit::Interrupted,
    }
}

fn cannot_start(error: &io::Error) -> Exit {
    output::error(&format!("cannot start: {error}"));
    Exit::Unreached
}

/// Sends the log to stderr. Its words were checked as the flag was read.
fn log(filter: &str) {
    let coloured =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let format = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(coloured);
    let filter: Targets = filter.parse().unwrap_or_default();
    tracing_subscriber::registry().with(format).with(filter).init();
}

/// The signals that end a farm.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// The words by which `hosts` names the same peers, as a shell wants them.
fn names(settings: &Settings) -> String {
    let mut words = String::new();
    if let Some(mix) = &settings.roster {
        words.push_str(&format!(" --roster {mix}"));
    }
    if let Some(domain) = &settings.domain {
        words.push_str(&format!(" --domain '{domain}'"));
    }
    if let Some(directory) = &settings.peers_dir {
        words.push_str(&format!(" --peers-dir '{}'", directory.display()));
    }
    words
}

/// The peers, how to reach them, and the `ready` line.
fn welcome(running: &Running, names: &str) -> String {
    let (peers, addresses) = (running.peers(), running.addresses());
    let count = match peers.len() {
        1 => "1 peer".to_owned(),
        count => format!("{count} peers"),
    };
    let mut text = format!(
        "peerfarm {}: {count}, seed {}\n\n",
        env!("CARGO_PKG_VERSION"),
        running.seed()
    );
    let rows = peers.iter().take(PEERS_SHOWN).map(|peer| {
        let software = &peer.software;
        let actors = peer.actors.to_string();
        [
            peer.host.to_string(),
            software.name.clone(),
            software.version.clone(),
            actors,
            peer.origin.clone(),
        ]
    });
    text.push_str(&show::table(
        ["host", "software", "version", "actors", "url"],
        &["actors"],
        rows,
    ));
    if peers.len() > PEERS_SHOWN {
        text.push_str(&format!(
            "and {} more: `peerfarm peers`\n",
            peers.len() - PEERS_SHOWN
        ));
    }

    let federation = federation(addresses);
    text.push('\n');
    let mut curl = "curl".to_owned();
    if !addresses.listen.is_empty() {
        let authority = running.ca_file().display();
        let new = if running.new_authority() { " (new)" } else { "" };
        text.push_str(&format!("trust    {authority}{new}\n"));
        curl.push_str(&format!(" --cacert {authority}"));
    }
    text.push_str(&format!(
        "names    peerfarm hosts{names} | sudo tee -a /etc/hosts\n"
    ));
    if let (Some(peer), Some((_, address))) = (peers.first(), federation.first()) {
        let (address, handle) = (reachable(*address), peer.handle(Who::Actor(0)));
        text.push_str(&format!(
            "try      {curl} --connect-to ::{address} '{}/.well-known/webfinger?resource=acct:{handle}'\n",
            peer.origin,
        ));
    }
    text.push_str(&format!(
        "stats    http://{}/stats\n\n",
        reachable(addresses.control)
    ));
    text.push_str(&ready(addresses));
    text
}

/// The line that scripts wait for: each bound address, named by what answers there.
fn ready(addresses: &Addresses) -> String {
    let mut line = "ready".to_owned();
    for (scheme, address) in federation(addresses) {
        line.push_str(&format!(" federation={scheme}://{address}"));
    }
    line.push_str(&format!(" control=http://{}", addresses.control));
    if let Some(hooks) = addresses.hooks {
        line.push_str(&format!(" hooks=http://{hooks}"));
    }
    line.push('\n');
    line
}

/// Where peers answer, with the scheme.
fn federation(addresses: &Addresses) -> Vec<(&'static str, SocketAddr)> {
    let tls = addresses.listen.iter().map(|address| ("https", *address));
    tls.chain(addresses.listen_http.map(|address| ("http", address)))
        .collect()
}

/// An address by which this machine reaches a listener, also one that is bound to all of them.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// How many peers the greeting lists.
const PEERS_SHOWN: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_line_names_each_bound_address() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let mut addresses = Addresses {
            listen: vec![address("127.0.0.1:7443"), address("[::1]:7443")],
            listen_http: Some(address("127.0.0.1:7480")),
            control: address("127.0.0.1:7400"),
            hooks: Some(address("0.0.0.0:8080")),
        };
        assert_eq!(
            ready(&addresses),
            "ready federation=https://127.0.0.1:7443 federation=https://[::1]:7443 federation=http://127.0.0.1:7480 \
             control=http://127.0.0.1:7400 hooks=http://0.0.0.0:8080\n"
        );
        addresses = Addresses {
            listen: vec![],
            hooks: None,
            ..addresses
        };
        assert_eq!(
            ready(&addresses),
            "ready federation=http://127.0.0.1:7480 control=http://127.0.0.1:7400\n"
        );
    }
}
