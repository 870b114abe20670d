"""`StorePath`: a file or a folder in an object store, by its URL."""

import contextlib
import dataclasses
import glob
import os
import re
import tempfile
from collections.abc import Generator, Iterator
from typing import IO, Any

from spmd.files.errors import as_os_errors
from spmd.files.systems import file_system, has_folders, puts_whole_files
from spmd.files.urls import is_url

# Slashes at the end of a URL, but for those of its beginning.
_STRIP = re.compile(r"(?<![:/])/+$")
# All of a URL before the first part that has a wildcard.
_BEFORE_PATTERN = re.compile(r"[^:]+://([^*?\[]*(?=/))?")


@dataclasses.dataclass(frozen=True)
class FileStatus:
    """What a store says of a file.

    Attributes:
        length: in bytes.
        is_directory: whether it is a folder.
        mtime: when it was written, in seconds since 1970; 0 if the store does not say.
    """

    length: int
    is_directory: bool
    mtime: float = 0.0


@dataclasses.dataclass(frozen=True, order=True)
class StorePath:
    """A file or a folder in an object store, with methods that are called as those of `pathlib.Path`.

    All raise `OSError`: `FileNotFoundError`, or `StoreError` with what the store says. None remembers what the store
    said before. A file is there when all of it is, since stores show nothing of a file that is being written.

    Attributes:
        url: without a slash at its end.

    Examples:
        >>> folder = StorePath("memory://docs/runs")
        >>> (folder / "1.txt").write_text("one")
        >>> [each.name for each in folder.iterdir()], (folder / "1.txt").read_text()
        (['1.txt'], 'one')
        >>> folder.rmtree()
        >>> folder.exists()
        False
    """

    url: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", _STRIP.sub("", self.url))

    def __fspath__(self) -> str:
        return self.url

    def __str__(self) -> str:
        return self.url

    def __repr__(self) -> str:
        return f"StorePath({self.url!r})"

    def __truediv__(self, name: str | os.PathLike[str]) -> "StorePath":
        return self.joinpath(name)

    @property
    def name(self) -> str:
        """The last part."""
        return self.url.rpartition("/")[2]

    @property
    def parent(self) -> "StorePath":
        """The folder that it is in."""
        scheme, _, rest = self.url.partition("://")
        return StorePath(f"{scheme}://{rest.rpartition('/')[0]}")

    def joinpath(self, *parts: str | os.PathLike[str]) -> "StorePath":
        """Returns what is in this folder under a name."""
        return StorePath("/".join([self.url, *(os.fspath(part).strip("/") for part in parts)]))

    def open(self, mode: str = "r") -> IO[Any]:
        """Opens a file; what is written is in the store when it is closed."""
        with self._opened() as (system, path):
            return system.open(path, mode)

    def read_bytes(self) -> bytes:
        """Reads a file."""
        with self._opened() as (system, path):
            return system.cat_file(path)

    def read_text(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Reads a file."""
        return self.read_bytes().decode(encoding, errors)

    def write_bytes(self, content: bytes) -> None:
        """Writes a file. Whoever reads meanwhile finds the former one, or this one; or none, where files are renamed."""
        with self._opened() as (system, path):
            self._make_parent(system, path)
            if puts_whole_files(self.url):
                system.pipe_file(path, content)
            else:
                system.pipe_file(f"{path}.part", content)
                system.mv(f"{path}.part", path)

    def write_text(self, content: str) -> None:
        """Writes a file, as `write_bytes` does."""
        self.write_bytes(content.encode())

    def download(self, file: str) -> None:
        """Copies this file to one on this machine."""
        with self._opened() as (system, path):
            system.get_file(path, file)

    def upload(self, file: str) -> None:
        """Copies a file of this machine to this one."""
        with self._opened() as (system, path):
            self._make_parent(system, path)
            system.put_file(file, path)

    def check(self) -> None:
        """Raises an error if nothing that is installed reads and writes the URL, or credentials are missing."""
        file_system(self.url)

    def exists(self) -> bool:
        """Tells whether there is a file or folder."""
        with self._opened() as (system, path):
            return system.exists(path)

    def is_file(self) -> bool:
        """Tells whether there is a file."""
        status = self._status()
        return status is not None and not status.is_directory

    def is_dir(self) -> bool:
        """Tells whether there is a folder."""
        status = self._status()
        return status is not None and status.is_directory

    def stat(self) -> FileStatus:
        """Returns the size and the time of a file."""
        with self._opened() as (system, path):
            status = _status_of(system.info(path))
            if status.mtime or status.is_directory:
                return status
            with contextlib.suppress(NotImplementedError):
                return dataclasses.replace(status, mtime=system.modified(path).timestamp())
            return status

    def iterdir(self) -> "Iterator[StorePath]":
        """Lists what is in a folder, sorted."""
        yield from map(self.joinpath, self._listed())

    def files(self) -> dict[str, int]:
        """Lists the files in a folder and in those in it: their sizes, by their paths in this folder."""
        with self._opened() as (system, path):
            found = system.find(path, detail=True)
        own = path.rstrip("/") + "/"
        return {name.removeprefix(own): int(each["size"]) for name, each in sorted(found.items())}

    def glob(self, pattern: str) -> "list[StorePath]":
        """Lists the files and folders in this one whose paths match a pattern, sorted."""
        with self._opened() as (system, path):
            found = system.glob(f"{glob.escape(path.rstrip('/'))}/{pattern}")
        own = path.rstrip("/") + "/"
        return [self / name.removeprefix(own) for name in sorted(found)]

    def matches(self) -> "list[StorePath]":
        """Lists what there is whose URL matches this one as a pattern, sorted."""
        with self._opened() as (system, path):
            found = system.glob(path)
            # What is before the pattern may have other words in a URL than for the system: `abfs://folder@account.host/a*`.
            before = _BEFORE_PATTERN.match(self.url)
            folder = self.url if before is None else before[0]
            start = file_system(folder)[1].rstrip("/")
        ends = [name.removeprefix(start).lstrip("/") for name in sorted(found)]
        slash = "" if folder.endswith("://") else "/"
        return [StorePath(folder + slash + end) for end in ends]

    def walk(self, top_down: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yields each folder in this one, itself included: its URL, and the names of folders and of files in it."""
        listed = dict[str, bool]()
        with contextlib.suppress(FileNotFoundError):
            listed = self._listed()
        folders = [name for name, is_folder in listed.items() if is_folder]
        files = [name for name, is_folder in listed.items() if not is_folder]
        if top_down:
            yield self.url, folders, files
        for name in folders:
            yield from (self / name).walk(top_down)
        if not top_down:
            yield self.url, folders, files

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Makes a folder. Object stores have none: there a folder is where a file is in it, and this does nothing."""
        if not has_folders(self.url):
            return
        with self._opened() as (system, path):
            if parents:
                system.makedirs(path, exist_ok=exist_ok)
            elif not (exist_ok and system.isdir(path)):
                system.mkdir(path, create_parents=False)

    def unlink(self) -> None:
        """Deletes a file."""
        with self._opened() as (system, path):
            system.rm_file(path)

    def rmtree(self) -> None:
        """Deletes a folder and all that is in it. In an object store an empty folder is one that is not there."""
        with self._opened() as (system, path):
            # Not by `rm`, which takes a name such as `run[1]` for a pattern.
            entries = sorted(system.find(path, withdirs=has_folders(self.url), detail=True).items())
            if not entries and has_folders(self.url) and not system.isdir(path):
                raise FileNotFoundError(self.url)
            folders = {path, *(name for name, each in entries if each["type"] == "directory")}
            for name, _ in entries:
                if name not in folders:
                    system.rm_file(name)
            if has_folders(self.url):
                for name in sorted(folders, reverse=True):  # what is in a folder comes behind it
                    with contextlib.suppress(FileNotFoundError):  # it went with its last file
                        system.rmdir(name)

    def replace(self, target: "StorePath") -> None:
        """Moves a file or a folder: every file is copied, and then deleted.

        Raises:
            ValueError: the target is in this folder.
        """
        if target == self:
            return
        if f"{target.url}/".startswith(f"{self.url}/"):
            raise ValueError(f"Expected another folder than one in {self}, got {target}.")
        with self._opened() as (system, path):
            is_folder = system.isdir(path)
            names = [f"/{name}" for name in self.files()] if is_folder else [""]
        for name in names:
            StorePath(self.url + name).copy(target.url + name)
        if is_folder:
            target.mkdir(parents=True, exist_ok=True)
            self.rmtree()
        else:
            self.unlink()

    def copy(self, target: "str | os.PathLike[str]") -> None:
        """Copies a file to a path of any kind. The target is what it was, or the whole copy."""
        text = os.fspath(target)
        if not is_url(text):
            self._download_whole(text)
            return
        other, (system, path) = StorePath(text), file_system(self.url)
        same, new = file_system(text)
        if same is system:
            with as_os_errors(self.url):
                other._make_parent(system, new)
                system.cp_file(path, new)
            return
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "copy")
            self.download(file)
            other.upload(file)

    def _make_parent(self, system: Any, path: str) -> None:
        if has_folders(self.url):
            system.makedirs(path.rpartition("/")[0], exist_ok=True)

    def _download_whole(self, file: str) -> None:
        part = f"{file}.part"
        try:
            self.download(part)
            os.replace(part, file)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part)

    def _listed(self) -> dict[str, bool]:
        """Lists what is in a folder, sorted by name, and whether it is a folder; in one request."""
        with self._opened() as (system, path):
            found = {
                each["name"].rstrip("/"): each["type"] == "directory"
                for each in system.ls(path, detail=True)
            }
        own = path.rstrip("/")
        return {name.rpartition("/")[2]: found[name] for name in sorted(found) if name != own}

    def _status(self) -> FileStatus | None:
        with self._opened() as (system, path):
            try:
                return _status_of(system.info(path))
            except FileNotFoundError:
                return None

    @contextlib.contextmanager
    def _opened(self) -> Generator[tuple[Any, str]]:
        system, path = file_system(self.url)
        with as_os_errors(self.url):
            yield system, path


def _status_of(info: dict[str, Any]) -> FileStatus:
    keys = ("mtime", "LastModified", "last_modified", "created")
    written: Any = next((info[key] for key in keys if info.get(key)), 0)
    when = written.timestamp() if hasattr(written, "timestamp") else float(written)
    return FileStatus(int(info.get("size") or 0), info["type"] == "directory", when)
