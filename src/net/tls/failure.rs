//! What a failed handshake is called in `connections.tls_failed` and in reports.

use std::io::{self, ErrorKind};

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

/// The label of a failed handshake, as the socket or the TLS layer reports it, on either side. A deadline of the
/// caller's own is `handshake_timeout` too; pass it an error of [`ErrorKind::TimedOut`].
pub fn tls_failure_label(error: &io::Error) -> &'static str {
    if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        return rustls_failure_label(error);
    }
    match error.kind() {
        ErrorKind::UnexpectedEof => "eof",
        ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset => "reset",
        ErrorKind::TimedOut => "handshake_timeout",
        _ => "io",
    }
}

/// The label of a TLS failure: what the other side complained of, or what is wrong with what it sent.
pub fn rustls_failure_label(error: &Error) -> &'static str {
    match error {
        Error::AlertReceived(alert) => alert_label(*alert),
        Error::InvalidCertificate(error) => certificate_label(error),
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
        ) => "not_tls",
        Error::NoApplicationProtocol => "no_alpn",
        Error::PeerIncompatible(incompatible) => incompatible_label(incompatible),
        _ => "protocol",
    }
}

/// The alerts of RFC 8446 section 6.2 that say something of certificates and names by their names there.
fn alert_label(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::BadCertificate => "bad_certificate",
        AlertDescription::CertificateExpired => "certificate_expired",
        AlertDescription::CertificateRequired => "certificate_required",
        AlertDescription::CertificateRevoked => "certificate_revoked",
        AlertDescription::CertificateUnknown => "certificate_unknown",
        // Not fatal by itself, but in the middle of a handshake it ends it.
        AlertDescription::CloseNotify | AlertDescription::UserCanceled => "eof",
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => "handshake_failure",
        AlertDescription::NoApplicationProtocol => "no_alpn",
        AlertDescription::ProtocolVersion => "protocol_version",
        AlertDescription::UnknownCA => "unknown_ca",
        AlertDescription::UnrecognisedName => "unrecognized_name",
        AlertDescription::UnsupportedCertificate => "unsupported_certificate",
        _ => "protocol",
    }
}

fn certificate_label(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "certificate_expired",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => "wrong_name",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "certificate_not_yet_valid"
        }
        CertificateError::Revoked => "certificate_revoked",
        CertificateError::UnknownIssuer => "unknown_ca",
        _ => "bad_certificate",
    }
}

fn incompatible_label(incompatible: &PeerIncompatible) -> &'static str {
    match incompatible {
        PeerIncompatible::NoCipherSuitesInCommon
        | PeerIncompatible::NoKxGroupsInCommon
        | PeerIncompatible::NoSignatureSchemesInCommon => "handshake_failure",
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::SupportedVersionsExtensionRequired
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled => "protocol_version",
        _ => "protocol",
    }
}
