"""The operator's own files: imported from their place, each once."""

import importlib.util
import sys
from pathlib import Path

from .failures import Refusal, StageError, at


class Folder:
    """An operator folder on the import path, `kernel/build` behind it. A failed import fails alike for every case."""

    def __init__(self, path):
        self.path = Path(path)
        self.modules = {}
        for place in (self.path / "kernel" / "build", self.path):
            sys.path.insert(0, str(place))

    def module(self, file, side):
        """The module of a file. Raises StageError, the first one again when the import has failed before."""
        key = Path(file).resolve()
        if key not in self.modules:
            try:
                with at("import", side):
                    self.modules[key] = load_module(Path(file))
            except StageError as error:
                self.modules[key] = error
        found = self.modules[key]
        if isinstance(found, StageError):
            raise StageError(found.stage, side, found.error)
        return found

    def cls(self, file, name, side):
        """The class of exactly that name in a file."""
        module = self.module(file, side)
        found = getattr(module, name, None)
        if isinstance(found, type):
            return found
        there = sorted(n for n, v in vars(module).items() if isinstance(v, type) and v.__module__ == module.__name__)
        with at("import", side):
            raise Refusal("%s has no class %s; it has %s" % (file.name, name, ", ".join(there) or "no class at all"))

    def function(self, place):
        """The function that `file.py:function` names, below the folder."""
        file, _, name = place.partition(":")
        function = getattr(self.module(self.path / file, None), name, None)
        if not callable(function):
            raise Refusal("%s has no function %s" % (file, name or "(write file.py:function)"))
        return function


def load_module(path):
    """Import a file by path under its own stem, so that `import model` in a candidate finds this very module."""
    if not path.is_file():
        raise Refusal("there is no %s in %s" % (path.name, path.parent))
    name = path.stem if path.stem not in sys.modules else "operator_" + path.stem
    spec = importlib.util.spec_from_file_location(name, str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module
