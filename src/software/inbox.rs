//! Which media types an inbox takes.

use crate::software::Inbox;

impl Inbox {
    /// Whether a delivery with that `Content-Type` is taken; parameters do not matter, and `None` is one without the
    /// header.
    pub fn takes(&self, content_type: Option<&str>) -> bool {
        if self.wrong_type.is_none() {
            return true;
        }
        let essence = content_type
            .and_then(|text| text.split(';').next())
            .unwrap_or("")
            .trim();
        self.takes.iter().any(|taken| match taken.strip_suffix('*') {
            Some(prefix) => essence
                .get(..prefix.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(prefix)),
            None => taken.eq_ignore_ascii_case(essence),
        })
    }
}
