//! What needs no running farm: where the CA is, the farm's names, completions.

use std::path;

use clap::CommandFactory;

use crate::command::serve::Settings;
use crate::command::{Certs, Cli, Completions, Hosts};
use crate::farm::HOOKS_HOST;
use crate::launch;
use crate::runner::{Failure, Outcome};
use crate::store::Store;

pub(super) fn certs(words: &Certs) -> Result<Outcome, Failure> {
    let bundle = Store::read(&words.state.state)?;
    // A server under test may run in another directory.
    let file = path::absolute(&bundle.path).unwrap_or(bundle.path);
    Ok(Outcome::Authorities {
        file,
        pem: bundle.pem,
    })
}

pub(super) fn hosts(words: &Hosts) -> Result<Outcome, Failure> {
    let names = words.names.clone();
    let roster = launch::roster(&Settings {
        peers_dir: names.peers_dir,
        roster: names.roster,
        domain: names.domain,
        ..Settings::default()
    })?;
    let peers = roster.hosts().map(|host| host.to_string());
    Ok(Outcome::Names {
        hosts: peers.chain([HOOKS_HOST.to_owned()]).collect(),
        address: words.address,
    })
}

pub(super) fn completions(words: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(words.shell, &mut Cli::command(), "peerfarm", &mut script);
    Outcome::Script(String::from_utf8_lossy(&script).into_owned())
}
