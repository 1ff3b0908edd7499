"""The tokens of DML, and those that sqlglot reads otherwise than TiDB."""

from __future__ import annotations

import re

from sqlglot.errors import TokenError

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.scenario.sql.text.dialect import TiDB, Token, TokenType, token_error
from ticdc_producer.scenario.sql.text.tidb_grammar import check_tokens


def dml_tokens(text: str, line: int) -> list[Token]:
    """Return the tokens of a statement as sqlglot's parser reads them.

    :raises ScenarioError: where a quote or a comment is not closed, and for a word that TiDB's
        grammar does not have.
    :raises UnsupportedSQL: for a hint that changes the result.
    """
    try:
        tokens = _tokens_of_sums(text, line)
    except TokenError as error:
        raise token_error(error, text, line) from error
    for comment in (comment for token in tokens for comment in token.comments):
        if comment.startswith("+") and (setting := _SETTING.search(comment)):
            raise UnsupportedSQL(f"SET_VAR({setting[1]}) in a hint is not supported", line=line)
    return _with_literals(tokens)


_SETTING = re.compile(
    r"\bSET_VAR\s*\(\s*(sql_mode|time_zone|timestamp|foreign_key_checks|tidb_skip_utf8_check)\b",
    re.IGNORECASE,
)
"""A setting in a hint that changes the result; other hints have no effect."""


_SUM = re.compile(r"[0-9.]+[eE][+-]?[0-9]+(?=[+-])")
"""A number with an exponent before a sign, which sqlglot reads as a part of the number, or of a word."""


def _tokens_of_sums(text: str, line: int) -> list[Token]:
    """Return the tokens of a text, with a blank after each number that sqlglot does not end at a sign.

    :raises ScenarioError: for a word that TiDB's grammar does not have.
    """
    while True:
        tokens = list(TiDB().tokenize(text))
        ends = [
            token.start + match.end()
            for token in tokens
            if token.token_type in _NUMBER_OR_WORD and (match := _SUM.match(token.text))
        ]
        if not ends:
            check_tokens(tokens, text, line)
            return tokens
        parts = (text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True))
        text = " ".join(parts)


_NUMBER_OR_WORD = (TokenType.NUMBER, TokenType.VAR)


_ODBC_WORDS = {"D": "DATE", "T": "TIME", "TS": "TIMESTAMP"}


def _with_literals(tokens: list[Token]) -> list[Token]:
    r"""Replace ``{d '…'}``, ``{t '…'}``, ``{ts '…'}`` and ``\N`` by literals, ``NEXT VALUE FOR`` by a call.

    The word before the bracket of ``DEFAULT(column)`` becomes a name, and so do a charset in quotes, the last
    word of ``@@session.timestamp`` and any word after a dot. ``:=`` after a column becomes ``=``.
    """
    for position in range(len(tokens) - 2, -1, -1):
        token, following = tokens[position], tokens[position + 1]
        if token.token_type == TokenType.USING and following.token_type == TokenType.STRING:
            tokens[position + 1] = _retyped(following, TokenType.VAR)
        elif token.token_type == TokenType.DEFAULT and following.token_type == TokenType.L_PAREN:
            tokens[position] = _retyped(token, TokenType.VAR)
        elif [each.text for each in tokens[position : position + 3 : 2]] == ["@@", "."]:
            tokens[position + 3 : position + 4] = (
                _retyped(each, TokenType.VAR) for each in tokens[position + 3 : position + 4]
            )
        elif (token.text, following.text) == ("\\", "N") and following.start == token.end + 1:
            tokens[position : position + 2] = [_retyped(token, TokenType.NULL, "NULL")]
        elif token.token_type == TokenType.DOT and following.text.isidentifier():
            tokens[position + 1] = _name(following)
        elif token.token_type == TokenType.L_BRACE:
            tokens[position : position + 4] = _without_braces(tokens[position : position + 4])
        elif [each.text.upper() for each in tokens[position : position + 3]] == ["NEXT", "VALUE", "FOR"]:
            _call_nextval(tokens, position)
        elif following.token_type is TokenType.COLON_EQ and _is_assigned(tokens, position):
            tokens[position + 1] = _retyped(following, TokenType.EQ, "=")
    return tokens


def _name(token: Token) -> Token:
    """Return a word as a name; a name in quotes remains one."""
    return token if token.token_type == TokenType.IDENTIFIER else _retyped(token, TokenType.VAR)


def _is_assigned(tokens: list[Token], position: int) -> bool:
    """Return whether a name is that of a column in SET or ON DUPLICATE KEY UPDATE, and no user variable."""
    while position >= 2 and tokens[position - 1].token_type is TokenType.DOT:
        position -= 2
    if tokens[position - 1].token_type not in (*_BEFORE_ASSIGNED, TokenType.COMMA):
        return False
    depth = 0
    for token in reversed(tokens[:position]):
        kind = token.token_type
        depth += (kind is TokenType.R_PAREN) - (kind is TokenType.L_PAREN)
        if depth < 0 or (depth == 0 and kind in _AROUND_EXPRESSIONS):
            return False
        if depth == 0 and kind in _BEFORE_ASSIGNED:
            return True
    return False


_BEFORE_ASSIGNED = (TokenType.SET, TokenType.UPDATE)
_AROUND_EXPRESSIONS = (TokenType.SELECT, TokenType.WHERE, TokenType.ORDER_BY)


def _call_nextval(tokens: list[Token], position: int) -> None:
    """Replace ``NEXT VALUE FOR sequence`` by ``NEXTVAL(sequence)``."""
    name, opening, closing = TiDB().tokenize("nextval()")
    end = position + 4 + 2 * (len(tokens) > position + 4 and tokens[position + 4].text == ".")
    tokens[position:end] = [
        _retyped(tokens[position], name.token_type, name.text),
        _retyped(tokens[position + 2], opening.token_type, opening.text),
        *tokens[position + 3 : end],
        _retyped(tokens[end - 1], closing.token_type, closing.text),
    ]


def _without_braces(tokens: list[Token]) -> list[Token]:
    meant = _ODBC_WORDS.get(tokens[1].text.upper())
    kinds = [token.token_type for token in tokens[2:]]
    if meant is None or kinds != [TokenType.STRING, TokenType.R_BRACE]:
        return tokens
    (literal,) = TiDB().tokenize(meant)
    return [_retyped(tokens[1], literal.token_type), tokens[2]]


def _retyped(token: Token, kind: TokenType, text: str = "") -> Token:
    return Token(kind, text or token.text, token.line, token.col, token.start, token.end, token.comments)


def as_insert(token: Token) -> Token:
    """Return the first token of an INSERT instead of that of a REPLACE."""
    return Token(TokenType.INSERT, "INSERT", token.line, token.col, token.start, token.end, token.comments)


_BEGINS_LIST = {
    None, TokenType.COMMA, TokenType.L_PAREN, TokenType.SET, TokenType.VALUES, TokenType.SELECT,
    TokenType.FROM, TokenType.ORDER_BY, TokenType.GROUP_BY,
}  # fmt: skip
_ENDS_LIST = {
    None, TokenType.COMMA, TokenType.R_PAREN, TokenType.SEMICOLON, TokenType.SET, TokenType.FROM,
    TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY, TokenType.LIMIT, TokenType.ON,
}  # fmt: skip


def check_commas(tokens: list[Token], line: int) -> None:
    """Check that something is on both sides of each comma; sqlglot ignores a comma too many.

    TiDB's grammar has no list with an empty element. Source: tidb ``pkg/parser/parser.y``.

    :raises ScenarioError: for the first comma that separates nothing.
    """
    kinds = [None, *(token.token_type for token in tokens), None]
    for position, token in enumerate(tokens):
        if token.token_type is TokenType.COMMA and (
            kinds[position] in _BEGINS_LIST or kinds[position + 2] in _ENDS_LIST
        ):
            what = "SQL does not parse: a comma has nothing before or after it"
            raise ScenarioError(what, line=line + token.line - 1)
