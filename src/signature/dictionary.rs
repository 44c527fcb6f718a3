//! Dictionaries of structured fields (RFC 9651 section 3.2) as text: each member as it stood, which no parser keeps.

/// A member, untouched but for the space around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member<'a> {
    pub(super) key: &'a str,
    /// What follows the first `=`: value and parameters. Empty without one.
    pub(super) value: &'a str,
}

/// The members of a dictionary, split at the commas that stand outside of strings. Of text that is no dictionary it
/// gives what looks like members.
pub(super) fn members(text: &str) -> Vec<Member<'_>> {
    split(text)
        .into_iter()
        .map(str::trim)
        .filter(|member| !member.is_empty())
        .map(|member| {
            let (key, value) = member.split_once('=').unwrap_or((member, ""));
            Member { key, value }
        })
        .collect()
}

fn split(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut inside) = (0, Inside::Nothing);
    let mut before = 0;
    for (at, byte) in text.bytes().enumerate() {
        inside = match (inside, byte) {
            (Inside::Nothing, b',') => {
                pieces.push(&text[start..at]);
                start = at + 1;
                Inside::Nothing
            }
            // A display string, `%"..."`, knows no backslashes (RFC 9651 section 3.3.8).
            (Inside::Nothing, b'"') if before == b'%' => Inside::DisplayString,
            (Inside::Nothing, b'"') => Inside::String,
            (Inside::String | Inside::DisplayString, b'"') => Inside::Nothing,
            (Inside::String, b'\\') => Inside::Escape,
            (Inside::Escape, _) => Inside::String,
            (same, _) => same,
        };
        before = byte;
    }
    pieces.push(&text[start..]);
    pieces
}

#[derive(Clone, Copy)]
enum Inside {
    Nothing,
    String,
    DisplayString,
    Escape,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(&str, &str)> {
        let members = members(text).into_iter();
        members.map(|member| (member.key, member.value)).collect()
    }

    #[test]
    fn members_keep_every_byte_of_their_value() {
        assert_eq!(
            pairs("sig1=( \"a\"  \"b\" ); x = 1 ,\tsig2=:AA==:;y"),
            [("sig1", "( \"a\"  \"b\" ); x = 1"), ("sig2", ":AA==:;y")]
        );
        assert_eq!(pairs("a, b"), [("a", ""), ("b", "")]);
        assert_eq!(pairs(" "), []);
    }

    #[test]
    fn commas_inside_of_strings_divide_nothing() {
        assert_eq!(
            pairs(r#"a=("x");k="1,\"2,\\",b="é,""#),
            [("a", r#"("x");k="1,\"2,\\""#), ("b", r#""é,""#)]
        );
        assert_eq!(pairs(r#"a=%"\", b=1"#), [("a", r#"%"\""#), ("b", "1")]);
    }
}
