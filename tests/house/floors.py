"""Rules 2 and 3: imports go down only, and each foreign library has one door."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.house.tree import Source, imports

WINGS = ("source", "device", "profiler", "reader", "account", "stat", "section", "report")
# From the ground up. What stands on one floor may import one another as long as there is no circle, the wings never.
FLOORS = (
    ("model", "errors", "disk", "resources", "suggest", "retype", "keywords", "worker"),
    (
        "batches",
        "config",
        "schema",
        "process",
        "lease",
        "render",
        "argv",
        "completion",
        "search",
        "usage",
        "origin",
        "interpreter",
        "folder",
        "journal",
        "language",
        "work",
        "soc",
        "acl",
        "toolkit",
    ),
    ("contract",),
    WINGS,
    ("bench",),
    ("plan", "spare"),
    ("measure", "launch", "pool"),
    ("run", "sweep"),
    ("mode", "replay"),
    ("request",),
    ("app", "launcher"),
    ("cli",),
    ("__main__",),
)
DOORS = {
    "subprocess": ("msprun/process.py",),
    "signal": ("msprun/process.py",),
    "multiprocessing": ("msprun/process.py",),
    "hydra": ("msprun/app.py", "msprun/launcher.py", "msprun/request.py", "msprun/config.py", "msprun/schema.py"),
    "omegaconf": ("msprun/app.py", "msprun/launcher.py", "msprun/request.py", "msprun/config.py", "msprun/schema.py"),
    "jinja2": ("msprun/render.py",),
    "rich": ("msprun/report/console.py", "msprun/cli.py"),
    "torch": (),
    "torch_npu": (),
    "pandas": ("msprun/reader/", "msprun/account/", "msprun/stat/", "msprun/section/", "msprun/model/frame.py"),
    "numpy": ("msprun/reader/", "msprun/account/", "msprun/stat/", "msprun/section/", "msprun/model/frame.py"),
    "pyarrow": ("msprun/reader/", "msprun/account/", "msprun/stat/", "msprun/section/", "msprun/model/frame.py"),
}


def homeless(files: Sequence[Source]) -> Iterator[str]:
    """Modules directly below `msprun` that stand on no floor."""
    known = {name for floor in FLOORS for name in floor}
    for name in sorted({_place(file.module) for file in files} - known - {""}):
        yield f"msprun.{name} stands on no floor of tests/house/floors.py"


def upward(files: Sequence[Source]) -> Iterator[str]:
    """Imports that climb, that go sideways between wings, or that reach into the worker beyond its protocol."""
    names = {file.module for file in files}
    for file in files:
        here = _place(file.module)
        for target, line in _inside(file, names):
            there = _place(target)
            if here == "worker" or there in (here, ""):
                continue
            if _floor(there) > _floor(here):
                yield f"{file.path}:{line} climbs to {target}"
            elif here in WINGS and there in WINGS:
                yield f"{file.path}:{line} goes sideways to {target}"
            elif there == "worker" and target != "msprun.worker.protocol":
                yield f"{file.path}:{line} reaches into the worker: {target}"


def circles(files: Sequence[Source]) -> Iterator[str]:
    """Modules that import themselves by way of others."""
    names = {file.module for file in files}
    graph = {file.module: {target for target, _ in _inside(file, names)} - {file.module} for file in files}
    for module in sorted(graph):
        seen: set[str] = set()
        ahead = list(graph[module])
        while ahead:
            step = ahead.pop()
            if step not in seen:
                seen.add(step)
                ahead += graph.get(step, ())
        if module in seen:
            yield f"{module} imports itself by way of others"


def back_doors(files: Sequence[Source]) -> Iterator[str]:
    """Foreign libraries that come in elsewhere than by their door. The worker is exempt."""
    for file in files:
        for target, line in imports(file):
            library = target.partition(".")[0]
            doors = DOORS.get(library)
            if doors is not None and not _opens(file.path, doors):
                yield f"{file.path}:{line} imports {library}"


def _opens(path: str, doors: Sequence[str]) -> bool:
    """A door is a file, or a folder with a slash behind it."""
    return path.startswith("msprun/worker/") or any(path == d or d.endswith("/") and path.startswith(d) for d in doors)


def _inside(file: Source, names: set[str]) -> Iterator[tuple[str, int]]:
    """The modules of msprun that a file imports: `msprun.disk.write` is `msprun.disk`."""
    for target, line in imports(file):
        if target.partition(".")[0] == "msprun":
            while target not in names and "." in target:
                target = target.rpartition(".")[0]
            yield target, line


def _place(module: str) -> str:
    """`msprun.device.cpu` stands where `device` stands; the root package is ''."""
    return module.split(".")[1] if "." in module else ""


def _floor(place: str) -> int:
    return next((height for height, floor in enumerate(FLOORS) if place in floor), len(FLOORS))
