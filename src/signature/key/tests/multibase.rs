//! Multikey, by the vectors of FEP-521a and of the did:key method.

use super::*;

use crate::signature::fixture::{ed25519, rsa};
use crate::signature::key::{KeyError, KeyKind, MAX_MULTIBASE};

/// x and y of the vector's JWK, in an SPKI.
const P384_OF_DID_KEY: &str = "-----BEGIN PUBLIC KEY-----\n\
    MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAECA+iNoHDg1lL8pvX3d1uvExzVfCz7Rn6\n\
    tW781Ub8K5MrDf2IMPyL0RTDiaLHC1JTKpnrn8DkXUD3ge4mFxi+DKr0DYO2KuJd\n\
    wNBrhzLRtfMa3WFMZBiPKUPfJj8dYNl/\n\
    -----END PUBLIC KEY-----\n";

fn error(text: &str) -> String {
    VerifyingKey::from_multibase(text).unwrap_err().to_string()
}

#[test]
fn the_key_of_fep_521a_is_read() {
    let text = "z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ2";
    let key = VerifyingKey::from_multibase(text).unwrap();
    assert_eq!(key.kind(), KeyKind::Ed25519);
    assert_eq!(key.multibase().as_deref(), Some(text));
    // The same 32 bytes behind the prefix of an SPKI (RFC 8410), computed with Python's integers.
    assert!(
        key.pem()
            .unwrap()
            .contains("MCowBQYDK2VwAyEAsA2Nk45/dz1RVlqtNqYj9TRPf10ZYPnPPo4SYg6igQ8=")
    );
}

#[test]
fn compressed_points_of_both_curves_are_read() {
    // did:key method, test vectors of P-256 and P-384, beside the coordinates they give.
    let p256 = VerifyingKey::from_multibase("zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv").unwrap();
    assert_eq!(
        p256.pem().unwrap(),
        "-----BEGIN PUBLIC KEY-----\n\
         MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEigrFmi0whuihKnj9R3Om1SoMph72\n\
         wUGeFaBbzG2vznt5+xflvXTHzKPKuPifLekZ8txjtdvLUrOCo52qeyskgw==\n\
         -----END PUBLIC KEY-----\n"
    );
    let p384 = VerifyingKey::from_multibase(
        "z82LkvCwHNreneWpsgPEbV3gu1C6NFJEBg4srfJ5gdxEsMGRJUz2sG9FE42shbn2xkZJh54",
    );
    let p384 = p384.unwrap();
    assert_eq!((p256.kind(), p384.kind()), (KeyKind::P256, KeyKind::P384));
    assert_eq!(p384.pem().unwrap(), P384_OF_DID_KEY);
    assert_eq!(p384.multibase(), None);
}

#[test]
fn multibase_is_written_for_ed25519() {
    // Computed with Node's BigInt from the same key.
    assert_eq!(
        ed25519().multibase().as_deref(),
        Some("z6MkvNj7LXbSWxHPQn8cGzhabgzzJqTSni62ANDDkMAtqYML")
    );
    assert_eq!(rsa().multibase(), None);
}

#[test]
fn what_is_no_multibase_key_says_why() {
    assert!(error("").contains("`z`"));
    assert!(error("u7QGvsdekcuQceonQGNWbkGVlVWVXsJ93ROYEXBJWsiIPow").contains("`z`"));
    assert!(error("z6MkrJVnaZkeFzdQyMZu1cgjg7k1pZZ6pvBQ7XJPt4swbTQ0").contains("no base58btc"));
    // The FEP's key without its last byte.
    assert!(error("z2DQXex1MkDcBCF99h1CnTDB83tS7FAzWSBxzDJY1hJS4Gx").contains("length"));
    // secp256k1, of the did:key method.
    assert!(error("zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme").contains("multicodec"));
    assert!(error("z").contains("multicodec"));
    let long = format!("z{}", "1".repeat(MAX_MULTIBASE));
    assert_eq!(
        VerifyingKey::from_multibase(&long).unwrap_err(),
        KeyError::TooLong(MAX_MULTIBASE + 1)
    );
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "z?[1-9A-HJ-NP-Za-km-z]{0,80}|\\PC{0,20}") {
        let _ = VerifyingKey::from_multibase(&text);
    }
}
