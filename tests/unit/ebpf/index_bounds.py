#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks in BPF objects that each index is bounded in the register that is used.

The verifier of the running kernel cannot tell whether an older one accepts the programs: newer ones follow more. This
follows less than any of them from Linux 5.13 on. It runs through each program as a verifier does, keeps an interval for
each register and stack slot, narrows it only by what is done to that very register, and complains where a number that
may be 2^29 or more is added to a pointer ("unbounded memory access", kernel/bpf/verifier.c). A check on a copy, or on a
number computed from the index, counts for nothing; plugin/src/backends/ebpf/bpf/bounds.bpf.h is how an index passes.

Not seen: additions to a pointer that was itself loaded from memory, and whether a bound fits the array.

  index_bounds.py OBJECT...
"""

import struct
import sys

MAX = (1 << 64) - 1
MAX32 = (1 << 32) - 1
TOO_FAR = 1 << 29  # BPF_MAX_VAR_OFF
EXECUTABLE = 4
FULL = (0, MAX)
POINTER = "pointer"
# Helpers that return a pointer: map_lookup_elem, task_storage_get, get_current_task_btf.
GIVE_POINTERS = {1, 156, 158}
# Helpers that write to where their first argument points, as many bytes as the second says.
FILL_MEMORY = {4, 16, 45, 112, 113, 114, 115}


# ---- objects ---------------------------------------------------------------------------------------------------------


class Object:
    """What this needs of an ELF object: code by section, functions, and what relocations name."""

    def __init__(self, data):
        (at,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]

        def body(index):
            return data[headers[index][4] : headers[index][4] + headers[index][5]]

        def text(table, offset):
            return table[offset : table.index(b"\0", offset)].decode()

        self.code = {}
        self.functions = []  # (section, first instruction, name)
        self.symbols = {}  # (section, instruction) -> (name, section of the symbol, value)
        for i, header in enumerate(headers):
            if header[1] == 1 and header[2] & EXECUTABLE and header[5]:
                self.code[i] = [struct.unpack_from("<BBhi", body(i), k) for k in range(0, header[5], 8)]
        table = next(i for i, header in enumerate(headers) if header[1] == 2)
        strings = body(headers[table][6])
        symbols = [struct.unpack_from("<IBBHQQ", body(table), k) for k in range(0, headers[table][5], 24)]
        section_names = body(names)
        for name, info, _, section, value, _ in symbols:
            if info & 15 == 2 and section in self.code:
                self.functions.append((section, value // 8, text(strings, name)))
        for header in headers:
            if header[1] != 9 or header[7] not in self.code:
                continue
            for k in range(header[4], header[4] + header[5], 16):
                offset, info = struct.unpack_from("<QQ", data, k)
                name, _, _, section, value, _ = symbols[info >> 32]
                label = text(strings, name) or text(section_names, headers[section][0])
                self.symbols[header[7], offset // 8] = (label, section, value)


def read_object(path):
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith(b"\x7fELF"):
        raise SystemExit(f"{path} holds no object")
    return Object(data)


# ---- numbers ---------------------------------------------------------------------------------------------------------

# A value is POINTER, ("stack", frame, offset), or an interval of unsigned numbers. A pointer that was loaded from memory
# counts as a number, too, because nothing tells what it points to.


def is_number(value):
    return value is not None and value != POINTER and value[0] != "stack"


def is_pointer(value):
    return value is not None and not is_number(value)


def fit(low, high, limit):
    return (low, high) if 0 <= low <= high <= limit else (0, limit)


def join(one, other):
    if one == other:
        return one
    if one is None or other is None:
        return None
    if is_pointer(one) and (is_pointer(other) or other == (0, 0)):
        return POINTER
    if is_pointer(other) and one == (0, 0):
        return POINTER
    if is_pointer(one) or is_pointer(other):
        return FULL
    return (min(one[0], other[0]), max(one[1], other[1]))


def up_to_power(number):
    return (1 << number.bit_length()) - 1


def compute(operation, a, b, limit):
    """An interval for the result of BPF_ALU's `operation`; `limit` is the largest number of its width."""
    a = a if is_number(a) and a[1] <= limit else (0, limit)
    b = b if is_number(b) and b[1] <= limit else (0, limit)
    if operation == 0x00:  # add; of a negative constant it is a subtraction
        if b[0] == b[1] and b[0] > limit // 2:
            return fit(a[0] - (limit + 1 - b[0]), a[1] - (limit + 1 - b[0]), limit)
        return fit(a[0] + b[0], a[1] + b[1], limit)
    if operation == 0x10:
        return fit(a[0] - b[1], a[1] - b[0], limit)
    if operation == 0x20:
        return fit(a[0] * b[0], a[1] * b[1], limit)
    if operation == 0x30:
        return (0, a[1])
    if operation == 0x50:
        return (0, min(a[1], b[1]))
    if operation in (0x40, 0xA0):
        return (0, min(limit, up_to_power(max(a[1], b[1]))))
    if operation == 0x60:
        return fit(a[0] << b[0], a[1] << b[1], limit) if b[1] < 64 else (0, limit)
    if operation == 0x70:
        return (a[0] >> b[1], a[1] >> b[0]) if b[1] < 64 else (0, a[1])
    if operation == 0x90:
        return (0, min(a[1], b[1] - 1)) if b[0] > 0 else (0, a[1])
    if operation == 0xB0:
        return b
    if operation == 0xC0 and a[1] <= limit // 2 and b[1] < 64:
        return (a[0] >> b[1], a[1] >> b[0])
    return (0, limit)


def narrowed(operation, value, by, taken):
    """`value` where the jump was taken, or was not. None: it cannot be."""
    if operation in (0x10, 0x50):
        is_equal = (operation == 0x10) == taken
        if is_equal:
            low, high = max(value[0], by[0]), min(value[1], by[1])
            return (low, high) if low <= high else None
        return value
    # Greater, greater or equal, less, less or equal; the other way round where it was not taken.
    names = {0x20: ">", 0x30: ">=", 0xA0: "<", 0xB0: "<="}
    if operation not in names:
        return value
    relation = names[operation]
    if not taken:
        relation = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}[relation]
    low, high = value
    if relation == ">":
        low = max(low, by[0] + 1)
    elif relation == ">=":
        low = max(low, by[0])
    elif relation == "<":
        high = min(high, by[1] - 1)
    else:
        high = min(high, by[1])
    return (low, high) if low <= high else None


# ---- programs --------------------------------------------------------------------------------------------------------


class State:
    def __init__(self, registers, stack):
        self.registers = registers  # of the frame that runs
        self.stack = stack  # (frame, offset) -> value, of all frames

    def copy(self):
        return State(list(self.registers), dict(self.stack))

    def merge(self, other):
        """True when that changed something."""
        registers = [join(a, b) for a, b in zip(self.registers, other.registers)]
        stack = {slot: join(value, other.stack[slot]) for slot, value in self.stack.items() if slot in other.stack}
        changed = registers != self.registers or stack != self.stack
        self.registers, self.stack = registers, stack
        return changed

    def widen(self, before):
        for i, value in enumerate(self.registers):
            if value != before.registers[i] and is_number(value):
                self.registers[i] = FULL
        for slot, value in self.stack.items():
            if value != before.stack.get(slot) and is_number(value):
                self.stack[slot] = FULL


class Check:
    """One program and what it calls."""

    def __init__(self, binary):
        self.binary = binary
        self.complaints = {}

    def run(self, section, first, name):
        self.name = name
        registers = [None] * 11
        registers[1] = POINTER
        self.function(section, first, registers, {}, 0)

    def function(self, section, first, registers, stack, frame):
        """What r0 and the stack hold when it returns."""
        code = self.binary.code[section]
        registers = list(registers)
        registers[10] = ("stack", frame, 0)
        states = {first: State(registers, stack)}
        visits = {}
        waiting = [first]
        result = None
        while waiting:
            at = waiting.pop()
            state = states[at].copy()
            for following, reached in self.step(section, code, at, state, frame):
                if following is None:
                    result = reached if result is None else result
                    result.merge(reached)
                    continue
                known = states.get(following)
                if known is None:
                    states[following] = reached.copy()
                    waiting.append(following)
                    continue
                before = known.copy()
                if known.merge(reached):
                    # Only where loops begin: what a loop's body bounds stays bounded.
                    visits[following] = visits.get(following, 0) + (following <= at)
                    if visits[following] > 8 and following <= at:
                        known.widen(before)
                    waiting.append(following)
        if result is None:
            return None, stack
        return result.registers[0], {slot: value for slot, value in result.stack.items() if slot[0] < frame}

    def step(self, section, code, at, state, frame):
        """The instructions that may come next, with the state they find."""
        opcode, registers, offset, immediate = code[at]
        kind, target, source = opcode & 7, registers & 15, registers >> 4
        r = state.registers
        if kind in (4, 7):
            self.arithmetic(section, at, state, opcode, target, source, immediate)
        elif opcode == 0x18:
            name = self.binary.symbols.get((section, at))
            r[target] = POINTER if name else ((immediate & MAX32) | (code[at + 1][3] & MAX32) << 32,) * 2
            return [(at + 2, state)]
        elif kind == 1:
            self.load(state, opcode, target, r[source], offset)
        elif kind in (2, 3):
            self.store(state, opcode, r[target], offset, r[source] if kind == 3 else (immediate & MAX,) * 2)
            if opcode & 0xE0 == 0xC0 and immediate & 1:  # an atomic operation that fetches
                fetched = (0, MAX) if opcode & 0x18 == 0x18 else (0, MAX32)
                r[0 if immediate == 0xF1 else source] = fetched
        elif opcode == 0x95:
            return [(None, state)]
        elif opcode == 0x85:
            self.call(section, at, state, source, immediate, frame)
        elif opcode == 0x05:
            return [(at + 1 + offset, state)]
        else:
            return self.jump(at, state, opcode, target, source, offset, immediate)
        return [(at + 1, state)]

    def arithmetic(self, section, at, state, opcode, target, source, immediate):
        r = state.registers
        limit = MAX if opcode & 7 == 7 else MAX32
        operation = opcode & 0xF0
        by = r[source] if opcode & 8 else (immediate & limit,) * 2
        before = r[target]
        if operation == 0xD0:  # byte swap
            r[target] = (0, (1 << immediate) - 1)
        elif limit == MAX and operation == 0xB0:
            r[target] = by
        elif limit == MAX and operation == 0x00 and (is_pointer(before) or is_pointer(by)):
            pointer, number = (before, by) if is_pointer(before) else (by, before)
            r[target] = POINTER
            if not is_number(number):
                return
            negative = number[0] == number[1] and number[0] > MAX // 2
            if number[1] >= TOO_FAR and not negative:
                self.complain(section, at, number)
            elif pointer != POINTER and number[0] == number[1]:
                distance = number[0] - (MAX + 1 if negative else 0)
                r[target] = ("stack", pointer[1], pointer[2] + distance)
        elif limit == MAX and operation == 0x10 and is_pointer(before):
            r[target] = FULL if is_pointer(by) else POINTER
        elif limit == MAX32 and operation == 0xB0 and is_number(by) and by[1] <= MAX32:
            r[target] = by
        else:
            r[target] = compute(operation, before, by, limit)

    @staticmethod
    def load(state, opcode, target, pointer, offset):
        bits = {0x00: 32, 0x08: 16, 0x10: 8, 0x18: 64}[opcode & 0x18]
        value = (0, (1 << bits) - 1)
        if bits == 64 and is_pointer(pointer) and pointer != POINTER:
            value = state.stack.get((pointer[1], pointer[2] + offset), value)
        state.registers[target] = FULL if value is None else value

    @staticmethod
    def store(state, opcode, pointer, offset, value):
        if not is_pointer(pointer) or pointer == POINTER:
            return
        size = {0x00: 4, 0x08: 2, 0x10: 1, 0x18: 8}[opcode & 0x18]
        Check.forget(state, pointer[1], pointer[2] + offset, size)
        if size == 8 and opcode & 0xE0 == 0x60:
            state.stack[pointer[1], pointer[2] + offset] = value

    @staticmethod
    def forget(state, frame, first, size):
        for slot in [s for s in state.stack if s[0] == frame and s[1] < first + size and first < s[1] + 8]:
            del state.stack[slot]

    def call(self, section, at, state, source, immediate, frame):
        r = state.registers
        result = FULL
        if source == 1:
            named = self.binary.symbols.get((section, at))
            into, first = (named[1], named[2] // 8) if named else (section, at)
            # Against a section the distance stands in the instruction, against a function nothing does.
            first += immediate + 1
            result, state.stack = self.function(into, first, [None] + r[1:6] + [None] * 5, state.stack, frame + 1)
        else:
            if immediate in GIVE_POINTERS:
                result = POINTER
            if immediate in FILL_MEMORY and is_pointer(r[1]) and r[1] != POINTER:
                size = r[2][1] if is_number(r[2]) else 512
                self.forget(state, r[1][1], r[1][2], min(size, 512))
        r[0] = result
        r[1:6] = [None] * 5

    def jump(self, at, state, opcode, target, source, offset, immediate):
        r = state.registers
        limit = MAX if opcode & 7 == 5 else MAX32
        by = r[source] if opcode & 8 else (immediate & limit,) * 2
        value = r[target]
        ways = []
        for following, taken in ((at + 1, False), (at + 1 + offset, True)):
            reached = state.copy()
            # A comparison of the lower half says nothing of a register that may hold more.
            if is_number(value) and is_number(by) and value[1] <= limit and by[1] <= limit:
                less = narrowed(opcode & 0xF0, value, by, taken)
                if less is None:
                    continue
                reached.registers[target] = less
            ways.append((following, reached))
        return ways

    def complain(self, section, at, number):
        self.complaints[section, at] = (
            f"{self.name}: the number that instruction {at} of {self.place(section, at)} adds to a pointer may be "
            f"{number[1]:#x}: it is not bounded in the register that is used"
        )

    def place(self, section, at):
        inside = [f for f in self.binary.functions if f[0] == section and f[1] <= at]
        name, first = max(((f[2], f[1]) for f in inside), key=lambda f: f[1])
        return f"{name}+{at - first}"


def complaints_of(binary):
    """One line for each index that is not bounded; in the order of the programs."""
    found = {}
    called = {named[1] for named in binary.symbols.values() if named[1] in binary.code}
    for section, first, name in binary.functions:
        if section in called:
            continue  # a function: seen from the programs that call it
        check = Check(binary)
        check.run(section, first, name)
        for key, complaint in check.complaints.items():
            found.setdefault(key, complaint)
    return list(found.values())


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    status = 0
    for path in sys.argv[1:]:
        binary = read_object(path)
        complaints = complaints_of(binary)
        for complaint in complaints:
            print(f"{path}: {complaint}")
        if complaints:
            status = 1
        else:
            print(f"{path}: each index of {len(binary.functions)} programs and functions is bounded where it is used")
    return status


if __name__ == "__main__":
    sys.exit(main())
