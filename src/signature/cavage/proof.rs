//! The last of the checks: whether the key fits and verifies.

use crate::signature::cavage::algorithm::{self, NAMES};
use crate::signature::cavage::base::{Base, REQUEST_TARGET};
use crate::signature::cavage::{Header, guess};
use crate::signature::key::{Algorithm, VerifyingKey};
use crate::signature::{Finding, Hs2019, Reason, Request, Verdict, mismatch};

/// What is to be proven.
pub(super) struct Proof<'a> {
    pub(super) header: &'a Header,
    pub(super) request: &'a Request<'a>,
    pub(super) base: &'a Base<'a>,
    /// The signature, where its base64 could be read.
    pub(super) signature: Option<&'a [u8]>,
    pub(super) key: &'a VerifyingKey,
}

impl Proof<'_> {
    /// Verifies the base; where it does not hold, looks whether what senders are known to sign instead does.
    pub(super) fn check(&self, hs2019: Hs2019, verdict: &mut Verdict) {
        let kind = self.key.kind();
        // A name in capitals is a finding already; whoever lets that pass means the algorithm it names.
        let name = self.header.algorithm.as_deref().map(str::to_ascii_lowercase);
        let algorithm = algorithm::computed(name.as_deref(), kind, hs2019).unwrap_or_else(|| {
            let name = name.unwrap_or_default();
            if NAMES.contains(&name.as_str()) {
                let detail = format!("algorithm `{name}`, but the key is {kind}");
                verdict.add(Finding::new(Reason::UnsupportedAlgorithm, detail));
            }
            kind.algorithm()
        });
        verdict.algorithm = Some(algorithm);
        if let Some(form) = self.verifies(algorithm, &self.base.bytes()) {
            verdict.notes.extend(form.note());
            return;
        }
        let short = self.base.without_query();
        let omitted = short.and_then(|short| Some((self.verifies(algorithm, &short.bytes())?, short)));
        if let Some((form, short)) = omitted {
            let target = |base: &Base| {
                String::from_utf8_lossy(base.value(REQUEST_TARGET).unwrap_or_default()).into_owned()
            };
            let detail = format!(
                "signed is `{}`; asked for was `{}`",
                target(&short),
                target(self.base)
            );
            verdict.notes.extend(form.note());
            verdict.notes.push("query_omitted");
            verdict.add(Finding::new(Reason::QueryOmitted, detail));
            return;
        }
        let slip = guess::slip(self, algorithm).map(|slip| format!("; it does {slip}"));
        let slip = slip.or_else(|| {
            let words = mismatch::words(self.key, algorithm, self.signature?, &self.base.bytes())?;
            Some(format!("; {words}"))
        });
        let detail = format!(
            "the {kind} key `{}` does not verify the signature over the base the farm built{}",
            self.header.key_id(),
            slip.unwrap_or_default()
        );
        verdict.add(Finding::new(Reason::SignatureMismatch, detail));
    }

    /// In which form the signature is the key's over these bytes, if it is. The draft leaves open which of the two
    /// forms an ECDSA signature has, so both are read.
    pub(super) fn verifies(&self, algorithm: Algorithm, bytes: &[u8]) -> Option<Form> {
        let signature = self.signature?;
        if self.key.verifies(algorithm, bytes, signature) {
            return Some(Form::Plain);
        }
        let ecdsa = matches!(algorithm, Algorithm::EcdsaP256Sha256 | Algorithm::EcdsaP384Sha384);
        (ecdsa && self.key.verifies_asn1(algorithm, bytes, signature)).then_some(Form::Der)
    }
}

/// The form of a signature.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// The DER of two integers.
    Der,
    /// What the algorithm gives; for ECDSA two integers side by side.
    Plain,
}

impl Form {
    fn note(self) -> Option<&'static str> {
        match self {
            Form::Der => Some("ecdsa_der"),
            Form::Plain => None,
        }
    }
}
