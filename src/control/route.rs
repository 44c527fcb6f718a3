//! The calls of the control API: path, method, and which listener answers them. One list.

use http::{Method, StatusCode};

use crate::control::commands::Verb;
use crate::control::guard::Scope;
use crate::control::problem::Problem;
use crate::control::query::decoded;

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Command(Verb),
    Entry,
    Events,
    Health,
    HookStats,
    Journal,
    Metrics,
    Page,
    Peer,
    Peers,
    Reset,
    Stats,
    Wait,
}

/// A call and what stood in the place of each `{...}` of its path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) call: Call,
    pub(super) captured: Vec<String>,
}

/// Whether a path is a hook's: the one mocked path of this listener, that no call can lie under.
pub(super) fn is_hook(path: &str) -> bool {
    path.starts_with(HOOKS)
}

/// The call for a method and a path.
///
/// # Errors
/// 404 where the listener has no such path, naming those it has; 405 where the path does not take the method.
pub(super) fn find(scope: Scope, method: &Method, path: &str) -> Result<Found, Problem> {
    for route in ROUTES.iter().filter(|route| route.is_in(scope)) {
        let Some(captured) = route.captures(path) else {
            continue;
        };
        let is_taken = match route.takes {
            Takes::Get => method == Method::GET || method == Method::HEAD,
            Takes::Post => method == Method::POST,
        };
        return match is_taken {
            true => Ok(Found {
                call: route.call,
                captured,
            }),
            false => Err(Problem::wrong_method(path, route.takes.allow())),
        };
    }
    let paths: Vec<&str> = ROUTES
        .iter()
        .filter(|route| route.is_in(scope))
        .map(|route| route.path)
        .chain(["/hook/{path}"])
        .collect();
    let detail = format!("there is nothing at `{path}`: there is `{}`", paths.join("`, `"));
    Err(Problem::new(StatusCode::NOT_FOUND, detail).with("paths", paths))
}

#[derive(Debug)]
struct Route {
    path: &'static str,
    takes: Takes,
    call: Call,
    listeners: Listeners,
}

#[derive(Clone, Copy, Debug)]
enum Takes {
    Get,
    Post,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listeners {
    Both,
    Control,
}

impl Route {
    fn is_in(&self, scope: Scope) -> bool {
        scope == Scope::Everything || self.listeners == Listeners::Both
    }

    /// What stands in the place of each `{...}`, percent-decoded, where the path is this route's.
    fn captures(&self, path: &str) -> Option<Vec<String>> {
        let mut captured = Vec::new();
        let mut segments = path.split('/');
        for wanted in self.path.split('/') {
            let segment = segments.next()?;
            if wanted.starts_with('{') {
                captured.push(decoded(segment).filter(|text| !text.is_empty())?);
            } else if wanted != segment {
                return None;
            }
        }
        segments.next().is_none().then_some(captured)
    }
}

impl Takes {
    fn allow(self) -> &'static str {
        match self {
            Takes::Get => "GET, HEAD",
            Takes::Post => "POST",
        }
    }
}

const HOOKS: &str = "/hook/";

const ROUTES: [Route; 15] = [
    get("/", Call::Page),
    both(get("/healthz", Call::Health)),
    both(get("/stats", Call::Stats)),
    both(get("/stats/hooks", Call::HookStats)),
    both(post("/reset", Call::Reset)),
    get("/metrics", Call::Metrics),
    get("/peers", Call::Peers),
    get("/peers/{host}", Call::Peer),
    post("/peers/{host}/actors/{name}/send", Call::Command(Verb::Send)),
    post("/peers/{host}/actors/{name}/follow", Call::Command(Verb::Follow)),
    post(
        "/peers/{host}/actors/{name}/unfollow",
        Call::Command(Verb::Unfollow),
    ),
    get("/journal", Call::Journal),
    get("/journal/{id}", Call::Entry),
    get("/wait", Call::Wait),
    get("/events", Call::Events),
];

const fn get(path: &'static str, call: Call) -> Route {
    Route {
        path,
        takes: Takes::Get,
        call,
        listeners: Listeners::Control,
    }
}

const fn post(path: &'static str, call: Call) -> Route {
    Route {
        path,
        takes: Takes::Post,
        call,
        listeners: Listeners::Control,
    }
}

const fn both(route: Route) -> Route {
    Route {
        listeners: Listeners::Both,
        ..route
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(scope: Scope, method: &Method, path: &str) -> Result<Call, u16> {
        let found = find(scope, method, path);
        found
            .map(|found| found.call)
            .map_err(|problem| problem.status().as_u16())
    }

    #[test]
    fn names_in_a_path_are_captured() {
        let found = find(
            Scope::Everything,
            &Method::POST,
            "/peers/a.test%3A7443/actors/a%2Bb/send",
        )
        .unwrap();
        assert_eq!(found.call, Call::Command(Verb::Send));
        assert_eq!(found.captured, ["a.test:7443", "a+b"]);
    }

    #[test]
    fn other_paths_and_methods_are_told_apart() {
        let all = Scope::Everything;
        for path in [
            "/stats/",
            "/stat",
            "//stats",
            "/journal/",
            "/peers/a.test/actors",
            "/peers/%ff",
            "",
        ] {
            assert_eq!(call(all, &Method::GET, path), Err(404), "{path}");
        }
        assert_eq!(call(all, &Method::HEAD, "/healthz"), Ok(Call::Health));
        assert_eq!(call(all, &Method::GET, "/reset"), Err(405));
        assert_eq!(call(all, &Method::DELETE, "/journal"), Err(405));
    }

    #[test]
    fn the_hooks_listener_has_hooks_stats_reset_and_healthz_alone() {
        let has = |path: &str| {
            [Method::GET, Method::POST]
                .iter()
                .any(|method| call(Scope::HooksOnly, method, path).is_ok())
        };
        for route in &ROUTES {
            let path = route.path.replace('{', "x").replace('}', "");
            let expected = ["/healthz", "/stats", "/stats/hooks", "/reset"].contains(&path.as_str());
            assert_eq!(has(&path), expected, "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_path_makes_the_finder_panic(path in "[/%a-z{}]{0,40}") {
            let _ = find(Scope::Everything, &Method::GET, &path);
        }
    }
}
