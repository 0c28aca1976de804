"""Answers questions about one module, one at a time. Started by its path: python -I -S -B THIS FORKS.

Questions come on descriptor 0 and answers go out on descriptor 1, one JSON document a line. Both are moved away before anything
foreign is imported. Asked to, the process imports what the SDK builds upon and forks: each fork has a pair of descriptors of its
own, and only a fork ever imports the SDK. No process decides anything: it says what a call did, and whoever asked knows what
that means. Every question carries a fresh nonce which only its answer repeats.
"""

import gc
import json
import marshal
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader


def never_from_bytecode(roots, compiled):
    """A path hook for the folders below these roots, where no bytecode is read; the standard library keeps its own.

    `compiled` is a folder of our own where some code may lie that was compiled from these very sources, or None.
    """

    class FromSource(SourceFileLoader):
        def get_code(self, fullname):
            path = self.get_filename(fullname)
            if compiled is not None:
                try:
                    return marshal.loads(self.get_data(compiled + path + "c"))
                except (OSError, EOFError, ValueError, TypeError):
                    pass
            return self.source_to_code(self.get_data(path), path)

    finder = FileFinder.path_hook((ExtensionFileLoader, EXTENSION_SUFFIXES), (FromSource, [".py"]))
    below = tuple(root + "/" for root in roots)

    def hook(folder):
        if folder in roots or folder.startswith(below):
            return finder(folder)
        raise ImportError(folder)

    return hook


def serve(further=None):
    """Answers until the questions end. `further` maps what else may be asked about to what returns the facts."""
    # Held as locals: rebinding a name of a module or of builtins does not reach them.
    read, write, close, exit_now = os.read, os.write, os.close, os._exit
    loads, text_of, kind_of, anything = json.loads, repr, type, BaseException
    is_a, is_subclass, attribute, text = isinstance, issubclass, getattr, str
    ordinary, leaving = Exception, (SystemExit, KeyboardInterrupt)
    dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
    modules, image_of = sys.modules, marshal.dumps
    # Whatever a careless caller left open ends here; two each from 3 on are the forks'.
    os.closerange(3 + 2 * int(sys.argv[1]), 1 << 16)
    questions, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    close(nothing)
    pending = b""

    def question():
        nonlocal pending
        while b"\n" not in pending:
            more = read(questions, 65536)
            if not more:
                exit_now(0)
            pending += more
        line, _, pending = pending.partition(b"\n")
        return loads(line)

    def answer(nonce, **facts):
        facts["nonce"] = nonce
        line = dumps(facts).encode("ascii") + b"\n"
        while line:
            line = line[write(answers, line):]

    def interpreter(asked):
        flags = sys.flags
        answer(
            asked["nonce"],
            implementation=sys.implementation.name,
            version=list(sys.version_info[:3]),
            isolated=flags.isolated == 1 and flags.ignore_environment == 1 and flags.no_user_site == 1,
            site=flags.no_site == 0 or "site" in modules,
            executable=sys.executable,
            base_prefix=sys.base_prefix,
            path=list(sys.path),
            loaded=sorted(modules),
        )

    def confine(asked):
        """Gives up for good what is not needed from here on: a filter that the kernel holds this process to."""
        try:
            import ctypes
        except ImportError:
            return answer(asked["nonce"], confined=False)

        class Program(ctypes.Structure):
            _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

        filter = bytes.fromhex(asked["filter"])
        set_seccomp, filter_mode = 22, 2
        done = ctypes.CDLL(None).prctl(
            ctypes.c_int(set_seccomp),
            ctypes.c_ulong(filter_mode),
            ctypes.byref(Program(len(filter) // 8, filter)),
        )
        answer(asked["nonce"], confined=done == 0)

    def search_first(folders, compiled):
        sys.path_hooks.insert(0, never_from_bytecode(folders, compiled))
        sys.path[:0] = folders

    def preload(asked):
        """Imports what the SDK builds upon, once for all forks. What is missing, the SDK's own import will tell."""
        search_first(asked["folders"], asked["code"])
        for name in asked["modules"]:
            try:
                __import__(name)
            except ImportError:
                pass
        # What is there now stays: the forks need not copy its pages to find out.
        gc.freeze()
        answer(asked["nonce"])

    def fork(asked):
        """Leaves one process on each pair of descriptors; this one waits for the end."""
        nonlocal questions, answers, pending
        pairs, ids = asked["descriptors"], []
        for pair in pairs:
            ids.append(os.fork())
            if ids[-1] == 0:
                for other in pairs:
                    if other is not pair:
                        close(other[0])
                        close(other[1])
                close(questions)
                close(answers)
                questions, answers = pair
                pending = b""
                return
        for pair in pairs:
            close(pair[0])
            close(pair[1])
        answer(asked["nonce"], ids=ids)

    def load(asked):
        """Imports the module with the SDK's folder in front, and remembers what the questions will name."""
        search_first([asked["root"]], asked["code"])
        try:
            package = __import__(asked["package"])
            __import__(asked["module"])
            module = modules[asked["module"]]
            owner, _, name = asked["manifest_rejection"].partition(":")
            manifest_rejection = getattr(modules[owner], name)
            payload_rejection = getattr(module, asked["payload_rejection"].partition(":")[2])
            model = getattr(module, asked["model"])
            calls = {
                "manifest": model.model_validate,
                "arguments": getattr(module, asked["arguments"]),
                "response": getattr(module, asked["response"]),
            }
            read_document = getattr(module, asked["document"], loads)
            manifest = calls["manifest"](loads(asked["manifest"]))
            tools = {tool.name: tool for tool in manifest.tools}
        except anything as error:
            answer(asked["nonce"], failed=kind_of(error).__name__ + ": " + text(error)[:500])
            return None
        version = attribute(package, "__version__", None)
        answer(
            asked["nonce"],
            origin=text(attribute(module, "__file__", None)),
            version=version if kind_of(version) is str else text_of(version),
            version_is_str=kind_of(version) is str,
            payload_rejection=rejection_facts(payload_rejection),
            manifest_rejection=rejection_facts(manifest_rejection),
        )
        return calls, tools, model, read_document, payload_rejection, manifest_rejection

    def rejection_facts(kind):
        if not is_a(kind, kind_of):
            return {"module": "", "name": text_of(kind), "exception": False}
        return {
            "module": kind.__module__,
            "name": kind.__qualname__,
            "exception": is_subclass(kind, ordinary) and not is_subclass(kind, leaving),
        }

    def image(value):
        """The value's bytes, its types and the order of its members included; None if it is no longer made of JSON's types."""
        try:
            return image_of(value, 2)
        except ValueError:
            return None

    def ask(asked, loaded):
        calls, tools, model, read_document, payload_rejection, manifest_rejection = loaded
        what = asked["ask"]
        rejection = manifest_rejection if what == "manifest" else payload_rejection
        value = None if what == "document" else loads(asked["input"])
        before = image(value)
        try:
            if what == "manifest":
                result = calls[what](value)
                accepted = kind_of(result) is model
            elif what == "document":
                result = calls["response"](tools[asked["tool"]], read_document(asked["input"]))
                accepted = result is None
            else:
                result = calls[what](tools[asked["tool"]], value)
                accepted = result is None
            did, raised = ("returned" if accepted else "returned-a-value"), None
        except anything as error:
            did = "rejected" if kind_of(error) is rejection else "raised"
            raised = text_of(kind_of(error))[:200]
        answer(asked["nonce"], did=did, raised=raised, unchanged=image(value) == before)

    def end(asked):
        loaded = []
        for name, module in sorted(modules.items(), key=lambda item: str(item[0])):
            spec = getattr(module, "__spec__", None)
            origin = getattr(spec, "origin", None)
            file = getattr(module, "__file__", None)
            loaded.append({
                "name": str(name),
                "origin": None if origin is None else str(origin),
                "file": None if file is None else str(file),
            })
        answer(asked["nonce"], modules=loaded)

    loaded = None
    while True:
        asked = question()
        about = asked["about"]
        if about == "interpreter":
            interpreter(asked)
        elif about == "confine":
            confine(asked)
        elif about == "preload":
            preload(asked)
        elif about == "fork":
            fork(asked)
        elif about == "module":
            loaded = load(asked)
        elif about == "vector":
            ask(asked, loaded)
        elif about == "end":
            end(asked)
        elif further and about in further:
            answer(asked["nonce"], **further[about](asked))


if __name__ == "__main__":
    serve()
