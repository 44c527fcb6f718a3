//! What the specifications publish, byte for byte.

use super::*;

use serde_json::json;

/// The key pair of the W3C's vectors (TestVectors/keyPair.json of w3c/vc-di-eddsa), which FEP-8b32 uses too.
fn key() -> SigningKey {
    SigningKey::from_pem(include_str!("../../../tests/fixtures/proof/w3c-ed25519.pem")).unwrap()
}

/// When all of them were made: 2023-02-24T23:36:38Z.
const CREATED: Timestamp = Timestamp::from_unix(1_677_281_798);

fn hashed(proof: &Proof) -> Hashed {
    // A verdict shows what was hashed where something does not hold.
    let verdict = proof.verify_without_key(Reason::KeyGone, "", terms(CREATED));
    assert_eq!(verdict.findings.len(), 1, "{verdict:?}");
    verdict.hashed.unwrap()
}

/// fep-8b32.feature of codeberg.org/fediverse/fep: the document, and the value of its proof.
fn fep_8b32(integrity: &str) -> Value {
    json!({
        "@context": [AS, integrity],
        "id": "https://server.example/activities/1",
        "type": "Create",
        "actor": "https://server.example/users/alice",
        "object": {
            "id": "https://server.example/objects/1",
            "type": "Note",
            "attributedTo": "https://server.example/users/alice",
            "content": "Hello world",
            "location": { "type": "Place", "longitude": -71.184902, "latitude": 25.273962 },
        },
    })
}

#[test]
fn proofs_are_those_of_fep_8b32() {
    assert_eq!(
        key().multibase().as_deref(),
        Some("z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2")
    );
    for (integrity, value) in [
        (
            "https://w3id.org/security/data-integrity/v1",
            "zLaewdp4H9kqtwyrLatK4cjY5oRHwVcw4gibPSUDYDMhi4M49v8pcYk3ZB6D69dNpAPbUmY8ocuJ3m9KhKJEEg7z",
        ),
        // The vector as it has been since the second context; taken from the tests of Mastodon.
        (
            "https://w3id.org/security/data-integrity/v2",
            "z42ffGu6AUKPCFcFPiabmUvnGLPJzC7e4DGWC52NUasSSH37UMa9c58tdgVszUcZfytxa4fQ5TYHaJENCxUDe9SdL",
        ),
    ] {
        let mut document = object(fep_8b32(integrity));
        let method = "https://server.example/users/alice#ed25519-key";
        sign_eddsa_jcs_2022(&mut document, method, CREATED, &key()).unwrap();
        let mut expected = object(fep_8b32(integrity));
        expected.insert(
            "proof".to_owned(),
            json!({
                "@context": [AS, integrity],
                "type": "DataIntegrityProof",
                "cryptosuite": "eddsa-jcs-2022",
                "verificationMethod": method,
                "proofPurpose": "assertionMethod",
                "proofValue": value,
                "created": "2023-02-24T23:36:38Z",
            }),
        );
        assert_eq!(document, expected);
        let document = Value::Object(document);
        let verdict = find(&document)[0].verify(key().public_key(), terms(CREATED));
        assert_eq!(
            (verdict.result, verdict.notes.len()),
            (Outcome::Valid, 0),
            "{verdict:?}"
        );
        assert_eq!(verdict.key_id.as_deref(), Some(method));
    }
}

/// W3C Data Integrity EdDSA Cryptosuites 1.0, "Representation: eddsa-jcs-2022": every step.
#[test]
fn proofs_are_those_of_the_w3c() {
    let mut document = object(json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", "https://www.w3.org/ns/credentials/examples/v2"],
        "id": "urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33",
        "type": ["VerifiableCredential", "AlumniCredential"],
        "name": "Alumni Credential",
        "description": "A minimum viable example of an Alumni Credential.",
        "issuer": "https://vc.example/issuers/5678",
        "validFrom": "2023-01-01T00:00:00Z",
        "credentialSubject": { "id": "did:example:abcdefgh", "alumniOf": "The School of Examples" },
    }));
    let method = "did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2\
        #z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2";
    sign_eddsa_jcs_2022(&mut document, method, CREATED, &key()).unwrap();
    assert_eq!(
        document["proof"]["proofValue"],
        "z2HnFSSPPBzR36zdDgK8PbEHeXbR56YF24jwMpt3R1eHXQzJDMWS93FCzpvJpwTWd3GAVFuUfjoJdcnTMuVor51aX"
    );
    let document = Value::Object(document);
    let proof = find(&document)[0];
    assert_eq!(
        proof.verify(key().public_key(), terms(CREATED)).result,
        Outcome::Valid
    );
    let hashed = hashed(&proof);
    assert_eq!(
        hashed.document,
        "{\"@context\":[\"https://www.w3.org/ns/credentials/v2\",\"https://www.w3.org/ns/credentials/examples/v2\"],\
        \"credentialSubject\":{\"alumniOf\":\"The School of Examples\",\"id\":\"did:example:abcdefgh\"},\
        \"description\":\"A minimum viable example of an Alumni Credential.\",\
        \"id\":\"urn:uuid:58172aac-d8ba-11ed-83dd-0b3aef56cc33\",\"issuer\":\"https://vc.example/issuers/5678\",\
        \"name\":\"Alumni Credential\",\"type\":[\"VerifiableCredential\",\"AlumniCredential\"],\
        \"validFrom\":\"2023-01-01T00:00:00Z\"}"
    );
    assert_eq!(
        hashed.options,
        "{\"@context\":[\"https://www.w3.org/ns/credentials/v2\",\"https://www.w3.org/ns/credentials/examples/v2\"],\
        \"created\":\"2023-02-24T23:36:38Z\",\"cryptosuite\":\"eddsa-jcs-2022\",\"proofPurpose\":\"assertionMethod\",\
        \"type\":\"DataIntegrityProof\",\"verificationMethod\":\
        \"did:key:z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2#z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2\"}"
    );
    assert_eq!(
        hashed.text(),
        "66ab154f5c2890a140cb8388a22a160454f80575f6eae09e5a097cabe539a1db\
        59b7cb6251b8991add1ce0bc83107e3db9dbbab5bd2c28f687db1a03abc92f19"
    );
}

/// The canonical JSON of a document, as the verdict on a proof inside it shows it.
fn canonical(members: &str) -> String {
    let proof = r#""proof": {"type": "DataIntegrityProof", "cryptosuite": "eddsa-jcs-2022", "proofValue": "z",
        "proofPurpose": "assertionMethod", "verificationMethod": "x"}"#;
    let document: Value = serde_json::from_str(&format!("{{{members}, {proof}}}")).unwrap();
    let verdict = find(&document)[0].verify_without_key(Reason::KeyGone, "", terms(NOW));
    verdict.hashed.unwrap().document
}

#[test]
fn canonical_json_is_that_of_rfc_8785() {
    // Section 3.2.2.
    let members = r#"
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]"#;
    assert_eq!(
        canonical(members),
        r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
    );
    // Section 3.2.3: names are sorted by their UTF-16, in which the emoji comes before the Hebrew letter.
    let members = r#"
        "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis""#;
    assert_eq!(
        canonical(members),
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\
        \"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}"
    );
}

#[test]
fn canonical_numbers_are_those_of_rfc_8785() {
    // Appendix B.
    for (bits, expected) in [
        (0x0000_0000_0000_0000_u64, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        // Read from text, as numbers come.
        let text = format!("{:e}", f64::from_bits(bits));
        assert_eq!(
            canonical(&format!("\"n\": {text}")),
            format!("{{\"n\":{expected}}}"),
            "{text}"
        );
    }
    // Whole numbers are doubles, too, in ECMAScript.
    assert_eq!(canonical("\"n\": 9007199254740993"), "{\"n\":9007199254740992}");
}
