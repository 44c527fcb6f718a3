//! `http-sig` and `httpsig`, which judge the farm's signatures and share nothing with the farm but, the former, the
//! key's mathematics.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_sig::mock_request::MockRequest;
use http_sig::{HttpSignatureVerify, SimpleKeyProvider, VerifyingConfig, VerifyingExt};
use httpsig::prelude::message_component::{HttpMessageComponent, HttpMessageComponentId};
use httpsig::prelude::{AlgorithmName, HttpSignatureBase, HttpSignatureHeaders, PublicKey};
use peerfarm::signature::key::{Algorithm, VerifyingKey};
use serde_json::Value;

use super::raw;
use super::sut::Received;

/// Whose key made the signature of a request, as `http-sig` judges by the key of a document. A fetch needs no digest.
pub fn signer(request: &Received, key: &Value) -> Option<String> {
    let is_delivery = request.method == "POST";
    judged(request, key, |config| config.with_require_digest(is_delivery))
}

/// The same, whatever its digest and its date are, and whatever it covers.
pub fn signer_at_least(request: &Received, key: &Value) -> Option<String> {
    judged(request, key, |config| {
        config
            .with_required_headers(&[])
            .with_require_digest(false)
            .with_validate_digest(false)
            .with_validate_date(false)
    })
}

fn judged(
    request: &Received,
    key: &Value,
    by: impl FnOnce(VerifyingConfig) -> VerifyingConfig,
) -> Option<String> {
    #[derive(Debug)]
    struct Key(VerifyingKey);
    impl HttpSignatureVerify for Key {
        fn http_verify(&self, bytes: &[u8], signature: &str) -> bool {
            let signature = STANDARD.decode(signature);
            self.0
                .verifies(Algorithm::RsaV15Sha256, bytes, &signature.unwrap())
        }
    }
    let public = VerifyingKey::from_pem(key["publicKeyPem"].as_str().unwrap()).unwrap();
    let keys = [(
        key["id"].as_str().unwrap(),
        Arc::new(Key(public)) as Arc<dyn HttpSignatureVerify>,
    )];
    let mut headers = request.headers.clone();
    // The same parameters stand behind the scheme word (draft-cavage-12 sections 3.1 and 4.1).
    let signature = headers.remove("signature")?;
    let credentials = format!("Signature {}", signature.to_str().ok()?);
    headers.insert("authorization", credentials.parse().ok()?);
    let mut bytes = raw::head(&request.method, &request.path, &headers, 0);
    bytes.extend_from_slice(&request.body);
    let request = MockRequest::from_reader(&mut bytes.as_slice()).ok()?;
    let config = by(VerifyingConfig::new(SimpleKeyProvider::new(keys)));
    let verified = request.verify(&config);
    Some(verified.ok()?.1.key_id().to_owned())
}

/// Whose key made the RFC 9421 signature of a request, as `httpsig` judges by the key of a document, where the digest
/// is the body's. `httpsig` takes components as values, which are made here of what arrived, by section 2.
pub fn signer_rfc9421(request: &Received, key: &Value) -> Option<String> {
    let (signature, input) = (request.header("signature")?, request.header("signature-input")?);
    let read = HttpSignatureHeaders::try_parse(signature, input).ok()?;
    let (_, headers) = read.first()?;
    let params = headers.signature_params();
    let lines = params.covered_components.iter().map(|id| line(request, id));
    let lines: Option<Vec<HttpMessageComponent>> = lines.collect();
    let public = PublicKey::from_pem(
        &AlgorithmName::RsaV1_5Sha256,
        key["publicKeyPem"].as_str().unwrap(),
    )
    .unwrap();
    let base = HttpSignatureBase::try_new(&lines?, params).ok()?;
    base.verify_signature_headers(&public, headers).ok()?;
    if let Some(digest) = request.header("content-digest") {
        let of_body = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &request.body);
        assert_eq!(digest, format!("sha-256=:{}:", STANDARD.encode(of_body)));
    }
    (params.keyid.as_deref() == key["id"].as_str())
        .then(|| params.keyid.clone())
        .flatten()
}

/// The line of a component, by what arrived at a server without TLS.
fn line(request: &Received, id: &HttpMessageComponentId) -> Option<HttpMessageComponent> {
    let name = id.to_string();
    let name = name.trim_matches('"');
    let value = match name {
        "@method" => request.method.clone(),
        "@authority" => request.header("host")?.to_owned(),
        "@target-uri" => format!("http://{}{}", request.header("host")?, request.path),
        derived if derived.starts_with('@') => return None,
        field => request.header(field)?.to_owned(),
    };
    HttpMessageComponent::try_from((id, [value].as_slice())).ok()
}
