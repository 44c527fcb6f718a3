//! ActivityPub as bytes and values: activities as they arrive, media types, content negotiation. Pure.

mod accept;
mod activity;
mod audience;
mod html;
mod key_document;
mod media;

pub use accept::{Form, negotiate, prefers_json};
pub use activity::{Activity, ActivityError, id_of};
pub use audience::is_public;
pub use html::{escape, paragraph};
pub use key_document::{Key, KeyDocument, KeyText, Keys, Listed};
pub use media::{ACTIVITY_JSON, ACTIVITY_STREAMS, LD_JSON, MediaType, PUBLIC, is_activity};
