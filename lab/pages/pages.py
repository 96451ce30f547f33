"""The contents of the documentation site: the pages of the repository, and a reference of every public name."""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbconvert import MarkdownExporter

ROOT = Path(__file__).parents[2]
PAGES = ("*.md", "docs/**/*.md", "examples/*.md", "leaderboard/**/*.md")
NOTEBOOKS = "notebooks/*.ipynb"
REFERENCE = {
    "jaxenv": "jaxenv",
    "wrappers": "jaxenv.wrappers",
    "spaces": "jaxenv.core.spaces",
    "masking": "jaxenv.core.masking",
    "baselines": "jaxenv.baselines",
    "testing": "jaxenv.testing",
    "rendering": "jaxenv.rendering",
    "scenarios": "scenarios",
    "train": "train",
    "protocol": "train.protocol",
}
"""Page -> module whose public names it has."""
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """All pages, and the files that they link to, under their paths in the repository."""
    for file in [file for file in files if file.src_dir == config.docs_dir]:  # the theme's stay
        files.remove(file)
    pages = sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})
    linked = {(page.parent / link).resolve() for page in pages for link, _ in LINK.findall(page.read_text("utf-8"))}
    notebooks = sorted(ROOT.glob(NOTEBOOKS))
    for path in [*pages, *sorted(path for path in linked.difference(pages, notebooks) if is_shown(path))]:
        where = path.relative_to(ROOT).as_posix()
        files.append(File(where, str(ROOT), config.site_dir, config.use_directory_urls))
    for path in notebooks:
        for name, content in notebook(path):
            files.append(File.generated(config, f"notebooks/{name}", content=content))
    for name, module in REFERENCE.items():
        files.append(File.generated(config, f"docs/api/{name}.md", content=reference(module)))
    return files


def is_shown(path: Path) -> bool:
    """Whether it is a file of the repository."""
    return path.is_file() and ROOT in path.parents


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to folders, which a site does not show, become their names, those to notebooks lead to their pages."""
    here = Path(page.file.src_uri).parent

    def keep(link: re.Match[str]) -> str:
        return "](./)" if (ROOT / here / link[1]).is_dir() else link[0].replace(".ipynb", ".md")

    return LINK.sub(keep, markdown)


def notebook(path: Path) -> Iterator[tuple[str, str | bytes]]:
    """(name, content) of the page of a notebook as it was stored, and of its pictures."""
    stored = nbformat.read(path, as_version=4)
    for output in (output for cell in stored.cells for output in cell.get("outputs", ())):
        if drawn := output.get("data", {}).get("text/html"):
            output.data = {"text/html": f"<div>{drawn}</div>"}  # as it is: no Markdown
    page, resources = MarkdownExporter().from_notebook_node(stored)
    page = re.sub(r"\n{4,}(?= {4}\S)", "\n\n<!-- -->\n\n", page)  # separates printed and returned results
    pictures = {name: f"{path.stem}/{name}" for name in resources["outputs"]}
    for name, place in pictures.items():
        page = page.replace(f"]({name})", f"]({place})")
        yield place, resources["outputs"][name]
    yield f"{path.stem}.md", page


def reference(module_name: str) -> str:
    """A page with every public name of a module, each by the place where it is written."""
    module = importlib.import_module(module_name)
    entries = [f"::: {place}" for name in public_names(module) if (place := written_at(module, name))]
    options = "{members: [], show_root_heading: false, show_root_toc_entry: false}"
    head = f"# `{module_name}`\n\n::: {module_name}\n    options: {options}"
    return "\n\n".join([head, *entries]) + "\n"


def public_names(module: Any) -> list[str]:
    """In the order of the module, those that are loaded on demand last."""
    names = dict.fromkeys([*vars(module), *dir(module), *getattr(module, "_ADAPTERS", {})])
    return [name for name in names if not name.startswith("_")]


def written_at(module: Any, name: str) -> str | None:
    """The dotted path of a class or function of this project; its base classes need not be installed."""
    adapters = getattr(module, "_ADAPTERS", {})
    if name in adapters:
        return f"{module.__name__}.{adapters[name][0]}.{name}"
    value = getattr(module, name)
    if not (inspect.isclass(value) or inspect.isfunction(value)) or "<" in value.__qualname__:
        return None
    package = value.__module__.partition(".")[0]
    return f"{value.__module__}.{value.__qualname__}" if package in ("jaxenv", "scenarios", "train") else None
