//! Which of the farm's names a request is for (RFC 9112 section 3.2, RFC 9113 section 8.3.1, RFC 9110 section 7.4).

use http::header::HOST;
use http::uri::Authority;
use http::{Request, StatusCode, Version};

use crate::ids::Host;

/// A request for one of the farm's names.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// The name, without the port.
    pub host: Host,
    /// Host and port as they came, what a signature over `host` covers.
    pub authority: String,
}

/// A request that is for none, and the status that says so.
#[derive(Debug, PartialEq, Eq)]
pub struct Misdirected {
    /// 400 where the request does not say, 404 where the host of hooks is asked for what is none, 421 where a host is
    /// named that is not here.
    pub status: StatusCode,
    /// Why, for the body.
    pub why: String,
}

/// Reads the name. `sni` is what the TLS handshake asked for; a request that names another host is refused.
pub fn asked<B>(request: &Request<B>, sni: Option<&Host>) -> Result<Asked, Misdirected> {
    let hosts: Vec<_> = request.headers().get_all(HOST).iter().collect();
    let target = request.uri().authority();
    let bad = |why: &str| Misdirected {
        status: StatusCode::BAD_REQUEST,
        why: why.to_owned(),
    };
    let of_header = match hosts.as_slice() {
        [] => None,
        [host] => Some(host.to_str().map_err(|_| bad("`Host` is no text"))?),
        _ => return Err(bad("there are several `Host` headers")),
    };
    let authority = match (target, of_header) {
        (Some(target), Some(host)) if request.version() == Version::HTTP_2 => {
            if !target.as_str().eq_ignore_ascii_case(host) {
                return Err(bad("`:authority` and `Host` disagree"));
            }
            host
        }
        // The absolute form wins over `Host` (RFC 9112 section 3.2.2).
        (Some(target), _) => target.as_str(),
        (None, Some(host)) if host.parse::<Authority>().is_err() => return Err(bad("`Host` is no host")),
        (None, Some(host)) => host,
        (None, None) => return Err(bad("the request names no host")),
    };
    let name = authority.rsplit_once(':').map_or(authority, |(name, _)| name);
    let host: Host = name.parse().map_err(|_| misdirected(authority))?;
    if let Some(sni) = sni.filter(|sni| **sni != host) {
        return Err(Misdirected {
            status: StatusCode::MISDIRECTED_REQUEST,
            why: format!("`{authority}` is not the name of this connection's handshake, `{sni}`"),
        });
    }
    Ok(Asked {
        host,
        authority: authority.to_owned(),
    })
}

/// The refusal of a host that is not here, or not on this connection.
pub fn misdirected(host: &str) -> Misdirected {
    Misdirected {
        status: StatusCode::MISDIRECTED_REQUEST,
        why: format!("`{host}` is not served here"),
    }
}

/// The refusal of the host of hooks, of a path that is none.
pub fn no_hook(host: &str) -> Misdirected {
    Misdirected {
        status: StatusCode::NOT_FOUND,
        why: format!("`{host}` has hooks alone: their paths begin with `/hook/`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str, hosts: &[&str]) -> Request<()> {
        let mut builder = Request::builder().uri(target);
        for host in hosts {
            builder = builder.header(HOST, *host);
        }
        builder.body(()).unwrap()
    }

    fn host(target: &str, hosts: &[&str]) -> Result<String, u16> {
        let asked = asked(&request(target, hosts), None);
        asked
            .map(|asked| asked.authority)
            .map_err(|refused| refused.status.as_u16())
    }

    #[test]
    fn none_or_two_hosts_are_refused_and_the_absolute_form_wins() {
        assert_eq!(host("/p", &[]), Err(400));
        assert_eq!(host("/p", &["a.test", "b.test"]), Err(400));
        assert_eq!(host("http://a.test/p?q=1", &["b.test"]), Ok("a.test".into()));
        assert_eq!(host("/p", &["A.test:8443"]), Ok("A.test:8443".into()));
        assert_eq!(host("/p", &["127.0.0.1:1"]), Ok("127.0.0.1:1".into()));
        assert_eq!(host("/p", &["[::1]:1"]), Err(421));
        assert_eq!(host("/p", &["a..test"]), Err(421));
        assert_eq!(host("/p", &["a.test b.test"]), Err(400));
        assert_eq!(host("/p", &[""]), Err(400));
    }

    #[test]
    fn http_2_refuses_a_host_that_disagrees() {
        let mut wrong = request("https://a.test/p", &["b.test"]);
        *wrong.version_mut() = Version::HTTP_2;
        assert_eq!(asked(&wrong, None).unwrap_err().status, 400);
    }

    #[test]
    fn a_name_other_than_the_handshakes_is_misdirected() {
        let sni: Host = "a.test".parse().unwrap();
        let asked =
            |host| asked(&request("/p", &[host]), Some(&sni)).map_err(|refused| refused.status.as_u16());
        assert_eq!(asked("b.test").unwrap_err(), 421);
        assert!(asked("A.TEST:7443").is_ok());
    }
}
