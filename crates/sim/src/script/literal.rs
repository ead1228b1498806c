//! Bytes as they are written down: `⏎` is LF, `␍` is CR, `⟨E4 B8⟩` are bytes in hexadecimal.

/// The most bytes of one literal.
const MAX_LITERAL: usize = 32 * 1024 * 1024;

/// The bytes that `text` stands for.
pub(super) fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '⏎' => out.push(b'\n'),
            '␍' => out.push(b'\r'),
            '⟨' => {
                let (inside, after) = rest.split_once('⟩').ok_or("⟨ without ⟩")?;
                rest = after;
                hexadecimal(inside, &mut out)?;
            }
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Ok(out)
}

fn hexadecimal(inside: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let wrong = || format!("⟨{inside}⟩ is not bytes in hexadecimal, with `*N` for one of them N times");
    for item in inside.split_ascii_whitespace() {
        let (byte, times) = item.split_once('*').unwrap_or((item, "1"));
        let byte = u8::from_str_radix(byte, 16).map_err(|_| wrong())?;
        let times: usize = times.parse().map_err(|_| wrong())?;
        if out.len().saturating_add(times) > MAX_LITERAL {
            return Err(format!("⟨{inside}⟩ is longer than {MAX_LITERAL} bytes"));
        }
        out.extend(std::iter::repeat_n(byte, times));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_bytes() {
        assert_eq!(bytes("a⏎␍⟨E4 b8*2⟩\"").unwrap(), b"a\n\r\xE4\xB8\xB8\"");
        for wrong in ["⟨E4", "⟨zz⟩", "⟨41*99999999999⟩", "⟨100⟩"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
