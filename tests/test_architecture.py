"""The rules of the house: who may import whom, and who must not load what."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import get_args

import simhash_gate
from simhash_gate.gate.verdict import OUTCOMES, Outcome

ROOT = Path(simhash_gate.__file__).parent
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))
OURS = "simhash_gate"
NAMES = {
    module.removesuffix(".py").removesuffix("/__init__").replace("/", "."): module
    for module in MODULES
}


@cache
def imports(module: str) -> set[str]:
    """Every module that a file imports anywhere: late, and for its types alone, too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in inner if name.removeprefix(OURS + ".") in NAMES}
            found |= modules or {node.module}
    return found


def ours(module: str) -> set[str]:
    return {name.removeprefix(OURS + ".") for name in imports(module) if name.startswith(OURS)}


def test_no_module_needs_itself() -> None:
    """Late imports count, and those of types: a reader follows them all the same."""
    needed = {name: ours(module) & NAMES.keys() - {name} for name, module in NAMES.items()}
    assert len(list(TopologicalSorter(needed).static_order())) == len(MODULES)


def test_only_the_plugin_knows_scrapy() -> None:
    knowing = {
        module
        for module in MODULES
        if not {"scrapy", "twisted"}.isdisjoint(name.split(".")[0] for name in imports(module))
    }
    assert {module for module in knowing if not module.startswith("plugin/")} == set()
    assert knowing  # what the plugin imports is seen


# Which rooms and modules a room may import besides itself; "=page" is the value `Page` alone.
KNOWN = {
    "common": set(),
    "page": set(),
    "fingerprints": set(),
    "stores": {"common", "fingerprints"},
    "journal": {"common.files", "common.warc", "common.wording"},
    "history": {"common", "fingerprints", "=page"},
    "compare": {"common.wording", "fingerprints", "=page", "page.money"}
    | {"stores.base", "stores.store"},
    "gate": {"common", "compare", "fingerprints", "history", "identity", "=page", "values"}
    | {"stores.base", "stores.histories", "stores.store"},
    "workers": {"common.files", "options", "=page", "pipeline"},
    "report": {"common", "compare", "fingerprints", "gate.policy", "gate.verdict", "history.texts"}
    | {"history.versions", "=page", "stores.base", "values"},
    "sources": {"common", "fingerprints", "gate.eligibility", "gate.policy", "options", "=page"}
    | {"identity", "settings", "stores", "values", "workers.pool"},
    "collection": {"common.urls", "common.wording", "fingerprints", "gate.verdict"}
    | {"sources.fingerprints", "sources.parquet"},
    "offline": {"collection", "common", "compare", "fingerprints", "gate", "history", "identity"}
    | {"journal", "options", "=page", "pipeline", "report"}
    | {"settings", "sources", "stores", "values", "workers.pool"},
    "identity": {"common", "fingerprints.hamming", "stores.base", "stores.store", "values"},
    "spark": {"collection", "common", "fingerprints", "gate", "offline", "options", "=page"}
    | {"pipeline", "settings", "sources", "stores.values", "values", "workers.pool"},
    "plugin": {"common", "compare", "fingerprints", "gate", "journal", "options", "=page", "report"}
    | {"history", "identity", "settings", "stores", "values", "workers"},
    "cli": {"collection", "common", "compare", "fingerprints", "gate", "history", "identity"}
    | {
        "journal",
        "offline",
        "options",
        "=page",
        "pipeline",
        "report",
        "settings",
        "sources",
        "stores",
    }
    | {"plugin.site_crawl", "values", "workers.pool"},
}


def test_a_room_knows_only_what_it_may() -> None:
    unknown = {
        (module, name)
        for module in MODULES
        if "/" in module
        for allowed in [KNOWN[module.partition("/")[0]] | {module.partition("/")[0]}]
        for name in ours(module)
        if "=" + name not in allowed
        and not any(name == known or name.startswith(known + ".") for known in allowed)
    }
    assert unknown == set()


def test_what_every_crawl_needs_knows_no_feature() -> None:
    """The list of features is the only door."""
    known = {
        (module, name)
        for module in MODULES
        if module.startswith("plugin/") and not module.startswith("plugin/features/")
        for name in ours(module)
        if name.startswith("plugin.features.")
    }
    assert known == set()


def test_a_room_imports_only_from_the_layers_above_it() -> None:
    text = (ROOT.parent / "docs/architecture.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (\d+) \| (`.*) \|$", text.partition("The rooms are layers")[2], re.MULTILINE
    )
    layers = {room: int(number) for number, cell in rows for room in re.findall(r"`(\w+)`", cell)}
    for name, module in NAMES.items():
        room = name.partition(".")[0]
        for other in {other.partition(".")[0] for other in ours(module)} - {room, ""}:
            assert room == "__init__" or layers[other] < layers[room], f"{module}: {other}"


def test_only_the_table_of_outcomes_says_which_of_them_mean_the_same() -> None:
    sets = {
        f"{module}: {ast.unparse(node)}"
        for module in MODULES
        for node in ast.walk(ast.parse((ROOT / module).read_text("utf-8")))
        if isinstance(node, ast.Tuple | ast.List | ast.Set)
        and len({it.value for it in node.elts if isinstance(it, ast.Constant)} & {*OUTCOMES}) > 1
    }
    assert {it for it in sets if not it.startswith("gate/verdict.py: ")} == set()
    assert {*OUTCOMES} == {name for names in get_args(Outcome) for name in get_args(names)}


def makes_files(source: str) -> list[str]:
    """The calls that make a file or a folder, or may."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        last = name.rpartition(".")[2]
        if (
            last in {"mkdir", "makedirs", "touch", "write_text", "write_bytes", "copyfile"}
            or last in {"FileLock", "SoftFileLock", "mkstemp", "NamedTemporaryFile"}
            or name in {"sqlite3.connect", "os.mkdir", "os.creat"}
            or (name == "os.open" and "O_CREAT" in ast.unparse(node))
            or (name != "os.open" and last == "open" and _may_write(node))
        ):
            found.append(name)
    return found


def _may_write(call: ast.Call) -> bool:
    """Tell whether `open(path, mode)` or `path.open(mode)` makes what is not there."""
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    modes += call.args[:1] if isinstance(call.func, ast.Attribute) else call.args[1:2]
    said = [mode.value for mode in modes if isinstance(mode, ast.Constant)]
    return any(isinstance(mode, str) and set(mode) & set("wax") for mode in said)


def test_one_module_makes_files_and_folders_so_that_each_is_private() -> None:
    made = {module: makes_files((ROOT / module).read_text("utf-8")) for module in MODULES}
    assert [module for module, calls in made.items() if calls] == ["common/files.py"]


def loaded(code: str, packages: set[str]) -> str:
    """Run code in a process of its own; return which of these packages it loaded: the last line."""
    told = f"import sys; print(*{{m.split('.')[0] for m in sys.modules}} & {packages})"
    output = subprocess.check_output([sys.executable, "-c", f"{code}\n{told}"], text=True)
    return output.split("\n")[-2]


def test_what_runs_without_scrapy_does_not_load_it() -> None:
    modules = ["workers.main", "pipeline", "gate.judge", "stores", "cli", "offline.replay"]
    code = "; ".join(f"import simhash_gate.{name}" for name in [*modules, "journal.segments"])
    assert loaded(code, {"scrapy", "twisted"}) == ""


def test_the_command_answers_before_it_loads_what_reads_pages() -> None:
    code = "from simhash_gate.cli import main; main(['--help'])"
    assert loaded(code, {"lxml", "numpy", "tqdm", "tldextract", "filelock"}) == ""


def test_what_starts_reading_processes_and_what_runs_beside_them_loads_nothing_of_theirs() -> None:
    starts = "import simhash_gate.plugin.addon, simhash_gate.options, simhash_gate.workers.pool"
    assert loaded(starts, {"lxml", "numpy"}) == ""
    crawls = (
        "from simhash_gate.settings import read_settings; read_settings({}); "
        "import simhash_gate.plugin.middleware"
    )
    assert loaded(crawls, {"bs4", "markdownify", "readability"}) == ""
