//! Who may ask: a web page that a browser shows must reach neither the API of a farm on the same machine nor, by a name
//! made to point there, one in the same network.

use std::net::{IpAddr, SocketAddr};

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{Request, StatusCode};
use url::Url;

use crate::control::Problem;
use crate::ids::Host;

/// What a listener answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole API. `Host` must be an address, `localhost` or a name that was named.
    Everything,
    /// What other hosts may reach: hooks, stats, reset, healthz. Under which name they know the farm is theirs to say,
    /// so `Host` is not looked at; `Origin` is.
    HooksOnly,
}

/// The rule of one listener.
#[derive(Clone, Debug)]
pub struct Guard {
    scope: Scope,
    names: Vec<Host>,
}

impl Guard {
    /// A guard that also lets `names` pass, as `--control-host` gives them.
    pub fn new(scope: Scope, names: Vec<Host>) -> Guard {
        Guard { scope, names }
    }

    /// What the listener answers.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Judges `Host` and `Origin`.
    ///
    /// # Errors
    /// 400 where the request names no host or several, 421 where it names a foreign one, 403 where it comes from a page
    /// of a foreign origin.
    pub fn admit<B>(&self, request: &Request<B>) -> Result<(), Problem> {
        if is_plain(request) {
            return Ok(());
        }
        let asked = asked(request)?;
        if self.scope == Scope::Everything {
            for authority in &asked {
                if !self.knows(name_of(authority)) {
                    return Err(foreign_host(authority));
                }
            }
        }
        // What is sent to a hook is no command, whatever page sends it.
        if self.scope == Scope::HooksOnly && crate::control::route::is_hook(request.uri().path()) {
            return Ok(());
        }
        for origin in request.headers().get_all(ORIGIN) {
            let origin = String::from_utf8_lossy(origin.as_bytes());
            if !self.is_ours(&origin, &asked) {
                return Err(foreign_origin(&origin));
            }
        }
        Ok(())
    }

    /// An address, `localhost`, or a name that was given.
    fn knows(&self, name: &str) -> bool {
        address(name).is_some() || self.has_name(name)
    }

    fn has_name(&self, name: &str) -> bool {
        let host = name.parse::<Host>();
        host.is_ok_and(|host| host.as_str() == "localhost" || self.names.contains(&host))
    }

    /// Whether an origin is this machine, a name that was given, or the very address that is asked. Any other address is
    /// somebody's web server.
    fn is_ours(&self, origin: &str, asked: &[Authority]) -> bool {
        let Ok(url) = Url::parse(origin) else { return false };
        let Some(name) = url.host_str() else { return false };
        match address(name) {
            Some(ip) => ip.is_loopback() || asked.iter().any(|asked| address(name_of(asked)) == Some(ip)),
            None => self.has_name(name),
        }
    }
}

/// Whether the request names one address and comes from no web page. Nearly all do, and every guard lets them pass, so this
/// is looked at first.
fn is_plain<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let is_address = |host: &str| host.parse::<SocketAddr>().is_ok() || host.parse::<IpAddr>().is_ok();
    request.uri().authority().is_none()
        && !request.headers().contains_key(ORIGIN)
        && host.to_str().is_ok_and(is_address)
}

/// Whom the request is for: `Host`, and the target's authority where the target is absolute. The latter would win (RFC 9112
/// section 3.2.2), but a request whose two disagree is not trusted with either.
fn asked<B>(request: &Request<B>) -> Result<Vec<Authority>, Problem> {
    let bad = |detail: &str| Problem::new(StatusCode::BAD_REQUEST, detail);
    let mut asked: Vec<Authority> = request.uri().authority().cloned().into_iter().collect();
    let hosts: Vec<_> = request.headers().get_all(HOST).iter().collect();
    match hosts.as_slice() {
        [] => {}
        [host] => match Authority::try_from(host.as_bytes()) {
            Ok(host) => asked.push(host),
            Err(_) => return Err(bad("`Host` is no host with or without a port")),
        },
        _ => return Err(bad("there are several `Host` headers")),
    }
    match asked.is_empty() {
        true => Err(bad("the request names no host")),
        false => Ok(asked),
    }
}

/// The name alone. User information makes it none: nothing honest sends it here.
fn name_of(authority: &Authority) -> &str {
    match authority.as_str().contains('@') {
        true => "",
        false => authority.host(),
    }
}

fn address(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    bare.unwrap_or(name).parse().ok()
}

fn foreign_host(authority: &Authority) -> Problem {
    let detail = format!(
        "`Host: {authority}` is no name of this API: an address is, or `localhost`; \
         hint: `--control-host NAME` lets it answer to a name"
    );
    Problem::new(StatusCode::MISDIRECTED_REQUEST, detail)
}

fn foreign_origin(origin: &str) -> Problem {
    let detail = format!(
        "a page of `{origin}` may not use this API; hint: `--control-host NAME` lets pages of that host"
    );
    Problem::new(StatusCode::FORBIDDEN, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(target: &str, headers: &[(&str, &str)]) -> Request<()> {
        let mut builder = Request::builder().uri(target);
        for (name, value) in headers {
            builder = builder.header(*name, *value);
        }
        builder.body(()).unwrap()
    }

    fn judged(scope: Scope, target: &str, headers: &[(&str, &str)]) -> u16 {
        let guard = Guard::new(scope, vec!["farm.lan".parse().unwrap()]);
        let verdict = guard.admit(&request(target, headers));
        verdict.map_or_else(|problem| problem.status().as_u16(), |()| 200)
    }

    #[test]
    fn addresses_localhost_and_given_names_are_answered() {
        let hosts = [
            "127.0.0.1",
            "127.0.0.1:7400",
            "[::1]:7400",
            "[::1]",
            "192.168.1.7:80",
            "localhost",
            "LocalHost:7400",
            "localhost.:7400",
            "farm.lan",
            "FARM.lan:1",
        ];
        for host in hosts {
            assert_eq!(
                judged(Scope::Everything, "/stats", &[("host", host)]),
                200,
                "{host}"
            );
        }
    }

    #[test]
    fn names_that_could_be_made_to_point_here_are_refused() {
        let hosts = [
            "evil.test",
            "evil.test:7400",
            "farm",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "127.0.0.1@evil.test",
            "evil@127.0.0.1",
            "xn--lcalhost-54a",
        ];
        for host in hosts {
            assert_eq!(
                judged(Scope::Everything, "/stats", &[("host", host)]),
                421,
                "{host}"
            );
            assert_eq!(
                judged(Scope::Everything, "/hook/a", &[("host", host)]),
                421,
                "{host}"
            );
        }
    }

    #[test]
    fn none_or_two_hosts_are_no_request() {
        assert_eq!(judged(Scope::Everything, "/stats", &[]), 400);
        assert_eq!(judged(Scope::Everything, "/stats", &[("host", "a b")]), 400);
        let two = [("host", "127.0.0.1"), ("host", "127.0.0.1")];
        assert_eq!(judged(Scope::Everything, "/stats", &two), 400);
    }

    #[test]
    fn an_absolute_target_is_looked_at_too() {
        let local = [("host", "127.0.0.1")];
        assert_eq!(judged(Scope::Everything, "http://127.0.0.1/stats", &local), 200);
        assert_eq!(judged(Scope::Everything, "http://evil.test/stats", &local), 421);
        assert_eq!(
            judged(
                Scope::Everything,
                "http://127.0.0.1/stats",
                &[("host", "evil.test")]
            ),
            421
        );
    }

    #[test]
    fn pages_of_this_machine_may_ask_and_others_may_not() {
        let ours = [
            "http://127.0.0.1:3000",
            "https://localhost",
            "http://[::1]:8080",
            "http://farm.lan",
            "http://192.168.1.7:7400",
        ];
        let foreign = [
            "null",
            "",
            "http://evil.test",
            "http://localhost.evil.test",
            "http://203.0.113.7",
            "file://",
            "farm.lan",
        ];
        for scope in [Scope::Everything, Scope::HooksOnly] {
            let judged = |origin| {
                judged(
                    scope,
                    "/reset",
                    &[("host", "192.168.1.7:7400"), ("origin", origin)],
                )
            };
            for origin in ours {
                assert_eq!(judged(origin), 200, "{origin}");
            }
            for origin in foreign {
                assert_eq!(judged(origin), 403, "{origin}");
            }
        }
    }

    #[test]
    fn the_hooks_listener_is_known_by_any_name() {
        let page = ("origin", "https://evil.test");
        for host in ["farm:8080", "hooks.test", "farm.default.svc.cluster.local"] {
            assert_eq!(
                judged(Scope::HooksOnly, "/stats", &[("host", host)]),
                200,
                "{host}"
            );
            assert_eq!(
                judged(Scope::HooksOnly, "/hook/a", &[("host", host), page]),
                200,
                "{host}"
            );
            // Even where the name points here: `Origin` tells the page apart.
            assert_eq!(
                judged(Scope::HooksOnly, "/reset", &[("host", "evil.test"), page]),
                403
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_makes_the_guard_panic(host: Vec<u8>, origin: Vec<u8>) {
            let mut request = request("/stats", &[]);
            for (name, value) in [(HOST, host), (ORIGIN, origin)] {
                if let Ok(value) = http::HeaderValue::from_bytes(&value) {
                    request.headers_mut().insert(name, value);
                }
            }
            let _ = Guard::new(Scope::Everything, Vec::new()).admit(&request);
        }
    }
}
