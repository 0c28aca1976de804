"""Compiles modules ahead of their import. Started by its path: python -I -S -B THIS TARGET FOLDER MODULE...

The modules below FOLDER, and what importing them imports from there as far as their text tells, are compiled; none is run. The code
is left below TARGET at the source's own path. Whoever finds nothing there compiles for himself, so whatever goes wrong here, and
whatever is overlooked, costs time and nothing else.
"""

import marshal
import os
import sys
from collections import deque
from opcode import opmap


# The instructions that tell what is imported. From 3.12 on, an attribute's place in the names is shifted by a flag.
STEPS = {
    opmap[name]: "JUMP" if "JUMP" in name else name
    for name in (
        "EXTENDED_ARG",
        "LOAD_NAME",
        "LOAD_ATTR",
        "LOAD_CONST",
        "LOAD_SMALL_INT",
        "IMPORT_NAME",
        "IMPORT_FROM",
        "POP_JUMP_IF_FALSE",
        "POP_JUMP_FORWARD_IF_FALSE",
    )
    if name in opmap
}
ATTRIBUTE_SHIFT = 1 if sys.version_info >= (3, 12) else 0


def source(folder, module):
    """A module's file, and the package that its relative imports start from."""
    path = folder + "/" + module.replace(".", "/")
    if os.path.isfile(path + "/__init__.py"):
        return path + "/__init__.py", module
    return path + ".py", module.rpartition(".")[0]


def imports(code, package):
    """The names that the top level of a module imports, absolute. Not what is there for type checkers alone."""
    raw, names, values = code.co_code, code.co_names, code.co_consts
    constants, base, guarded, resume, high = (0, 0), "", False, 0, 0
    # Read by hand: the disassembler takes as long as the compiler.
    for at in range(0, len(raw), 2):
        step, argument = STEPS.get(raw[at]), raw[at + 1] | high
        high = argument << 8 if step == "EXTENDED_ARG" else 0
        if step is None or at < resume:
            continue
        if step == "LOAD_NAME":
            guarded = names[argument] == "TYPE_CHECKING"
        elif step == "LOAD_ATTR":
            guarded = names[argument >> ATTRIBUTE_SHIFT] == "TYPE_CHECKING"
        elif step == "JUMP":
            if guarded:
                resume = at + 2 + 2 * argument
            guarded = False
        elif step == "LOAD_CONST":
            constants = constants[1], values[argument]
        elif step == "LOAD_SMALL_INT":
            constants = constants[1], argument
        elif step == "IMPORT_NAME":
            base, level = names[argument], constants[0]
            if level:
                around = package.rsplit(".", level - 1)[0] if level > 1 else package
                base = f"{around}.{base}".rstrip(".")
            yield base
        elif step == "IMPORT_FROM":
            yield f"{base}.{names[argument]}"


def main():
    target, folder, *modules = sys.argv[1:]
    waiting, known = deque(modules), set()
    while waiting:
        module = waiting.popleft()
        if module in known:
            continue
        known.add(module)
        if "." in module:
            waiting.appendleft(module.rpartition(".")[0])
        path, package = source(folder, module)
        place = target + path + "c"
        try:
            with open(path, "rb") as file:
                code = compile(file.read(), path, "exec", dont_inherit=True)
            waiting.extend(imports(code, package))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place + ".part", "wb") as file:
                marshal.dump(code, file)
            os.replace(place + ".part", place)
        except (OSError, SyntaxError, ValueError, LookupError, TypeError, RecursionError, MemoryError):
            pass


if __name__ == "__main__":
    main()
