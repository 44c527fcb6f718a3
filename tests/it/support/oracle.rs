//! `http-sig`, which judges the farm's signatures and shares nothing with the farm but the key's mathematics.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_sig::mock_request::MockRequest;
use http_sig::{HttpSignatureVerify, SimpleKeyProvider, VerifyingConfig, VerifyingExt};
use peerfarm::signature::key::{Algorithm, VerifyingKey};
use serde_json::Value;

use super::raw;
use super::sut::Received;

/// Whose key made the signature of a request, as `http-sig` judges by the key of a document.
pub fn signer(request: &Received, key: &Value) -> Option<String> {
    judged(request, key, |config| config)
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
