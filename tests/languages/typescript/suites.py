"""The test suites of TypeScript and JavaScript: alphabets, contexts, pieces, and the suites made of them."""

from __future__ import annotations

import itertools

from fimlsp.languages.typescript import javascript, jsx, tsx, typescript
from fimlsp.testing.checking import Judged
from fimlsp.testing.suites import Endless, endless

from .judge import accepts, leaves_open
from .programs import program_of

_SIGNS = str.maketrans({"␣": " ", "↵": "\n", "␍": "\r", "→": "\t", "⁞": "\u2028", "⁝": "\u2029"})


def _alphabets(text: str) -> tuple[tuple[bytes, ...], ...]:
    """An alphabet for each line of *text*, whose pieces have spaces between them."""
    lines = (line.split() for line in text.strip().splitlines())
    return tuple(tuple(piece.translate(_SIGNS).encode() for piece in line) for line in lines)


ALPHABETS = _alphabets(
    r"""
    a ↵ ( ) + ++ ; [ ] `x` ␣b
    a ↵ => ( ) { } , async␣ x ...
    return␣ ↵ a ; break␣ throw␣ continue␣ yield␣ ( )
    if(a) else␣ b ↵ ; { } do␣ while(c) x: var␣y
    for( let␣x ␣of␣ ␣in␣ a ; ) = 1 , await␣
    let␣ const␣ a = 1 , ↵ { } [ ] ...
    class␣A{ } a ↵ = 1 ( ) {} static␣ get␣ #p ; *
    x={ } a : , 1 get␣ ( ) {} ... async␣ * [b]
    import␣ export␣ a ␣from␣ 's' { } * ␣as␣ default␣ , ↵
    ` ${ } a { \ u 1 $ ↵ x
    a ?. b ? : .5 ( ) [ ] ?? !
    new␣ a ( ) .b `t` super this import . target
    x= 0 1 n e . _ x 8 b +
    x=' ' \ u { } 1 0 x a ↵ ⁞
    a / * ↵ ␍ ␣ // ⁞ b =1
    try{} catch (e) {} finally switch(a){ case␣b: default: c } ↵
    a ** - + ++ ! typeof␣ b = ( ) delete␣
    a && b || c ?? d ( ) == ? : #p␣in␣
    await␣ yield␣ async␣ function * ␣f () { } a ↵
    await␣a async␣ () => { } function␣f (b= ) ; class␣A m ↵ static␣ =
    <! -- a ↵ > ; b /**/ - ␣
    """
)
TYPED = _alphabets(
    r"""
    let␣a: b | & [ ] < > = 1 ↵ 's'
    type␣A= b ␣extends␣ ? : infer␣ c ( ) => keyof␣ []
    type␣A={ } a : b ; , ↵ ? readonly␣ [ ] ␣in␣ ( )
    interface␣A { } <T> ␣extends␣ B , a () : ↵ new␣
    f < a > ( ) , b `t` .c ↵ >=
    x ␣as␣ const T ␣satisfies␣ + 1 ! ↵ .y < ( )
    x ␣as␣ T && y || ?? == ? : ( )
    enum␣A const␣ declare␣ { } a = 1 , namespace␣ module␣ 'm' ↵
    abstract␣ class␣A { } ␣implements␣ B private␣ x ? ! : T () ↵
    @d ␣class␣A { } () .e export␣ default␣ ␣m ↵ static␣
    function␣f ( ) a ? : T {} <U> asserts␣ is␣ this , ↵
    declare␣ function␣f () let␣x : T global { } type␣ a = ↵
    import␣ type␣ a = require ('m') export␣ as␣ namespace␣ .b { } ↵
    let␣x: ` ${ } a typeof␣ import ('m') .b unique␣ symbol -1
    < T > ( ) x => , ␣extends␣ U y
    """
)
ELEMENTS = _alphabets(
    r"""
    <a > </a> /> x { } ␣b ↵
    <a> </a> {c} x <b/> ' > , ;
    <a␣ b = {c} "d" <e/> ↵ /> {...f} : x
    <> </> {c} <a/> x ↵ a }
    <a .b > </a : c /> ␣ < T
    x={ <a> </a> } ( ) => ↵ y
    return␣ ( <a> </a> ) ↵ ; {c}
    a ␣ < b <b > /> ↵ + ?
    <a␣ b={ c } ` ${ d />
    <a> { /* */ // ↵ } </a> c
    <a␣ b=' c ↵ ' /> " {
    if(a) => { } <a/> </a> <a> ↵
    """
)
TYPED_ELEMENTS = _alphabets(
    r"""
    < T , > ( x ) => ␣extends␣ U
    <T, <T␣extends␣ <T> ( x ) => > U
    <a <T> > /> ␣b </a> , .c
    type␣A= <T> ( x ) => y ↵ <T,
    interface␣A { } <T>( x ) ↵ : U
    <a<{ b : T } > /> ; ␣c , =>
    """
)
OUTER = ((b"\xef\xbb\xbf", b"\n", b"a", b" ", b"\xef", b"\xbb", b"//"),)
_OTHERS = _alphabets(
    r"""
    /r/ /␣ // /* */ ␍↵ → # @ ⁝
    """
)
PIECES = tuple(itertools.chain(*ALPHABETS, *_OTHERS))
CONTEXTS = (
    (b"", b""),
    (b"a", b""),
    (b"a\n", b"b\n"),
    (b"function f(){", b"}\n"),
    (b"async function* f(){", b"}\n"),
    (b"x = (", b");\n"),
    (b"x = [", b"]\n"),
    (b"x = {", b"};\n"),
    (b"class A {", b"}\n"),
    (b"x = `a${", b"}b`;\n"),
    (b"x = `a", b"b`\n"),
    (b"if (a) ", b"\nelse b\n"),
    (b"var x = a", b"\n(b)\n"),
    (b"f(a, ", b")\nb"),
    (b"do a", b"while(b) c\n"),
    (b"let x = () => {", b"}\nlet y\n"),
)
TYPED_CONTEXTS = (
    (b"interface A {", b"}\n"),
    (b"let x: ", b";\n"),
    (b"type A<", b"> = B\n"),
    (b"namespace N {", b"}\n"),
    (b"let y: f<T,", b">;\n"),
    (b"x as ", b"\ny"),
)
ELEMENT_CONTEXTS = (
    (b"x = <a>", b"</a>\n"),
    (b"x = <a ", b"/>\n"),
    (b"x = <a>\n  ", b"\n  b\n</a>\n"),
    (b"x = <a b={", b"}/>\n"),
    (b"x = <a>{", b"}</a>\n"),
    (b"x = <a>{b.map((c) => {\n  return ", b"\n})}\n  d, e\n</a>\n"),
    (b"x = (\n  <a\n    b='c'\n", b"\n    d\n  />\n)\n"),
    (b"x = <a>{b && (<a>", b"</a>)}</a>\n"),
    (b"x = <a><a", b"></a></a>\n"),
    (b"x = `${<a>", b"</a>}`\n"),
    (b"x = <a b=", b"></a>\n"),
)
TYPESCRIPT = Judged(
    typescript,
    accepts("typescript"),
    (*PIECES, *itertools.chain(*TYPED)),
    leaves_open=leaves_open("typescript", ("checked", "reserved-typescript"), "suspending-typescript"),
)
JAVASCRIPT = Judged(
    javascript,
    accepts("lenient-javascript"),
    PIECES,
    leaves_open=leaves_open("lenient-javascript", ("reserved-javascript",), "suspending-javascript"),
)
TSX = Judged(
    tsx,
    accepts("tsx"),
    (*TYPESCRIPT.pieces, *itertools.chain(*ELEMENTS, *TYPED_ELEMENTS)),
    leaves_open=leaves_open("tsx", ("checked-tsx", "reserved-tsx"), "suspending-tsx"),
)
JSX = Judged(
    jsx,
    accepts("lenient-jsx"),
    (*PIECES, *itertools.chain(*ELEMENTS)),
    leaves_open=leaves_open("lenient-jsx", ("reserved-jsx",), "suspending-jsx"),
)
SUITES: dict[Judged, Endless] = {
    TSX: endless(
        TSX,
        (*ELEMENTS, *TYPED_ELEMENTS, *ELEMENTS, *ALPHABETS, *TYPED),
        (*ELEMENT_CONTEXTS, *ELEMENT_CONTEXTS, *CONTEXTS, *TYPED_CONTEXTS),
        program_of(tsx),
        OUTER,
    ),
    JSX: endless(
        JSX,
        (*ELEMENTS, *ELEMENTS, *ALPHABETS),
        (*ELEMENT_CONTEXTS, *ELEMENT_CONTEXTS, *CONTEXTS),
        program_of(jsx),
        OUTER,
    ),
    TYPESCRIPT: endless(
        TYPESCRIPT, (*ALPHABETS, *TYPED), (*CONTEXTS, *TYPED_CONTEXTS), program_of(typescript), OUTER
    ),
    JAVASCRIPT: endless(JAVASCRIPT, ALPHABETS, CONTEXTS, program_of(javascript), OUTER),
}
"""The suites of each language."""
