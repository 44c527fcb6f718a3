//! Texts that mention what the other side sent.

use crate::activitypub::Activity;
use crate::answer::inbox::{self, fetch_refusal};
use crate::answer::tests::*;
use crate::signature::{Dialect, Outcome, Verdict};
use crate::software::{Body, Document, Reply, Template};
use crate::stats::Ending;

#[test]
fn what_came_in_is_quoted_as_the_media_type_needs() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    let told = Told {
        detail: "a \"<b>\" & c",
        ..Told::default()
    };
    let say = |content_type: &str, body: Body| {
        let reply = Reply {
            status: 401,
            content_type: Some(content_type.to_owned()),
            body,
        };
        refusal::answer(&reply, peer, &told)
    };
    let text = || Body::Text(Template::parse("{detail}!", &["detail"]).unwrap());
    assert_eq!(say("text/plain", text()).text(), "a \"<b>\" & c!");
    assert_eq!(
        say("text/html; charset=utf-8", text()).text(),
        "a &quot;&lt;b&gt;&quot; &amp; c!"
    );
    let json = Body::Json(Document::parse(r#"{"error": "{detail}"}"#, &["detail"]).unwrap());
    let answer = say("application/json", json);
    assert_eq!(
        (answer.status.as_u16(), &answer.document()["error"]),
        (401, &"a \"<b>\" & c".into())
    );
    assert_eq!(answer.header("content-type"), "application/json");
}

#[test]
fn each_miss_is_refused_as_the_profile_says() {
    let farm = Farm::whole(None);
    for peer in farm.peers() {
        let refusals = &peer.software.refusals;
        let statuses = [
            (Route::UnknownActor, &refusals.unknown_actor),
            (Route::UnknownObject, &refusals.unknown_object),
            (Route::Unknown, &refusals.unknown_path),
            (Route::UnknownInbox, &peer.software.inbox.unknown_recipient),
        ];
        for (route, reply) in statuses {
            let request = Request::get("/x").body(()).unwrap();
            let ask = Ask::of(&request);
            let answer = to(&farm.world, peer, &route, &ask, None);
            assert_eq!(
                answer.status.as_u16(),
                reply.status,
                "{route:?} of {}",
                peer.software.name
            );
        }
    }
}

/// A GET has no digest to sign, whatever a POST needs.
#[test]
fn a_fetch_needs_other_headers_signed_than_a_delivery() {
    let farm = Farm::of(&["mastodon"]);
    let peer = farm.peer("mastodon");
    let signed = |covered: &[&str]| {
        let covered = covered.iter().map(|name| (*name).to_owned()).collect();
        Verdict {
            result: Outcome::Valid,
            dialect: Some(Dialect::Cavage),
            covered,
            ..Verdict::unsigned()
        }
    };
    assert!(fetch_refusal(peer, &signed(&["(request-target)", "host", "date"])).is_none());
    let refused = fetch_refusal(peer, &signed(&["(request-target)", "date"])).unwrap();
    assert_eq!(
        (refused.status.as_u16(), refused.header("x-peerfarm-reason")),
        (401, "header_not_signed")
    );
}

#[test]
fn a_delivery_to_what_is_no_inbox_is_refused() {
    let farm = Farm::of(&["lemmy"]);
    let peer = farm.peer("lemmy");
    let follow = r#"{"type": "Follow", "id": "x", "actor": "https://s.test/u", "object": "https://lemmy1.test/u/alice"}"#;
    let refusals = &peer.software.refusals;
    for (path, reason, status) in [
        ("/u/alice", "wrong_method", refusals.wrong_method.status),
        ("/nowhere", "unknown_path", refusals.unknown_path.status),
        (
            "/u/nobody/inbox",
            "unknown_recipient",
            peer.software.inbox.unknown_recipient.status,
        ),
    ] {
        let delivery = inbox::Delivery {
            route: &farm.route(peer, "POST", path),
            path,
            headers: &HeaderMap::new(),
            activity: Activity::read(follow.as_bytes()),
            verdict: &Verdict::unsigned(),
            proofs: &[],
            duplicate: false,
        };
        let decision = inbox::decide(&farm.world, peer, delivery);
        assert_eq!(
            (decision.ending, decision.answer.status.as_u16()),
            (Ending::Refused, status),
            "{path}"
        );
        assert_eq!(decision.answer.header(inbox::REASON.as_str()), reason, "{path}");
        assert_eq!(farm.world.relations.counts(&peer.host, Who::Actor(0)), (0, 0));
    }
}
