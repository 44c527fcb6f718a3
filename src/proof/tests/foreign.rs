//! Proofs that others made (`tests/fixtures/proof/README.md`). Both kinds of signatures are deterministic, so what the
//! farm signs is what they sign, to the byte, and what they verify.

use super::*;

use serde::Deserialize;

#[derive(Deserialize)]
struct Foreign {
    name: String,
    by: String,
    document: Value,
    options_nquads: Option<String>,
    document_nquads: Option<String>,
}

fn integrity_proofs() -> Vec<Foreign> {
    serde_json::from_str(include_str!("../../../tests/fixtures/proof/eddsa_jcs_2022.json")).unwrap()
}

fn rsa_signatures() -> Vec<Foreign> {
    serde_json::from_str(include_str!(
        "../../../tests/fixtures/proof/rsa_signature_2017.json"
    ))
    .unwrap()
}

#[test]
fn what_others_prove_is_valid_here() {
    for (foreign, key) in integrity_proofs()
        .iter()
        .map(|foreign| (foreign, ed25519()))
        .chain(rsa_signatures().iter().map(|foreign| (foreign, rsa())))
    {
        let verdict = verdict(&foreign.document, &key);
        assert_eq!(
            verdict.result,
            Outcome::Valid,
            "{} by {}: {verdict:#?}",
            foreign.name,
            foreign.by
        );
        assert_eq!((verdict.hashed, verdict.notes), (None, Vec::new()));
    }
}

#[test]
fn what_the_farm_proves_is_what_others_prove() {
    for foreign in integrity_proofs() {
        let mut ours = object(foreign.document.clone());
        sign_eddsa_jcs_2022(&mut ours, ED25519_KEY_ID, NOW, &ed25519()).unwrap();
        assert_eq!(Value::Object(ours), foreign.document, "{}", foreign.name);
    }
    let mut made = 0;
    for foreign in rsa_signatures() {
        let signature = &foreign.document["signature"];
        if signature.get("nonce").is_some() {
            continue;
        }
        let expires = signature
            .get("expires")
            .and_then(|text| Timestamp::parse_rfc3339(text.as_str()?));
        let mut ours = object(foreign.document.clone());
        sign_rsa_signature_2017(&mut ours, RSA_KEY_ID, NOW, expires, &rsa()).unwrap();
        assert_eq!(Value::Object(ours), foreign.document, "{}", foreign.name);
        made += 1;
    }
    assert!(made > 10, "{made}");
}

#[test]
fn canonical_rdf_is_that_of_others() {
    for foreign in rsa_signatures() {
        let proof = find(&foreign.document)[0];
        let verdict = proof.verify_without_key(Reason::KeyGone, "", terms(NOW));
        let hashed = verdict.hashed.unwrap();
        assert_eq!(Some(hashed.options), foreign.options_nquads, "{}", foreign.name);
        assert_eq!(Some(hashed.document), foreign.document_nquads, "{}", foreign.name);
    }
}
