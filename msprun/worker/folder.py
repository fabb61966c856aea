"""The operator's own files: imported from their place, each once; an older build beside them has a world of its own."""

import importlib.util
import sys
from contextlib import contextmanager
from pathlib import Path

from .failures import Refusal, StageError, at


class Folder:
    """An operator folder on the import path, `kernel/build` behind it. A failed import fails alike for every case."""

    def __init__(self, path, foreign):
        self.path = Path(path)
        self.foreign = foreign  # names of modules that belong to no operator folder, shared by all folders
        self.root = str(self.path.resolve())
        self.modules = {}
        self.aside = {}
        self.places = [str(self.path), str(self.path / "kernel" / "build")]

    def enter(self):
        """Put the folder first on the import path, and its modules back that were put aside."""
        sys.path[:0] = self.places
        sys.modules.update(self.aside)

    def leave(self):
        """Take the folder from the import path and put its modules aside."""
        sys.path[:] = [place for place in sys.path if place not in self.places]
        names = sys.modules.keys() - self.foreign
        self.aside = {name: sys.modules[name] for name in names if self.owns(sys.modules[name])}
        self.foreign.update(names - self.aside.keys())
        for name in self.aside:
            del sys.modules[name]

    def owns(self, module):
        """The module lies below the folder."""
        held = getattr(module, "__dict__", {})
        places = [held.get("__file__")] + list(held.get("__path__") or ())
        place = next((place for place in places if isinstance(place, str)), "")
        return place.startswith((self.root + "/", str(self.path) + "/"))

    def has(self, file):
        """The file was imported before, or failed to be."""
        return Path(file).resolve() in self.modules

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


class Folders:
    """The folder of each side. With more than one, only that of the side that runs is there for imports."""

    def __init__(self, paths):
        foreign = set()
        by_path = {path: Folder(path, foreign) for path in dict.fromkeys(paths.values())}
        self.by_side = {side: by_path[path] for side, path in paths.items()}
        self.current = self.by_side["reference"]
        self.current.enter()

    def of(self, side):
        """The folder of a side."""
        return self.by_side[side]

    @contextmanager
    def active(self, side):
        """Imports come from that side's folder inside."""
        before = self.current
        self.switch(self.by_side.get(side, before))
        try:
            yield
        finally:
            self.switch(before)

    def switch(self, folder):
        if folder is not self.current:
            self.current.leave()
            folder.enter()
            self.current = folder


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
