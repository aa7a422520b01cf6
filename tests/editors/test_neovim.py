"""The Neovim plugin in real Neovims: one that shows inline completions itself, and one that does not."""

from __future__ import annotations

import ast
import json
import re
import shutil
import socket
import sys
from pathlib import Path

import pytest

from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.local_models import PORTS

from ..models.llama_cpp import serving

pytestmark = pytest.mark.neovim

PLUGIN = Path(__file__).parents[2] / "editors" / "neovim"
SCRIPTED = [sys.executable, str(Path(__file__).with_name("suggesting_server.py"))]
REAL_PROTOCOL = [sys.executable, str(Path(__file__).parents[1] / "lsp_server" / "scripted_server.py")]


def lua_list(items):
    return "{ " + ", ".join(json.dumps(item) for item in items) + " }"


def script(*candidates, text="x = <|>\n"):
    return f"# {json.dumps(candidates)}\n{text}"


@pytest.fixture(params=["native", "fallback", "oldest"])
def kind(request):
    return request.param


@pytest.fixture
def neovim(start_neovim, kind):
    return start_neovim(kind, f"{{ cmd = {lua_list(SCRIPTED)}, settings = {{ debounceMs = 20 }} }}")


def test_each_version_shows_its_own_way(neovim, kind):
    assert neovim.lua("return require('fimlsp.config').is_native()") == (kind == "native")


def test_ghost_text_appears_in_front_of_what_follows(neovim):
    neovim.open(script("1 + 2", text="f(<|>)\n"))
    neovim.assert_shows("f(1 + 2)")
    assert neovim.text().endswith("\nf()\n")


def test_accepted_with_tab(neovim):
    neovim.open(script("1 + 2", text="f(<|>)\n"))
    neovim.assert_shows("f(1 + 2)")
    neovim.type("<Tab>!")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(1 + 2!)\n"), neovim.text)
    neovim.assert_soon(lambda: ("accepted", "0") in neovim.heard(), neovim.heard)


def test_the_place_where_the_cursor_rests_is_told(neovim):
    neovim.open("x = 1\ny = 2\nz<|> = 3\n")
    neovim.assert_soon(lambda: neovim.rested()[-1:] == [(2, 1)], neovim.rested)
    neovim.type("<Esc>k$")
    neovim.assert_soon(lambda: neovim.rested()[-1:] == [(1, 4)], neovim.rested)


def test_a_model_that_reads_for_long_shows_in_the_statusline(start_neovim, kind):
    neovim = start_neovim(kind, f"{{ cmd = {lua_list(REAL_PROTOCOL)}, settings = {{ minLength = 0 }} }}")
    neovim.open("# read<|>\n")
    neovim.type("s")
    seen = set()

    def has_been_reading():
        seen.add(neovim.lua("return require('fimlsp').status()"))
        return any(text.startswith("fimlsp … reading ") and text.endswith("%") for text in seen)

    neovim.assert_soon(has_been_reading, lambda: seen)
    neovim.assert_soon(lambda: neovim.suggested() is not None)
    neovim.assert_soon(lambda: "reading" not in neovim.lua("return require('fimlsp').status()"))


def test_the_cursor_stays_in_a_call_that_is_left_open(neovim):
    neovim.open(script("total($0)", text="f(<|>)\n"))
    neovim.assert_shows("f(total())")
    neovim.type("<Tab>1")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(total(1))\n"), neovim.text)
    neovim.assert_soon(lambda: ("accepted", "0") in neovim.heard(), neovim.heard)


def test_a_call_that_is_left_open_is_typed_through_and_taken_word_by_word(neovim):
    neovim.open(script("a_total($0)", text="f(<|>)\n"))
    neovim.assert_shows("f(a_total())")
    neovim.type("a_")
    neovim.assert_soon(lambda: neovim.suggested() == "total()", neovim.suggested)
    neovim.type("<C-Right>")
    neovim.assert_soon(lambda: neovim.suggested() == "()", neovim.suggested)
    neovim.type("<C-Right>")
    neovim.type("1")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(a_total(1))\n"), neovim.text)


@pytest.mark.parametrize(
    ("suggested", "shown", "typed", "expected"),
    [
        ("isinstance($0):", "if isinstance():", "a):!", "if isinstance(a):!"),
        ("isinstance($0):", "if isinstance():", "(a)!):", "if isinstance((a)!):"),
        ("isinstance($0):", "if isinstance():", "a)b:", "if isinstance(a)b:"),
        ("isinstance($0):", "if isinstance():", "a:", "if isinstance(a:):"),
        (r"a in {b$0\}:", "if a in {b}:", "}:!", "if a in {b}:!"),
    ],
)
def test_what_was_closed_behind_the_cursor_is_typed_over(neovim, suggested, shown, typed, expected):
    neovim.open(script(suggested, text="if <|>\n    pass\n"))
    neovim.assert_shows(shown)
    neovim.type("<Tab>")
    neovim.type(typed)
    neovim.assert_soon(lambda: neovim.text().endswith(f"\n{expected}\n    pass\n"), neovim.text)


def test_a_call_that_was_typed_to_its_bracket_is_not_shown_any_more(neovim):
    neovim.open(script("total($0)", text="f(<|>)\n"))
    neovim.assert_shows("f(total())")
    neovim.type("total(")
    neovim.assert_soon(lambda: neovim.suggested() is None, neovim.suggested)


def test_accepted_in_front_of_what_was_typed_meanwhile(neovim):
    """Neovim's own way inserts the typed letter again (issue 36529)."""
    neovim.open(script("1 + 2", text="f(<|>)\n"))
    neovim.assert_shows("f(1 + 2)")
    neovim.type("1<Tab>")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(1 + 2)\n"), neovim.text)


def test_typed_through(neovim):
    neovim.open(script("one + two", text="f(<|>)\n"))
    neovim.assert_shows("f(one + two)")
    for key in "one":
        neovim.type(key)
        neovim.assert_shows("f(one + two)")
    neovim.assert_soon(lambda: neovim.suggested() == " + two")
    neovim.type("<Tab>")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(one + two)\n"), neovim.text)


def test_another_text_than_suggested_takes_it_away_at_once(neovim):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    neovim.type("x")
    neovim.assert_shows("f(x)")
    neovim.type("<Tab>")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(x\t)\n"), neovim.text)


def test_accepted_by_word(neovim):
    neovim.open(script("one + two()", text="f(<|>)\n"))
    neovim.assert_shows("f(one + two())")
    for end in ("one", "one +", "one + two", "one + two("):
        neovim.type("<C-Right>")
        neovim.assert_soon(lambda end=end: neovim.text().endswith(f"\nf({end})\n"), neovim.text)
        neovim.assert_soon(lambda end=end: neovim.suggested() == "one + two()"[len(end) :])
        neovim.assert_shows("f(one + two())")


def test_accepted_by_line(neovim):
    neovim.open(script("one\ntwo\nthree", text="<|>\nend\n"))
    neovim.assert_shows("three")
    neovim.type("<M-Right>")
    neovim.assert_soon(lambda: neovim.text().endswith("]\none\nend\n"), neovim.text)
    neovim.assert_shows("three")
    neovim.type("<M-Right>")
    neovim.assert_soon(lambda: neovim.text().endswith("]\none\ntwo\nend\n"), neovim.text)
    neovim.assert_shows("three")
    neovim.type("<Tab>")
    neovim.assert_soon(lambda: neovim.text().endswith("]\none\ntwo\nthree\nend\n"), neovim.text)


def test_several_lines_are_shown_below_and_accepted_as_one(neovim):
    neovim.open(script("if a:\n    b", text="<|>\nend\n"))
    neovim.assert_shows("if a:")
    screen = neovim.screen()
    assert screen[1:4] == ["if a:", "    b", "end"]
    neovim.type("<Tab>!")
    neovim.assert_soon(lambda: neovim.text().endswith("]\nif a:\n    b!\nend\n"), neovim.text)


def test_next_and_previous_ask_for_more(neovim):
    neovim.open(script("one", "two", "three", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    for key, shown in [("<M-]>", "two"), ("<M-]>", "three"), ("<M-]>", "one"), ("<M-[>", "three")]:
        neovim.type(key)
        neovim.assert_soon(lambda shown=shown: neovim.suggested() == shown)
        neovim.assert_soon(lambda shown=shown: shown in neovim.screen()[1], neovim.screen)
    assert [event for event in neovim.heard() if event[0] == "asked"] == [
        ("asked", "automatic", "f("),
        ("asked", "invoked", "f("),
    ]
    neovim.type("<Tab>")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(three)\n"), neovim.text)
    neovim.assert_soon(lambda: ("accepted", "2") in neovim.heard(), neovim.heard)


def test_dismissed(neovim):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    neovim.type("<C-]>")
    neovim.assert_shows("f()")
    neovim.assert_soon(lambda: ("dismissed", "0") in neovim.heard(), neovim.heard)
    neovim.type("<Tab>")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(\t)\n"), neovim.text)


def test_escape_ends_it(neovim):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    neovim.assert_soon(lambda: neovim.state() == "suggestion")
    neovim.type("<Esc>")
    neovim.assert_shows("f()")
    assert neovim.suggested() is None
    neovim.assert_soon(lambda: neovim.state() == "idle")


def test_by_hand_only(neovim):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    neovim.api.command("Fimlsp toggle")
    neovim.assert_soon(lambda: neovim.lua("return require('fimlsp').status()") == "fimlsp ✓ invoked only")
    neovim.type("<Esc>a")
    neovim.assert_soon(lambda: neovim.state() == "none")
    neovim.assert_shows("f()")
    neovim.type("<M-Bslash>")
    neovim.assert_shows("f(one)")


def test_off_in_a_buffer_and_on_again(neovim):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    neovim.api.command("Fimlsp buffer")
    neovim.assert_shows("f()")
    assert neovim.lua("return require('fimlsp').status()") == "fimlsp ⊘ off in this buffer"
    neovim.type("<Tab>")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(\t)\n"), neovim.text)
    neovim.type("<BS>")
    neovim.api.command("Fimlsp buffer")
    neovim.type("<Esc>a")
    neovim.assert_shows("f(one)")


def test_the_reason_why_there_is_none(neovim):
    neovim.open(script(text="f(<|>)\n"))
    neovim.assert_soon(lambda: neovim.state() == "none")
    assert neovim.lua("return require('fimlsp').status()") == "fimlsp ⊘ the script has nothing to say"
    neovim.api.command("Fimlsp")
    assert "fimlsp: no suggestion: the script has nothing to say" in neovim.api.command_output("messages")


def test_not_while_the_popup_menu_is_open(neovim):
    neovim.open(script("one", text="onerous = 1\nf(<|>)\n"))
    neovim.assert_shows("f(one)")
    neovim.type("on<C-n>")
    neovim.assert_soon(lambda: neovim.api.funcs.pumvisible() == 1)
    neovim.assert_soon(lambda: neovim.suggested() is None)
    neovim.assert_soon(lambda: not [line for line in neovim.screen() if "f(onerous" in line and "e)" in line])


def test_keys_that_have_nothing_to_do_do_what_they_did(start_neovim, kind):
    neovim = start_neovim(
        kind,
        f"{{ cmd = {lua_list(SCRIPTED)} }}",
        "vim.keymap.set('i', '<Tab>', function() return 'tab' end, { expr = true })\n"
        "vim.keymap.set('i', '<C-Right>', 'right')\n"
        "vim.keymap.set('i', '<C-]>', function() vim.g.called = true end)",
    )
    neovim.open(script(text="f(<|>)\n"))
    neovim.type("<Tab><C-Right><C-]>!")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf(tabright!)\n"), neovim.text)
    assert neovim.lua("return vim.g.called") is True


def test_characters_of_any_width(neovim):
    neovim.open(script("é = '😋'", text="# 😋\nf('é😋', <|>)\n"))
    neovim.assert_shows("f('é😋', é = '😋')")
    neovim.type("é<Tab>")
    neovim.assert_soon(lambda: neovim.text().endswith("\nf('é😋', é = '😋')\n"), neovim.text)


def test_commands(neovim):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    assert neovim.api.funcs.getcompletion("Fimlsp t", "cmdline") == ["toggle", "trigger"]
    neovim.api.command("stopinsert | Fimlsp log")
    assert any("the script is ready" in line for line in neovim.api.current.buffer[:])
    neovim.api.command("close | Fimlsp statistics")
    neovim.assert_soon(lambda: "Suggestions " in neovim.api.current.buffer[0])
    neovim.api.command("close")
    with pytest.raises(Exception, match="unknown command :Fimlsp nonsense"):
        neovim.api.command("Fimlsp nonsense")


def test_a_restart_brings_the_server_back(neovim):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    neovim.api.command("stopinsert | Fimlsp restart")
    neovim.assert_soon(lambda: neovim.state() == "idle")
    neovim.type("i<Right>")
    neovim.assert_soon(lambda: neovim.heard()[:1] != [])


def test_health(neovim, kind):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    neovim.api.command("stopinsert | checkhealth fimlsp")
    report = "\n".join(neovim.api.current.buffer[:])
    assert "ERROR" not in report
    assert ("Neovim's inline completion" in report) == (kind == "native")
    assert "the server runs" in report


def test_names_that_were_not_known_are_told(neovim):
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    late = "{ state = 'none', reason = 'not sure', names = 'they are still being looked up' }"
    neovim.lua(f"require('fimlsp.status').set({late})")
    sentence = neovim.lua("return require('fimlsp.status').sentence()")
    assert sentence == "no suggestion: not sure. Names in scope are unknown: they are still being looked up"
    neovim.api.command("stopinsert | checkhealth fimlsp")
    assert "names in scope are unknown: they are still" in "\n".join(neovim.api.current.buffer[:])


NOWHERE = "vim.env.PATH, vim.env.VIRTUAL_ENV = '/nowhere', nil"


def messages(neovim):
    return neovim.api.command_output("messages")


def test_without_a_server_one_notice_says_what_to_do(start_neovim, kind):
    neovim = start_neovim(kind, "{}", NOWHERE)
    neovim.api.command("edit a.py | edit b.py | startinsert")
    neovim.type("x = 1<Tab>")
    neovim.assert_soon(lambda: neovim.text() == "x = 1\t\n")
    told = "fimlsp: no server was found: `:Fimlsp install` sets it up, or set one in setup("
    assert messages(neovim).count(told) == 1
    assert neovim.lua("return require('fimlsp').status()") == "fimlsp ✗"
    assert "no server: no server was found" in neovim.lua("return require('fimlsp.status').sentence()")

    windows = len(neovim.api.windows)
    neovim.api.command("stopinsert | Fimlsp doctor")
    assert len(neovim.api.windows) == windows
    assert messages(neovim).count(told) == 2
    neovim.api.command("checkhealth fimlsp")
    report = "\n".join(neovim.api.current.buffer[:])
    assert "ERROR no server was found" in report
    assert ":Fimlsp install sets the server up" in report


def test_a_program_that_is_not_there_is_told_in_the_statusline_and_breaks_nothing(start_neovim, kind):
    neovim = start_neovim(kind, "{ cmd = { '/no/such/fimlsp' } }")
    neovim.api.command("edit a.py | startinsert")
    neovim.type("x = 1<Tab>")
    neovim.assert_soon(lambda: neovim.text() == "x = 1\t\n")
    assert neovim.lua("return require('fimlsp').status()") == "fimlsp ✗"
    assert "is not an executable program" in neovim.lua("return require('fimlsp.status').sentence()")


MAKES_AN_ENVIRONMENT = """#!/bin/sh
test "$#" -gt 2 || exec {python} "$@"
echo '{{"step": "making the environment"}}'
mkdir -p "$3/environment-1/bin"
printf '#!/bin/sh\nexec {server} "$@"\n' >"$3/environment-1/bin/python"
chmod +x "$3/environment-1/bin/python"
python=$3/environment-1/bin/python
printf '{{"python": "%s", "extras": [], "version": "0.0.1"}}' "$python" >"$3/current.json"
echo "{{\\"python\\": \\"$python\\"}}"
echo "$@" >>{told}
"""


def test_the_server_is_installed_and_started(start_neovim, kind, tmp_path):
    """By the first suitable Python, here a script, after a broken one."""
    programs = tmp_path / "programs"
    programs.mkdir()
    told = tmp_path / "told"
    makes = MAKES_AN_ENVIRONMENT.format(python=sys.executable, server=" ".join(SCRIPTED), told=told)
    for name, source in [("python3", "#!/bin/sh\necho broken >&2; exit 127\n"), ("python", makes)]:
        (programs / name).write_text(source)
        (programs / name).chmod(0o755)
    path = f"vim.env.PATH, vim.env.VIRTUAL_ENV = '{programs}:/bin:/usr/bin', nil"
    neovim = start_neovim(kind, "{ settings = { debounceMs = 20 } }", path)
    (neovim.folder / "a.py").write_text(script("one", text="f()\n"))
    neovim.api.command(f"edit {neovim.folder / 'a.py'}")
    assert "no server was found" in messages(neovim)
    neovim.api.command("Fimlsp install checkpoints")
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    assert "--constraints" in told.read_text()
    assert told.read_text().rstrip().endswith("--extra checkpoints")
    neovim.api.command("stopinsert | checkhealth fimlsp")
    assert "the server is 0.0.1 and the plugin " in "\n".join(neovim.api.current.buffer[:])


def test_where_nothing_can_install_the_server_each_python_is_told_as_what_it_is(start_neovim, tmp_path):
    (tmp_path / "python3").write_text('#!/bin/sh\necho \'{"unsuitable": "it is Python 3.8"}\'; exit 3\n')
    (tmp_path / "python3").chmod(0o755)
    only = f"vim.env.PATH = '{tmp_path}'; vim.fn.executable = (function(before) return function(name) "
    only += "return name == '/usr/bin/python3' and 0 or before(name) end end)(vim.fn.executable)"
    neovim = start_neovim("fallback", "{ cmd = { '/no/such/fimlsp' } }", only)
    neovim.api.command("silent! Fimlsp install")
    told = "No suitable Python was found (python3: it is Python 3.8)"
    neovim.assert_soon(lambda: told.lower() in messages(neovim).lower(), lambda: messages(neovim))


def test_no_settings_are_an_object(neovim):
    assert neovim.lua("return vim.json.encode(require('fimlsp.config').settings())").startswith("{")
    neovim.lua("require('fimlsp.config').set({})")
    assert neovim.lua("return vim.json.encode(require('fimlsp.config').settings())") == "{}"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ("{ cmd = 'fimlsp' }", "the option cmd must be a table"),
        ("{ colour = 'grey' }", "unknown option colour"),
        ("{ display = 'popup' }", "display must be auto, native or extmark"),
    ],
)
def test_options_that_cannot_be_used(start_neovim, options, complaint):
    neovim = start_neovim("fallback", "{}")
    answer = neovim.lua(f"return {{ pcall(require('fimlsp').setup, {options}) }}")
    assert answer[0] is False
    assert complaint in answer[1]


def test_the_lualine_component(start_neovim):
    """With the part of lualine that it is made on."""
    base = "package.loaded['lualine.component'] = { extend = function() return {} end }"
    neovim = start_neovim("fallback", "{ cmd = { '/no/such/fimlsp' } }", base)
    assert neovim.lua("return require('lualine.components.fimlsp'):update_status()") == "fimlsp ✗"


def test_the_real_server(start_neovim, kind):
    """The bundled model in a real file: an accepted suggestion parses."""
    command = lua_list([sys.executable, "-m", "fimlsp"])
    neovim = start_neovim(kind, f"{{ cmd = {command}, settings = {{ confidence = 0 }} }}")
    neovim.open("def area(width, height):\n    return width * h<|>\n\n\nprint(area(1, 2))\n")
    neovim.assert_soon(lambda: neovim.suggested() is not None, neovim.screen)
    suggested = neovim.suggested()
    neovim.assert_shows(f"    return width * h{suggested}")
    neovim.type("<Tab>")
    neovim.assert_soon(lambda: f"* h{suggested}\n\n\nprint" in neovim.text(), neovim.text)
    ast.parse(neovim.text())


CHOOSE = """
local wanted = ...
vim.ui.select = function(items, options, chosen)
  vim.g.shown = vim.tbl_map(options.format_item, items)
  for _, item in ipairs(items) do
    if item.name == wanted then return chosen(item) end
  end
end
vim.cmd('Fimlsp model')"""


def choose(neovim, model):
    """Choose *model* from the menu; the lines that it has."""
    neovim.api.exec_lua("vim.g.shown = nil")
    neovim.api.exec_lua(CHOOSE, model)
    neovim.assert_soon(lambda: neovim.lua("return vim.g.shown"))
    return neovim.lua("return vim.g.shown")


@pytest.fixture
def no_models(tmp_path, monkeypatch):
    """No program of this machine has fetched a model, as far as a Neovim started from here can see."""
    for variable in ("LLAMA_CACHE", "OLLAMA_MODELS", "HF_HUB_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))


@pytest.mark.usefixtures("no_models")
def test_the_menu_of_models(start_neovim, kind):
    neovim = start_neovim(kind, f"{{ cmd = {lua_list([sys.executable, '-m', 'fimlsp'])} }}")
    neovim.open("x = <|>\n")
    lines = choose(neovim, "")
    assert lines[0] == "bundled (fimlsp; 0.0 GB; fills in the middle)"
    assert neovim.lua("return require('fimlsp.config').current.settings.model") == ""
    neovim.assert_soon(lambda: "the bundled model it is" in neovim.api.command_output("messages"))


def free_port():
    """One of the ports on which servers are looked for."""
    for port in PORTS:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    pytest.skip("servers listen on all usual ports")
    return None


@pytest.mark.usefixtures("no_models")
def test_a_running_server_is_chosen_and_may_be_gone_for_a_while(start_neovim, kind, tmp_path):
    gguf, port = tmp_path / "own.gguf", free_port()
    export_gguf("bundled", gguf)
    address = f"http://127.0.0.1:{port}"
    command = lua_list([sys.executable, "-m", "fimlsp"])
    neovim = start_neovim(kind, f"{{ cmd = {command}, settings = {{ confidence = 0 }} }}")
    neovim.open("def area(width, height):\n    return width * <|>\n\n\nprint(area(1, 2))\n")

    def status():
        return neovim.lua("return require('fimlsp.status').latest")

    def model():
        return str(status().get("model"))

    with serving(gguf, port=port):
        (line,) = [line for line in choose(neovim, address) if line.startswith(address)]
        assert "llama-server: own.gguf" in line
        assert "fills in the middle" in line
        neovim.assert_soon(lambda: "llama-server" in model(), status)
        neovim.type("hei")
        neovim.assert_soon(lambda: neovim.suggested() is not None, status)
        neovim.assert_shows(f"    return width * hei{neovim.suggested()}")
    neovim.type("<C-u>x = ")
    neovim.assert_soon(lambda: "bundled" in model(), status)
    sentence = neovim.lua("return require('fimlsp.status').sentence()")
    assert f"Cannot reach a model server at 127.0.0.1:{port}" in sentence
    assert "!" in neovim.lua("return require('fimlsp').status()")
    with serving(gguf, port=port):
        neovim.assert_soon(lambda: "llama-server" in model(), status)
        neovim.assert_soon(lambda: "!" not in neovim.lua("return require('fimlsp').status()"), status)
        neovim.type("<C-u>return width * hei")
        neovim.assert_soon(lambda: neovim.suggested() is not None, status)


def test_the_help_has_its_tags(start_neovim):
    neovim = start_neovim("fallback", "{ cmd = { '/no/such/fimlsp' } }")
    folder = neovim.folder / "doc"
    shutil.copytree(PLUGIN / "doc", folder)
    neovim.api.command(f"helptags {folder}")
    tags = (folder / "tags").read_text(encoding="utf-8")
    text = (folder / "fimlsp.txt").read_text(encoding="utf-8")
    for wanted in re.findall(r"\|(fimlsp-\w+|:Fimlsp)\|", text):
        assert f"{wanted}\t" in tags
    for command in neovim.api.funcs.getcompletion("Fimlsp ", "cmdline"):
        assert f":Fimlsp {command}" in text


def test_as_a_native_package(start_neovim, kind, tmp_path):
    """As the README of the plugin says: a link in the folder of packages, and one line of configuration."""
    packages = tmp_path / "nvim" / "pack" / "fimlsp" / "start"
    packages.mkdir(parents=True)
    (packages / "fimlsp").symlink_to(PLUGIN)
    setup = f"require('fimlsp').setup({{ cmd = {lua_list(SCRIPTED)} }})"
    (tmp_path / "nvim" / "init.lua").write_text(setup, encoding="utf-8")
    neovim = start_neovim(kind, folder=tmp_path)
    neovim.open(script("one", text="f(<|>)\n"))
    neovim.assert_shows("f(one)")
    assert neovim.api.funcs.exists(":Fimlsp") == 2
