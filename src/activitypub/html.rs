//! Text inside HTML and XML.

/// Escapes what would be markup, in text and in quoted attributes alike (HTML section 13.1.4; XML 1.0 section 2.4).
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            plain => escaped.push(plain),
        }
    }
    escaped
}

/// Plain text as the `content` of a note: one paragraph, line breaks kept.
pub fn paragraph(text: &str) -> String {
    format!("<p>{}</p>", escape(text).replace('\n', "<br>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_markup_survives() {
        assert_eq!(
            escape(r#"<b a="x" c='y'>&amp;"#),
            "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;"
        );
        assert_eq!(paragraph("a < b\nc"), "<p>a &lt; b<br>c</p>");
    }
}
