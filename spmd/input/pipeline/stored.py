"""Elements in files: what a pipeline yields, written once and read again, without pickle.

A folder holds `elements.json`, which says the structure of an element, and `elements.records`, a file of records with one record for
each component: a line of JSON with its dtype and shape, and its bytes. The folder gets its name when all is written.
"""

import itertools
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import jax
import numpy as np

from spmd.errors import DamagedFileError
from spmd.input.pipeline.element import Component, Element, component_names
from spmd.input.pipeline.file_formats import opened
from spmd.input.pipeline.forms import Form, found_spec
from spmd.input.pipeline.record_files import framed, records
from spmd.input.pipeline.stream import Stream

_STRUCTURE = "elements.json"
_RECORDS = "elements.records"


def is_stored(path: str) -> bool:
    """Tells whether a folder holds elements."""
    return (Path(path) / _STRUCTURE).exists()


def written(elements: Iterable[Element], path: str, compressed: bool) -> Iterator[Element]:
    """Yields elements, and writes them to a folder, which is there once the last one was yielded.

    Args:
        elements: what to write.
        path: the folder; replaced if it holds elements.
        compressed: whether to compress with gzip.

    Raises:
        TypeError: a component is no array, number or text.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        count, structure, described = 0, None, None
        with (made / _RECORDS).open("wb") as file:
            write = _Writer(file, compressed)
            for element in elements:
                leaves, found = jax.tree.flatten(element)
                if structure is None:
                    structure, described = found, _described(element)
                elif found != structure:
                    raise TypeError(
                        f"Elements of different structures cannot be stored: first {structure}, then {found}."
                    )
                for number, leaf in enumerate(leaves):
                    write(_packed(leaf, element, number))
                count += 1
                yield element
            write.close()
        about = {
            "structure": described,
            "count": count,
            "compressed": compressed,
        }
        (made / _STRUCTURE).write_text(json.dumps(about))
        if is_stored(path):
            shutil.rmtree(target)
        try:
            os.replace(made, target)
        except OSError:  # another process was first
            if not is_stored(path):
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def stored_count(path: str) -> int:
    """Returns how many elements a folder holds.

    Raises:
        FileNotFoundError: it holds none.
    """
    return _about(path)["count"]


def stored(path: str) -> Form:
    """Returns the elements of a folder."""

    def open_pass() -> Iterator[Element]:
        about = _about(path)
        if not about["count"]:
            return
        numbers = _numbered(about["structure"])
        leaves, structure = jax.tree.flatten(numbers)
        name = str(Path(path) / _RECORDS)
        with opened(name, "GZIP" if about["compressed"] else None) as file:
            parts = records(file)
            for _ in range(about["count"]):
                found = [_unpacked(part, name) for _, part in zip(leaves, parts, strict=False)]
                if len(found) < len(leaves):
                    raise DamagedFileError(
                        f"{name} has fewer elements than {_STRUCTURE} says.", name
                    )
                yield jax.tree.unflatten(structure, found)

    form = Stream(open_pass, found_spec(lambda: form), stable=True)
    return form


class _Writer:
    def __init__(self, file: IO[bytes], compressed: bool) -> None:
        self._file = file
        self._packer = zlib.compressobj(wbits=31) if compressed else None

    def __call__(self, content: bytes) -> None:
        data = b"".join(framed(content))
        self._file.write(data if self._packer is None else self._packer.compress(data))

    def close(self) -> None:
        if self._packer is not None:
            self._file.write(self._packer.flush())


def _about(path: str) -> dict[str, Any]:
    try:
        return json.loads((Path(path) / _STRUCTURE).read_text())
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{path} holds no stored elements: there is no {_STRUCTURE} in it.\nFix: dataset.save({str(path)!r})"
        ) from None


def _described(element: Element) -> Any:
    """Returns the structure of an element as JSON's types: a list for a tuple, and 0 for a component."""
    if isinstance(element, dict):
        return {key: _described(value) for key, value in element.items()}
    if type(element) is tuple:
        return [_described(value) for value in element]
    if jax.tree_util.all_leaves([element]):
        return 0
    raise TypeError(
        f"An element of {type(element).__name__} cannot be stored.\nFix: map it to tuples and dicts."
    )


def _numbered(described: Any) -> Any:
    if isinstance(described, dict):
        return {key: _numbered(value) for key, value in described.items()}
    return tuple(map(_numbered, described)) if isinstance(described, list) else 0


def _packed(leaf: Component, element: Element, number: int) -> bytes:
    if isinstance(leaf, bytes):
        return _with_header({"dtype": "bytes", "shape": [], "sizes": [len(leaf)]}, leaf)
    if isinstance(leaf, np.ndarray | np.generic):
        array = np.asarray(leaf)
        texts = array.ravel().tolist()
        if array.dtype.kind != "O":
            name = array.dtype.str if array.dtype.kind in "SU" else array.dtype.name
            about = {"dtype": name, "shape": list(array.shape)}
            return _with_header(about, np.ascontiguousarray(array).tobytes())
        if all(isinstance(text, bytes) for text in texts):
            sizes = list(map(len, texts))
            about = {"dtype": "bytes", "shape": list(array.shape), "sizes": sizes}
            return _with_header(about, b"".join(texts))
    raise TypeError(
        f"Cannot store {component_names(element)[number]}: expected numbers or texts, got {type(leaf).__name__}.\n"
        "Fix: map it to arrays first."
    )


def _with_header(about: dict[str, Any], content: bytes) -> bytes:
    return json.dumps(about).encode() + b"\n" + content


def _unpacked(record: bytes, name: str) -> Component:
    header, _, content = record.partition(b"\n")
    try:
        about = json.loads(header)
        shape = tuple(about["shape"])
        if about["dtype"] != "bytes":
            return np.frombuffer(content, np.dtype(about["dtype"])).reshape(shape).copy()[()]
        ends = np.cumsum([0, *about["sizes"]]).tolist()
        array = np.empty(len(about["sizes"]), object)
        array[:] = [content[start:stop] for start, stop in itertools.pairwise(ends)]
        return array.reshape(shape)[()]
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedFileError(f"{name} was not written by this package: {error}", name) from None
