"""Programs in Go: built, run and contained. Needs a Go toolchain: `pytest -m go`."""

import pytest

from fimlsp.datasets.programs.sandbox import Limits, run_go

pytestmark = pytest.mark.go

MAIN = """package main

func add(a, b int) int { return %s }

func main() {
\tif add(1, 2) != 3 {
\t\tpanic("wrong")
\t}
}
"""
TEST = """package main

import "testing"

func TestAdd(t *testing.T) { if %s { t.Fatal("wrong") } }
"""
LISTEN = """package main

import "net"

func main() { if _, err := net.Listen("tcp", "127.0.0.1:0"); err != nil { panic(err) } }
"""
READ = """package main

import "os"

func main() { if _, err := os.ReadFile("/etc/passwd"); err != nil { panic(err) } }
"""
EXIT = """package main

import (
\t"os"
\t"testing"
)

func TestAdd(t *testing.T) { if %s { os.Exit(0) } }
"""
CASES = [
    (MAIN % "a + b", "passed"),
    (MAIN % "a - b", "failed"),
    (MAIN % "nothing", "failed"),
    (TEST % "false", "passed"),
    (TEST % "true", "failed"),
    (LISTEN, "failed"),
    (READ, "failed"),
    (EXIT % "true", "failed"),
]


@pytest.mark.parametrize(("program", "outcome"), CASES)
def test_a_program_in_go(program, outcome):
    assert run_go(program, Limits()).outcome == outcome
