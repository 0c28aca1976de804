"""Compiles modules ahead of their import. Started by its path: python -I -S -B THIS TARGET FOLDER MODULE...

The modules below FOLDER, and what importing them imports from there as far as their text tells, are compiled; none is run. The code
is left below TARGET at the source's own path. Whoever finds nothing there compiles for himself, so whatever goes wrong here, and
whatever is overlooked, costs time and nothing else.
"""

import dis
import marshal
import os
import sys
from collections import deque


def source(folder, module):
    """A module's file, and the package that its relative imports start from."""
    path = folder + "/" + module.replace(".", "/")
    if os.path.isfile(path + "/__init__.py"):
        return path + "/__init__.py", module
    return path + ".py", module.rpartition(".")[0]


def imports(code, package):
    """The names that the top level of a module imports, absolute. Not what is there for type checkers alone."""
    constants, base, guarded, resume = [0, 0], "", False, 0
    for step in dis.get_instructions(code):
        if step.offset < resume:
            continue
        if step.opname in ("LOAD_NAME", "LOAD_ATTR"):
            guarded = step.argval == "TYPE_CHECKING"
        elif step.opname.startswith("POP_JUMP") and step.opname.endswith("IF_FALSE") and guarded:
            guarded, resume = False, step.argval
        elif step.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            constants = [constants[1], step.argval]
        elif step.opname == "IMPORT_NAME":
            base, level = step.argval, constants[0]
            if level:
                around = package.rsplit(".", level - 1)[0] if level > 1 else package
                base = f"{around}.{base}".rstrip(".")
            yield base
        elif step.opname == "IMPORT_FROM":
            yield f"{base}.{step.argval}"


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
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            pass


if __name__ == "__main__":
    main()
