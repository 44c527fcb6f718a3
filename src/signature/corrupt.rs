//! A signature that looks like one and is not the one that was made.

use http::HeaderValue;

use crate::signature::base64;

/// A `Signature` header of either dialect, with the bits of the last signature's last byte flipped: base64 still, as
/// long, and for RSA below the modulus. `None` where the header does not end with a signature.
pub fn corrupt(header: &HeaderValue) -> Option<HeaderValue> {
    let text = std::str::from_utf8(header.as_bytes()).ok()?;
    // Quotes enclose it in draft-cavage, colons in RFC 9421, and base64 has neither.
    let end = text.chars().next_back().filter(|end| ['"', ':'].contains(end))?;
    let (before, signature) = text.strip_suffix(end)?.rsplit_once(end)?;
    let mut bytes = base64::decode(signature).bytes?;
    let last = bytes.last_mut()?;
    *last = !*last;
    HeaderValue::try_from(format!("{before}{end}{}{end}", base64::encode(bytes))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrupted(header: &'static str) -> Option<HeaderValue> {
        corrupt(&HeaderValue::from_static(header))
    }

    #[test]
    fn the_last_byte_is_another_and_all_else_stays() {
        // 01 02 03 and 01 02 fc.
        let cavage = r#"keyId="https://a.test/u1#k",headers="date",signature="AQID""#;
        assert_eq!(corrupted(cavage).unwrap(), cavage.replace("AQID", "AQL8"));
        assert_eq!(corrupted("sig1=:AQID:").unwrap(), "sig1=:AQL8:");
        assert_eq!(corrupted("a=:AQID:, b=:AQID:").unwrap(), "a=:AQID:, b=:AQL8:");
    }

    #[test]
    fn what_has_no_signature_is_left_alone() {
        for header in ["", "\"", ":", "sig1", "sig1=::", "sig1=:!:", r#"signature="""#] {
            assert_eq!(corrupted(header), None, "{header}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_makes_it_panic(header in ".{0,40}") {
            if let Ok(header) = HeaderValue::try_from(header) {
                let _ = corrupt(&header);
            }
        }
    }
}
