"""The formats of strings in a JSON Schema, as regular expressions for whole texts.

The definitions are those that the specification names: RFC 3339, 3986, 4122, 4291, 5321, 1123 and 6901.
Addresses and names of hosts are narrower here, as their lengths are counted over all parts. A host has up to
seven parts of 35 characters, none of them encoded (`xn--`). The name before an `@` has up to three parts of
20 characters, without quotes.
"""

from __future__ import annotations

from difflib import get_close_matches

_DATE = (
    r"(?!0000)[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    r"|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29"
)
_CLOCK = (
    r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"

_PAIR = "[0-9A-Fa-f]{1,4}"
_LAST_PAIRS = rf"(?:{_PAIR}:{_PAIR}|{_IPV4})"
_IPV6 = "|".join(
    (
        rf"(?:{_PAIR}:){{6}}{_LAST_PAIRS}",
        rf"::(?:{_PAIR}:){{5}}{_LAST_PAIRS}",
        *(
            rf"(?:(?:{_PAIR}:){{0,{before}}}{_PAIR})?::(?:{_PAIR}:){{{4 - before}}}{_LAST_PAIRS}"
            for before in range(5)
        ),
        rf"(?:(?:{_PAIR}:){{0,5}}{_PAIR})?::{_PAIR}",
        rf"(?:(?:{_PAIR}:){{0,6}}{_PAIR})?::",
    )
)

_HOST_PART = "(?![A-Za-z0-9-]{2}--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,33}[A-Za-z0-9])?"
_HOST = rf"{_HOST_PART}(?:\.{_HOST_PART}){{0,6}}"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}"
_EMAIL = rf"{_ATOM}(?:\.{_ATOM}){{0,2}}@{_HOST}"

_PLAIN = r"A-Za-z0-9._~!$&'()*+,;=\-"
_ESCAPED = "%[0-9A-Fa-f]{2}"
_INSIDE = rf"(?:[{_PLAIN}:@]|{_ESCAPED})"
_LITERAL_HOST = rf"\[(?:{_IPV6}|[Vv][0-9A-Fa-f]+\.[{_PLAIN}:]+)\]"
_AUTHORITY = rf"(?:(?:[{_PLAIN}:]|{_ESCAPED})*@)?(?:{_LITERAL_HOST}|(?:[{_PLAIN}]|{_ESCAPED})*)(?::[0-9]*)?"
_SEGMENTS = rf"(?:/{_INSIDE}*)*"
_ROOTED = rf"//{_AUTHORITY}{_SEGMENTS}|/(?:{_INSIDE}+{_SEGMENTS})?"
_TAIL = rf"(?:\?(?:{_INSIDE}|[/?])*)?(?:#(?:{_INSIDE}|[/?])*)?"
_URI = rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{_ROOTED}|{_INSIDE}+{_SEGMENTS}|){_TAIL}"
_RELATIVE = rf"(?:{_ROOTED}|(?:[{_PLAIN}@]|{_ESCAPED})+{_SEGMENTS}|){_TAIL}"

FORMATS = {
    "date": _DATE,
    "time": _CLOCK,
    "date-time": rf"(?:{_DATE})[Tt]{_CLOCK}",
    "uuid": r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "hostname": _HOST,
    "email": _EMAIL,
    "uri": _URI,
    "uri-reference": f"{_URI}|{_RELATIVE}",
    "json-pointer": r"(?:/(?:[^~/]|~[01])*)*",
}
_OTHERS = (
    "duration",
    "idn-email",
    "idn-hostname",
    "iri",
    "iri-reference",
    "regex",
    "relative-json-pointer",
    "uri-template",
)
"""Formats of the specification that are not supported."""

_ALIKE = 0.85


def fault_of(name: str) -> str | None:
    """The reason for which the format *name* cannot be used; None if it can, or if it is a remark.

    A format that the specification does not define restricts nothing, unless it looks like a slip of the pen.
    """
    if name in FORMATS:
        return None
    alike = get_close_matches(name, (*FORMATS, *_OTHERS), 1, _ALIKE)
    if name in _OTHERS:
        return f"has the format {name!r}; supported are {', '.join(FORMATS)}"
    return f"has the format {name!r}, which looks like {alike[0]!r}" if alike else None
