//! The authorities of a farm's hosts: which of those on disk signs for which host.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::Timestamp;
use crate::ids::Host;
use crate::store::authority::{Authority, AuthorityCertificate, Leaf};
use crate::store::error::StoreError;

/// For each host of a farm the authority that signs for it.
#[derive(Debug)]
pub struct Authorities {
    by_host: HashMap<Host, Arc<Authority>>,
    made: Option<Arc<Authority>>,
}

impl Authorities {
    /// Gives each host the first authority that permits it; the hosts that none permits come back for [`Self::add`].
    pub(super) fn assign(
        known: &[Arc<Authority>],
        hosts: &[Host],
        now: Timestamp,
    ) -> (Authorities, Vec<Host>) {
        let mut by_host = HashMap::with_capacity(hosts.len());
        let mut homeless = Vec::new();
        for host in hosts {
            match known
                .iter()
                .find(|authority| authority.certificate().permits(host, now))
            {
                Some(authority) => {
                    by_host.insert(host.clone(), Arc::clone(authority));
                }
                None => homeless.push(host.clone()),
            }
        }
        homeless.sort();
        homeless.dedup();
        (Authorities { by_host, made: None }, homeless)
    }

    /// Gives these hosts an authority that was made for them.
    pub(super) fn add(&mut self, hosts: Vec<Host>, made: Arc<Authority>) {
        self.by_host
            .extend(hosts.into_iter().map(|host| (host, Arc::clone(&made))));
        self.made = Some(made);
    }

    /// The authority that had to be made, which nobody trusts yet.
    pub fn made(&self) -> Option<&AuthorityCertificate> {
        self.made.as_ref().map(|authority| authority.certificate())
    }

    /// The certificate of the authority that signs for a host.
    pub fn authority(&self, host: &Host) -> Option<&AuthorityCertificate> {
        self.by_host.get(host).map(|authority| authority.certificate())
    }

    /// The hosts, in no order.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.by_host.keys()
    }

    /// The certificates of the authorities that sign for these hosts, each once.
    pub fn certificates(&self) -> Vec<&AuthorityCertificate> {
        let mut certificates: Vec<_> = self
            .by_host
            .values()
            .map(|authority| authority.certificate())
            .collect();
        certificates.sort_by_key(|certificate| certificate.key_id());
        certificates.dedup_by_key(|certificate| certificate.key_id());
        certificates
    }

    /// Makes a certificate for a host; `None` where the host is none of the farm's.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn leaf(&self, host: &Host, now: Timestamp) -> Option<Result<Leaf, StoreError>> {
        let authority = self.by_host.get(host)?;
        let failed = |source| StoreError::Sign {
            what: format!("a certificate for `{host}`"),
            source,
        };
        Some(authority.leaf(host, now).map_err(failed))
    }
}
