//! What an RSA signature was made over. PKCS#1 v1.5 hands the signed digest back (RFC 8017 sections 8.2.2 and 9.2),
//! so a signature that does not verify can still tell another key from another signature base. For the words of a
//! verdict alone: whether a signature holds, the cryptographic library says.

use num_bigint::BigUint;
use pkcs1::RsaPublicKey;
use pkcs1::der::asn1::UintRef;

use crate::signature::key::VerifyingKey;

/// The digest that a key's owner signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The name of the hash: `SHA-256`.
    pub hash: &'static str,
    /// The digest.
    pub digest: Vec<u8>,
}

impl VerifyingKey {
    /// The digest inside of a signature, where this is the RSA key that made it by PKCS#1 v1.5.
    pub fn recover(&self, signature: &[u8]) -> Option<Recovered> {
        let key = RsaPublicKey::<UintRef>::try_from(self.pkcs1()?).ok()?;
        let modulus = key.modulus.as_bytes();
        let (n, e) = (
            BigUint::from_bytes_be(modulus),
            BigUint::from_bytes_be(key.public_exponent.as_bytes()),
        );
        // What a stranger publishes may be of any size; the exponent in use is 65537.
        if signature.len() != modulus.len() || e.bits() > EXPONENT_BITS {
            return None;
        }
        let message = BigUint::from_bytes_be(signature).modpow(&e, &n).to_bytes_be();
        // 00 01 FF ... FF 00, then the DER of the digest; the first zero is no digit of the number.
        let padded = message.strip_prefix(&[1])?;
        let end = padded.iter().position(|byte| *byte != 0xff)?;
        let info = padded.get(end..)?.strip_prefix(&[0])?;
        HASHES.iter().find_map(|(hash, prefix, length)| {
            let digest = info.strip_prefix(*prefix)?;
            (digest.len() == *length).then(|| Recovered {
                hash,
                digest: digest.to_vec(),
            })
        })
    }
}

/// The longest exponent that is computed with, in bits.
const EXPONENT_BITS: u64 = 32;

/// The hashes by the DER that stands before their digest (RFC 8017 section 9.2, note 1), and the digest's length.
const HASHES: [(&str, &[u8], usize); 5] = [
    (
        "MD5",
        b"\x30\x20\x30\x0c\x06\x08\x2a\x86\x48\x86\xf7\x0d\x02\x05\x05\x00\x04\x10",
        16,
    ),
    (
        "SHA-1",
        b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
        20,
    ),
    (
        "SHA-256",
        b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
        32,
    ),
    (
        "SHA-384",
        b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30",
        48,
    ),
    (
        "SHA-512",
        b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
        64,
    ),
];

#[cfg(test)]
mod tests {
    use crate::signature::base64;
    use crate::signature::fixture::{ed25519, rsa};

    /// What `openssl dgst -HASH` gives for `message`, and `openssl dgst -HASH -sign` with the fixture's RSA key.
    const BY_OPENSSL: [(&str, &str, &str); 5] = [
        (
            "MD5",
            "78e731027d8fd50ed642340b7c9a63b3",
            "c1i2CkAc+jlV0cYN9XRafBJ0ClXemiIhfGSm2ys7hUHZl6lAH3kAZNsnPSRJkNB+Rw3IuS+azQ/oQTIvvSXzaWFP9zuXm8VguFL1\
             pOXR+1+maLpTflIbycNFMkIDSy+YbzhvlhR0zCpo5ZH94NyJIQnSxziGfexn09EUSOsGWqwc+7h8YUuebmv3x4x/44farGJNTKsD\
             STL2Z+Io+2N16FWqZCckwW9qyK9ZvLTZ+q9Zkeg+IASmw7A+x/2VfsrqLJ5x4lxYwADQqrjKsvIQBvgFc6eojDQmO4YcWqlopFBq\
             fYxNLj50+7IX7ZWX5dsw4kaI/vEtpDMA9tlnaqTf1Q==",
        ),
        (
            "SHA-1",
            "6f9b9af3cd6e8b8a73c2cdced37fe9f59226e27d",
            "EAmjmVMjFpHFScAhiArVyftq+PS3R395UKoU2WdsceKpMaR8oqoAszI5XPC1FkeZiNpYdQXeOsoPdnFgWWs6S3pruUjew0QwNaTm\
             B1d90cRdfV0lEJjEdsWB6MSr6XiShmtUhRvv7xhhDsriBo10pqofAmVzzmePX4ePZWCr49TOa7ZuNAoI+F9138lh/PitpT8tIe5Q\
             tQxrq10UocL7w7oMrHzfJyS9n82/qt6uVC+QY8HuvgAlC/OFiq/uEC3/8c40mRdEZqGdcKNYJ0FSvdgY80yh3d5PYn+tc77sbeKI\
             Yf5qG/A+tI/7UcoVqohaxcJhMHq2DujPDS3GmUm1fQ==",
        ),
        (
            "SHA-256",
            "ab530a13e45914982b79f9b7e3fba994cfd1f3fb22f71cea1afbf02b460c6d1d",
            "t3F/o+Vr6HZCRrNzZWrfiYd88PrGbudlo24BIsINevKaBWoxPReCrmvbIqW7Obdlmvw7dyP8OSPYKNwckcyVccPD0busUOG9W/B6\
             6dLe0ZXInoOpNmWYG5SvPtGUN7M7Uw00aNM7BhlSWdullpTQKT9yMhl2d48a3VP/LZOB90atmN2R8mtT2Oz2zNSU2ZCJyECrPMmk\
             7UCSskaJg2W3FQlRWmZFwty4+ZjO4hYR+Pvir1harWM0iGxv9xO9aoOlsih9gwDGdPauG2POGKfRfkbjRz2PmBoiXRj48bCXbP23\
             PkpXbZjaw9xsCJkH4IkBLRFDMa9hJ0O4HYa2Ke5iZg==",
        ),
        (
            "SHA-384",
            "353eb7516a27ef92e96d1a319712d84b902eaa828819e53a8b09af7028103a9978ba8feb6161e33c3619c5da4c4666a5",
            "ZiSbxmW15gnd5yg1HurMS0qRM1bQU5ycgEpVDsQcJSGIcO8cePE/plvYBwEXQswzp6a8d6w6ErLq1Udmn4bPaUHm93pQIHuKtT38\
             +ZA73bhz7RtZaRA25k1D1nbfYwXkJgtcdBvqbHsV2JaD5pe/ujNUksI6nECfbnlWv++lWqIMbTfhPXyj98YLYLydmdVX9v8myxwo\
             9seud2ZGuBhSVuYggO0yC/attdx+s0YBHkyxlcLrPqiCcynUnqMMs/pvYhacNk55B6rVgpV5fF77llcJHF86eVasdHR9tCuHF69+\
             AL6A+CAlCOYDPNkZ9876sSEIZWtLZQOnIS5gj46WpQ==",
        ),
        (
            "SHA-512",
            "f8daf57a3347cc4d6b9d575b31fe6077e2cb487f60a96233c08cb479dbf31538cc915ec6d48bdbaa96ddc1a16db4f4f96f37276cfcb3510b8246241770d5952c",
            "qPFX+neWobTTbxhniZ7KdF/YSPBoTziLDc0QaySYmKZXb849FoDYK3sxNod3QCB1RgRzaXx7CKKG7zRFvzVJPjJEEnEQyROJC7kF\
             LxaJPU33sMQMLPdLoDe0gQBo9y8D6KPj7yd/RjxTxiAFqmz4Cy+YCbBX+6fN7y8cGOlepjrPLZYfQgmXfZXFw77TVrxbMW5GOY9W\
             Esv3+3O7PBMnAyekdNMVq6O3YmSAfxmG1laZ+hrFJ/L6z16LHBikwXo5L4Qsglc3Rv620km4DZC7okVerJikxnTp72r48crUK+br\
             lrDaFMlH9AupnJ13zvepC1K+u61tlOP/pMsyB9U0AA==",
        ),
    ];

    #[test]
    fn what_openssl_signed_comes_back() {
        let key = rsa().public_key().clone();
        for (hash, digest, signature) in BY_OPENSSL {
            let signature = base64::decode(signature).bytes.unwrap();
            let recovered = key.recover(&signature).unwrap();
            let hex: String = recovered
                .digest
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!((recovered.hash, hex.as_str()), (hash, digest));
            assert_eq!(key.recover(&signature[1..]), None, "another length");
            let other = crate::signature::key::SigningKey::generate_rsa(2048).unwrap();
            assert_eq!(other.public_key().recover(&signature), None, "another key");
            assert_eq!(ed25519().public_key().recover(&signature), None, "no RSA");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_signature_makes_it_panic(signature in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
            let _ = rsa().public_key().recover(&signature);
        }
    }
}
