"""An interpreter of the instructions that filters of system calls use."""

JUMPS = {
    0x15: lambda held, value: held == value,
    0x35: lambda held, value: held >= value,
    0x45: lambda held, value: held & value,
}


def verdict(program, architecture, number, arguments=(0xFFFF, 0xFFFF)):
    """The result of a filter: an interpreter of the few instructions that it uses."""
    fields = {0: number, 4: architecture, 16: arguments[0], 24: arguments[1]}
    at = held = 0
    while True:
        code, true, false, value = program[at]
        if code == 0x06:
            return {0x7FFF0000: "allow", 0x80000000: "kill"}.get(value, "refuse")
        if code == 0x20:
            held = fields[value]
        elif code == 0x54:
            held &= value
        else:
            at += true if JUMPS[code](held, value) else false
        at += 1
