//! The tokenizer.

use super::source_error::SourceError;

/// A token and the byte of the source at which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// The digits of an `int`, decimal or after `0x`.
    Int(String),
    /// The digits of a `uint`, without the `u` after them.
    Uint(String),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    Ident(String),
    Operator(&'static str),
    End,
}

const OPERATORS: [&str; 26] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",",
    "(", ")", "[", "]", "{", "}", "=", "&",
];

/// The tokens of an expression. The last one is the end.
pub(super) fn tokenize(source: &str) -> Result<Vec<Token>, SourceError> {
    let mut tokenizer = Tokenizer { source, at: 0 };
    let mut tokens = Vec::new();
    loop {
        tokenizer.skip_whitespace();
        let at = tokenizer.at;
        let kind = tokenizer.next()?;
        let is_end = kind == TokenKind::End;
        tokens.push(Token { at, kind });
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Tokenizer<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Tokenizer<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn error(&self, message: &str) -> SourceError {
        SourceError::syntax(self.at, message)
    }

    fn skip_whitespace(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn next(&mut self) -> Result<TokenKind, SourceError> {
        let Some(first) = self.peek() else {
            return Ok(TokenKind::End);
        };
        let second = self.rest().chars().nth(1);
        if first.is_ascii_digit() || first == '.' && second.is_some_and(|c| c.is_ascii_digit()) {
            return self.number();
        }
        if let Some(text) = self.quoted()? {
            return Ok(text);
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let name = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            return Ok(TokenKind::Ident(name.to_owned()));
        }
        let rest = self.rest();
        match OPERATORS
            .iter()
            .find(|operator| rest.starts_with(**operator))
        {
            Some(operator) => {
                self.at += operator.len();
                Ok(TokenKind::Operator(operator))
            }
            None => Err(self.error(&format!("token recognition error at: '{first}'"))),
        }
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn number(&mut self) -> Result<TokenKind, SourceError> {
        let start = self.at;
        let rest = self.rest();
        if rest.starts_with("0x") || rest.starts_with("0X") {
            self.at += 2;
            let digits = self.take_while(|c| c.is_ascii_hexdigit());
            return Ok(self.integer(format!("0x{digits}")));
        }
        let mut is_integer = true;
        self.take_while(|c| c.is_ascii_digit());
        let after_dot = self.rest().strip_prefix('.');
        if after_dot.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            is_integer = false;
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        let exponent = self.rest().strip_prefix(['e', 'E']);
        let digits = exponent.map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        if digits.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            is_integer = false;
            self.at += self.rest().len() - digits.map_or(0, str::len);
            self.take_while(|c| c.is_ascii_digit());
        }
        let text = self.source.get(start..self.at).unwrap_or_default();
        if is_integer {
            return Ok(self.integer(text.to_owned()));
        }
        let number = text
            .parse()
            .map_err(|_| self.error("invalid double literal"))?;
        Ok(TokenKind::Double(number))
    }

    /// An `int`, or a `uint` if a `u` follows the digits.
    fn integer(&mut self, digits: String) -> TokenKind {
        if self.rest().starts_with(['u', 'U']) {
            self.at += 1;
            TokenKind::Uint(digits)
        } else {
            TokenKind::Int(digits)
        }
    }

    /// A string or bytes, raw or with escapes, in one or three quotes; `None` if the next token is
    /// not one.
    fn quoted(&mut self) -> Result<Option<TokenKind>, SourceError> {
        let rest = self.rest();
        let prefix = rest
            .bytes()
            .take(3)
            .position(|byte| matches!(byte, b'"' | b'\''));
        let Some(prefix) = prefix.and_then(|end| rest.get(..end)) else {
            return Ok(None);
        };
        let lower = prefix.to_ascii_lowercase();
        if !matches!(lower.as_str(), "" | "r" | "b" | "rb" | "br") {
            return Ok(None);
        }
        let literal = rest.get(prefix.len()..).unwrap_or_default();
        let quote = ["\"\"\"", "'''", "\""]
            .into_iter()
            .find(|quote| literal.starts_with(quote))
            .unwrap_or("'");
        let body = literal.get(quote.len()..).unwrap_or_default();
        let is_raw = lower.contains('r');
        let is_bytes = lower.contains('b');
        let end = find_end(body, quote, is_raw).ok_or_else(|| self.error("unterminated text"))?;
        let inner = body.get(..end).unwrap_or_default();
        let content = if is_raw {
            Some(inner.bytes().collect())
        } else {
            unescape(inner, is_bytes)
        };
        let bytes = content.ok_or_else(|| self.error("unable to unescape string"))?;
        self.at += prefix.len() + 2 * quote.len() + end;
        if is_bytes {
            return Ok(Some(TokenKind::Bytes(bytes)));
        }
        let text = String::from_utf8(bytes).map_err(|_| self.error("invalid text"))?;
        Ok(Some(TokenKind::String(text)))
    }
}

fn find_end(body: &str, quote: &str, is_raw: bool) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = body.get(at..)?;
        if rest.starts_with(quote) {
            return Some(at);
        }
        let next = rest.chars().next()?;
        if next == '\n' && quote.len() == 1 {
            return None;
        }
        at += next.len_utf8();
        if next == '\\' && !is_raw {
            at += body.get(at..)?.chars().next()?.len_utf8();
        }
    }
}

/// Replaces the escapes of a literal. In bytes, `\x` and octal digits are bytes, in strings they are
/// characters.
fn unescape(text: &str, is_bytes: bool) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    let push = |out: &mut Vec<u8>, c: char| {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    };
    while let Some(c) = chars.next() {
        if c != '\\' {
            push(&mut out, c);
            continue;
        }
        let escape = chars.next()?;
        let plain = match escape {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '`' | '?' => escape,
            _ => {
                let (digits, radix, head) = match escape {
                    'x' | 'X' => (2, 16, None),
                    'u' => (4, 16, None),
                    'U' => (8, 16, None),
                    '0'..='3' => (2, 8, Some(escape)),
                    _ => return None,
                };
                let text: String = head
                    .into_iter()
                    .chain(chars.by_ref().take(digits))
                    .collect();
                let code = u32::from_str_radix(&text, radix).ok()?;
                if is_bytes && digits == 2 {
                    out.push(u8::try_from(code).ok()?);
                    continue;
                }
                char::from_u32(code)?
            }
        };
        push(&mut out, plain);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, tokenize};

    fn kinds(source: &str) -> Vec<TokenKind> {
        let tokens = tokenize(source).unwrap();
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn strings_and_bytes_have_escapes_and_raw_forms() {
        let string = |text: &str| TokenKind::String(text.to_owned());
        assert_eq!(
            kinds(r#"'a\n\'' r"\d" '''x'y''' "\u00e9\x41" b'\xff'"#),
            [
                string("a\n'"),
                string("\\d"),
                string("x'y"),
                string("éA"),
                TokenKind::Bytes(vec![255]),
                TokenKind::End,
            ]
        );
        assert!(tokenize("'a").is_err());
        assert!(tokenize("'\\q'").is_err());
    }

    #[test]
    fn numbers_are_int_uint_or_double() {
        assert_eq!(
            kinds("1 0x1Fu 2.5 1e3 a.b // rest"),
            [
                TokenKind::Int("1".to_owned()),
                TokenKind::Uint("0x1F".to_owned()),
                TokenKind::Double(2.5),
                TokenKind::Double(1000.0),
                TokenKind::Ident("a".to_owned()),
                TokenKind::Operator("."),
                TokenKind::Ident("b".to_owned()),
                TokenKind::End,
            ]
        );
        assert!(tokenize("a # b").is_err());
    }
}
