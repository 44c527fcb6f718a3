//! What the farm adds to a signature: its whole signing of a delivery and its whole judging of one, against nothing but
//! the cryptographic library's own call with the same key. On one thread, in turns, by processor time, so that other
//! work on the machine counts for neither.
//!
//! `scripts/bench signatures` runs it; `cargo bench --bench signatures -- --pairs 5` takes the flags below.

#![allow(clippy::print_stdout, reason = "a benchmark's results go to stdout")]

mod rig;

use std::cell::Cell;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    KeyPair, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair,
};
use clap::Parser;
use http::{HeaderMap, HeaderValue};
use peerfarm::clock::Timestamp;
use peerfarm::signature::cavage::{self, ParameterOrder, Signing};
use peerfarm::signature::key::{Algorithm, SigningKey};
use peerfarm::signature::rfc9421::{self, Component, Message};
use peerfarm::signature::{self, Hs2019, Outcome, Parsed, Request, Terms, Window, content_digest, digest};

use rig::figures::{Spread, thread_time};
use rig::sender::{BODY_BYTES, body};

/// Measures the farm's signatures against the library's.
#[derive(Debug, Parser)]
struct Words {
    /// What `cargo bench` passes; without it nothing is measured, so that `cargo test --all-targets` stays quick.
    #[arg(long, hide = true)]
    bench: bool,
    /// How often each of the two is measured.
    #[arg(long, default_value_t = 101, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pairs: u32,
    /// How long each is measured.
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(20..=10_000))]
    millis: u64,
}

fn main() -> Result<()> {
    let words = Words::parse();
    if !words.bench {
        return Ok(());
    }
    let keys = Keys::generate()?;
    println!(
        "RSA of 2048 bits, PKCS#1 v1.5, SHA-256; {DISTINCT} deliveries with bodies of {BODY_BYTES} bytes"
    );
    println!(
        "signatures a second of one core's time, median of {}",
        words.pairs
    );
    for dialect in &DIALECTS {
        let deliveries: Vec<Delivery> = (0..DISTINCT)
            .map(|number| Delivery::signed(number, dialect, &keys))
            .collect::<Result<_>>()?;
        compare_signing(&words, dialect, &keys, &deliveries)?;
        compare_judging(&words, dialect, &keys, &deliveries)?;
    }
    Ok(())
}

/// How a dialect signs a delivery.
struct Dialect {
    name: &'static str,
    /// The farm's whole signing: adds to the headers what only the signature needs.
    sign: fn(&mut HeaderMap, &str, &SigningKey) -> Result<()>,
    /// What is signed, spelt out here rather than by the farm, for headers that are signed.
    base: fn(&HeaderMap) -> Result<String>,
}

const DIALECTS: [Dialect; 2] = [
    Dialect {
        name: "cavage",
        sign: sign_cavage,
        base: cavage_base,
    },
    Dialect {
        name: "RFC 9421",
        sign: sign_rfc9421,
        base: rfc9421_base,
    },
];

fn sign_cavage(headers: &mut HeaderMap, body: &str, key: &SigningKey) -> Result<()> {
    headers.insert(
        "digest",
        HeaderValue::try_from(digest::sha256_header(body.as_bytes()))?,
    );
    let signing = Signing {
        headers: &["(request-target)", "host", "date", "digest", "content-type"],
        algorithm: "rsa-sha256",
        computes: Algorithm::RsaV15Sha256,
        created: None,
        expires: None,
        key_id: KEY_ID,
        order: ParameterOrder::default(),
        query: true,
    };
    let signature = cavage::sign(&signing, &request(headers, body), key)?;
    headers.insert("signature", signature);
    Ok(())
}

fn cavage_base(headers: &HeaderMap) -> Result<String> {
    let digest = headers["digest"].to_str()?;
    Ok(format!(
        "(request-target): post {TARGET}\nhost: {HOST}\ndate: {DATE}\ndigest: {digest}\ncontent-type: {CONTENT_TYPE}"
    ))
}

fn sign_rfc9421(headers: &mut HeaderMap, body: &str, key: &SigningKey) -> Result<()> {
    headers.insert(
        "content-digest",
        HeaderValue::try_from(content_digest::sha256_header(body.as_bytes()))?,
    );
    let signing = rfc9421::Signing {
        label: "sig1",
        components: &MASTODONS,
        key_id: KEY_ID,
        algorithm: Algorithm::RsaV15Sha256,
        names_algorithm: false,
        created: Some(CREATED),
        expires: None,
        nonce: None,
        tag: None,
    };
    let signed = rfc9421::sign(&signing, &Message::Request(&request(headers, body)), key)?;
    headers.insert("signature-input", signed.input);
    headers.insert("signature", signed.signature);
    Ok(())
}

fn rfc9421_base(headers: &HeaderMap) -> Result<String> {
    let digest = headers["content-digest"].to_str()?;
    let listed = r#"("@method" "@target-uri" "content-digest")"#;
    let parameters = format!(r#"{listed};created={CREATED};keyid="{KEY_ID}""#);
    Ok(format!(
        "\"@method\": POST\n\"@target-uri\": https://{HOST}{TARGET}\n\"content-digest\": {digest}\n\"@signature-params\": {parameters}"
    ))
}

/// What Mastodon covers, read once as a profile is.
static MASTODONS: LazyLock<Vec<Component>> = LazyLock::new(|| {
    let names = ["\"@method\"", "\"@target-uri\"", "\"content-digest\""];
    let components = names
        .iter()
        .map(|name| name.parse().expect("the name of a component"));
    components.collect()
});

/// Digest, signature base, signature and header values, against the signature of that base.
fn compare_signing(words: &Words, dialect: &Dialect, keys: &Keys, deliveries: &[Delivery]) -> Result<()> {
    let mut signature = vec![0; keys.raw.public_modulus_len()];
    let random = SystemRandom::new();
    let raw = |delivery: &Delivery| -> Result<()> {
        let base = delivery.base.as_bytes();
        let signed = keys.raw.sign(&RSA_PKCS1_SHA256, &random, base, &mut signature);
        signed.ok().context("no signature")?;
        black_box(&signature);
        Ok(())
    };
    let farm = |delivery: &Delivery| -> Result<()> {
        let mut headers = unsigned();
        (dialect.sign)(&mut headers, &delivery.body, &keys.farm)?;
        black_box(headers);
        Ok(())
    };
    let what = format!("sign, {}", dialect.name);
    compare(&what, 0.90, words, deliveries, raw, farm)
}

/// Parsing and every check, against the verification of one signature; the key is at hand and read for both.
fn compare_judging(words: &Words, dialect: &Dialect, keys: &Keys, deliveries: &[Delivery]) -> Result<()> {
    let raw = |delivery: &Delivery| -> Result<()> {
        let verified = keys
            .public
            .verify_sig(delivery.base.as_bytes(), &delivery.signature);
        verified.ok().context("the signature does not hold")
    };
    let farm = |delivery: &Delivery| -> Result<()> {
        let request = request(&delivery.headers, &delivery.body);
        let Parsed::Signed(found) = signature::parse(&request) else {
            anyhow::bail!("no signature was found");
        };
        let verdict = found[0].verify(&request, keys.farm.public_key(), TERMS);
        ensure!(verdict.result == Outcome::Valid, "{:?}", verdict.findings);
        black_box(verdict);
        Ok(())
    };
    let what = format!("judge, {}", dialect.name);
    compare(&what, 0.75, words, deliveries, raw, farm)
}

/// Runs the two in turns and prints one line: both rates, and what the farm reaches of the other.
fn compare(
    what: &str,
    aim: f64,
    words: &Words,
    deliveries: &[Delivery],
    raw: impl FnMut(&Delivery) -> Result<()>,
    farm: impl FnMut(&Delivery) -> Result<()>,
) -> Result<()> {
    let time = Duration::from_millis(words.millis);
    let (mut raw, mut farm) = (Turns::new(deliveries, raw), Turns::new(deliveries, farm));
    // Unmeasured, so that neither pays for first allocations and cold caches.
    raw.rate(time)?;
    farm.rate(time)?;
    let (mut raws, mut farms, mut ratios, mut added) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for pair in 0..words.pairs {
        // Whoever comes second may find a warmer or a slower machine: they take turns in that too.
        let (raw, farm) = if pair % 2 == 0 {
            let raw = raw.rate(time)?;
            (raw, farm.rate(time)?)
        } else {
            let farm = farm.rate(time)?;
            (raw.rate(time)?, farm)
        };
        raws.push(raw);
        farms.push(farm);
        ratios.push(farm / raw);
        added.push(1e6 / farm - 1e6 / raw);
    }
    let (raw, farm, ratio) = (Spread::of(raws), Spread::of(farms), Spread::of(ratios));
    println!(
        "{what:<16} raw {:>8.0}  farm {:>8.0}  the farm reaches {:.3} of raw ({:.3} to {:.3} pair by pair); aim {aim:.2}; \
         it adds {:.2} us",
        raw.median,
        farm.median,
        ratio.median,
        ratio.least,
        ratio.most,
        Spread::of(added).median,
    );
    Ok(())
}

/// One of the two, going round the deliveries.
struct Turns<'a, F> {
    deliveries: &'a [Delivery],
    next: Cell<usize>,
    run: F,
}

impl<'a, F: FnMut(&Delivery) -> Result<()>> Turns<'a, F> {
    fn new(deliveries: &'a [Delivery], run: F) -> Turns<'a, F> {
        Turns {
            deliveries,
            next: Cell::new(0),
            run,
        }
    }

    /// Runs for that much processor time, and tells how many times a second of it.
    fn rate(&mut self, time: Duration) -> Result<f64> {
        let (began, mut runs) = (thread_time()?, 0_u32);
        loop {
            for _ in 0..RUNS_BETWEEN_LOOKS {
                let next = self.next.get();
                (self.run)(&self.deliveries[next])?;
                self.next.set((next + 1) % self.deliveries.len());
            }
            runs += RUNS_BETWEEN_LOOKS;
            let took = thread_time()?.saturating_sub(began);
            if took >= time {
                return Ok(f64::from(runs) / took.as_secs_f64());
            }
        }
    }
}

/// One key pair, read by both.
struct Keys {
    farm: SigningKey,
    raw: RsaKeyPair,
    public: ParsedPublicKey,
}

impl Keys {
    fn generate() -> Result<Keys> {
        let farm = SigningKey::generate_rsa(2_048)?;
        let (_, der) = pem_rfc7468::decode_vec(farm.pkcs8_pem()?.as_bytes())?;
        let raw = RsaKeyPair::from_pkcs8(&der).ok().context("no key")?;
        let public = raw.public_key().as_der().ok().context("no public key")?;
        let public = ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public.as_ref()).ok();
        Ok(Keys {
            farm,
            raw,
            public: public.context("no public key")?,
        })
    }
}

/// A delivery that is signed.
struct Delivery {
    body: String,
    headers: HeaderMap,
    base: String,
    /// Of the base, by the library.
    signature: Vec<u8>,
}

impl Delivery {
    fn signed(number: u64, dialect: &Dialect, keys: &Keys) -> Result<Delivery> {
        let body = body("https://a.test", number);
        ensure!(body.len() == BODY_BYTES, "the bodies have {} bytes", body.len());
        let mut headers = unsigned();
        (dialect.sign)(&mut headers, &body, &keys.farm)?;
        let base = (dialect.base)(&headers)?;
        let mut signature = vec![0; keys.raw.public_modulus_len()];
        let signed = keys.raw.sign(
            &RSA_PKCS1_SHA256,
            &SystemRandom::new(),
            base.as_bytes(),
            &mut signature,
        );
        signed.ok().context("no signature")?;
        Ok(Delivery {
            body,
            headers,
            base,
            signature,
        })
    }
}

/// The headers of a delivery without those of a signature.
fn unsigned() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static(HOST));
    headers.insert("date", HeaderValue::from_static(DATE));
    headers.insert("content-type", HeaderValue::from_static(CONTENT_TYPE));
    headers
}

fn request<'a>(headers: &'a HeaderMap, body: &'a str) -> Request<'a> {
    Request {
        method: "POST",
        target: TARGET,
        scheme: "https",
        headers,
        authority: Some(HOST),
        body: body.as_bytes(),
    }
}

/// How many different deliveries each of the two goes round.
const DISTINCT: u64 = 256;
/// So many that looking at the clock does not count.
const RUNS_BETWEEN_LOOKS: u32 = 32;
const KEY_ID: &str = "https://a.test/users/alice#main-key";
const TARGET: &str = "/users/bob/inbox";
const HOST: &str = "b.test";
const CREATED: i64 = 1_700_000_000;
/// The same moment.
const DATE: &str = "Tue, 14 Nov 2023 22:13:20 GMT";
const CONTENT_TYPE: &str = "application/activity+json";
const TERMS: Terms = Terms {
    window: Window {
        past: Duration::from_secs(3_600),
        future: Duration::from_secs(3_600),
    },
    hs2019: Hs2019::Sha256,
    now: Timestamp::from_unix(CREATED),
};
