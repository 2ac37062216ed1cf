"""Files on any file system that Spark reaches (`s3a:`, `hdfs:`, `abfss:`, `gs:`, `dbfs:`, ...), through Spark's own driver.

Spark's checkpoint and results need Hadoop's file system for an address anyway, with its jars and credentials, which renew
themselves there. So state goes the same way: nothing else has to be installed or told a secret
(docs/decisions/0026-state-through-sparks-file-systems.md).

Two kinds of file systems are told apart. In object stores a file is there when its writer closes it, whole, and renaming copies.
Elsewhere a file shows while it is written, and renaming is one step: there a file is written under another name first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from copy import copy
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import uuid4

import numpy as np

from eddyline.errors import SetupError
from eddyline.runtime.spark.base.failures import in_words
from eddyline.storage.object_log import ObjectLineLog
from eddyline.storage.storage import Bytes

# Object stores whose file systems only look whether a name is taken before they put a file: of two that do both may win.
UNSAFE: Final = frozenset({"s3", "s3n", "oss", "cosn", "obs"})
OBJECT_STORES: Final = frozenset({"s3a", "gs", *UNSAFE})
PACKAGES: Final = {  # what brings the file systems that do not come with Spark
    "s3a": "org.apache.hadoop:hadoop-aws:{hadoop}",
    "abfs": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "abfss": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "wasbs": "org.apache.hadoop:hadoop-azure:{hadoop}",
    "gs": "com.google.cloud.bigdataoss:gcs-connector",
}
# Bytes that go through the gateway, which spells them as text; larger contents go by a file.
SMALL: Final = 1 << 20
READS: Final = 5  # of a file that is replaced while it is read, such as a lease that is renewed
_CONDITIONAL: Final = "fs.option.create.conditional.overwrite"
_MISSING: Final = ("No FileSystem for scheme", "ClassNotFoundException", "NoClassDefFoundError")


class HadoopStorage:
    """A folder of one of Spark's file systems, as a place for files that last; only where Spark's driver runs in this process."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._scheme = urlsplit(address).scheme.lower()

    @property
    def puts_if_absent(self) -> bool:
        """Whether of two that put a file at the same time only one does, so that it can tell whose something is."""
        return self._scheme not in UNSAFE

    def __str__(self) -> str:
        return self.address

    def within(self, name: str) -> HadoopStorage:
        """The files of a folder in it, by the same file system."""
        found = copy(self)
        found.address = f"{self.address}/{name}"
        return found

    def exists(self, name: str) -> bool:
        """Whether there is a file of a name."""
        with self._asking(name):
            try:
                return bool(self._files.getFileStatus(self._path(name)).isFile())
            except Exception as error:
                if _is(error, "FileNotFoundException"):
                    return False
                raise

    def read(self, name: str) -> bytes:
        """The content of a file, of one moment; a `FileNotFoundError` if there is none."""
        with self._asking(name):
            for left in reversed(range(READS)):
                try:
                    return self._content(name)
                except Exception as error:
                    if not left or not _was_replaced(error):
                        raise
        raise AssertionError("the last attempt gives or raises")

    def _content(self, name: str) -> bytes:
        stream = self._files.open(self._path(name))
        try:
            return bytes(_jvm().org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def map(self, name: str) -> Bytes:
        """The content of a file, brought to this machine; what is written into the array stays in this process."""
        with tempfile.TemporaryDirectory(prefix="eddyline-") as scratch:
            copy = Path(scratch, "file")
            self.fetch(name, copy)
            if not copy.stat().st_size:  # nothing that could be mapped
                return np.empty(0, np.uint8)
            return np.asarray(np.memmap(copy, np.uint8, "c"))  # stays readable when its name is gone

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file to this machine; a `FileNotFoundError` if there is none."""
        with self._asking(name):
            # The last argument: no checksum file beside the copy.
            self._files.copyToLocalFile(False, self._path(name), _local(target), True)

    def put(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Put a file in its place, or into that of another one; it lasts once this returns."""
        with self._asking(name):
            if self._is_direct:
                self._write(name, content, overwrite=True)
                return
            with self._draft(name, content) as draft:
                self._rename(draft, name, overwrite=True)

    def put_if_absent(self, name: str, content: bytes) -> bool:
        """The same unless there is one already; gives whether it was put."""
        with self._asking(name):
            try:
                if self._is_direct:
                    self._write(name, content, overwrite=False)
                else:
                    with self._draft(name, content) as draft:
                        self._rename(draft, name, overwrite=False)
                return True
            except Exception as error:
                if _is(error, "FileAlreadyExistsException", "RemoteFileChangedException"):
                    return False
                raise

    def put_part(self, name: str, content: bytes) -> None:
        """Put a file that nobody looks for before another one names it."""
        with self._asking(name):
            self._write(name, content, overwrite=True)

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        with self._asking(name):
            self._files.delete(self._path(name), False)

    def delete_folder(self, folder: str) -> None:
        """Delete a folder with all that is in it, if it is there."""
        with self._asking(folder):
            self._files.delete(self._path(folder), True)

    def line_log(self, name: str) -> ObjectLineLog:
        """The lines of a name, in a folder of that name."""
        return ObjectLineLog(self, name)

    def group(self) -> AbstractContextManager[None]:
        """Nothing lasts longer for being put together with others here."""
        return nullcontext()

    def move_folder(self, folder: str, to: str) -> None:
        """Give a folder another name: in one step, or, in object stores, by copying its files one by one."""
        with self._asking(to):
            target = self._path(to)
            self._files.mkdirs(target.getParent())
            if not self._files.rename(self._path(folder), target):
                raise OSError(f"{self.address}/{folder} cannot be renamed to {to}")

    def walk(self, folder: str) -> list[tuple[str, int]] | None:
        """All files below a folder, named from it, with their sizes; None where there is no such folder."""
        with self._asking(folder):
            root = self._path(folder)
            if not self._files.exists(root):
                return None
            found, files = [], self._files.listFiles(root, True)
            start = len(str(self._files.makeQualified(root))) + 1
            while files.hasNext():
                status = files.next()
                found.append((str(status.getPath())[start:], int(status.getLen())))
            return sorted(found)

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder, without it; none if there is no such folder."""
        return sorted(self._names(folder, folders=True))

    def list(self, folder: str) -> list[str]:
        """The names of the files in a folder, without it; none if there is no such folder."""
        return sorted(self._names(folder, folders=False))

    def _names(self, folder: str, *, folders: bool) -> Iterator[str]:
        with self._asking(folder):
            try:
                found = self._files.listStatus(self._path(folder))
            except Exception as error:
                if _is(error, "FileNotFoundException"):
                    return
                raise
            for status in found:
                if status.isDirectory() == folders:
                    yield str(status.getPath().getName())

    @cached_property
    def _files(self) -> Any:
        """Hadoop's file system of the address."""
        return _jvm().org.apache.hadoop.fs.FileSystem.get(self._path("").toUri(), _configuration())

    @cached_property
    def _is_direct(self) -> bool:
        """Whether a file is written under its own name: where it shows as a whole, or where nothing can be renamed safely."""
        if self._scheme in OBJECT_STORES:
            return True
        try:
            self._renaming()
        except Exception as error:
            if _is(error, "UnsupportedFileSystemException"):
                return True
            raise
        return False

    def _renaming(self) -> Any:
        """Unlike the older call of a file system, that of a context says what is wrong, and can overwrite."""
        return _jvm().org.apache.hadoop.fs.FileContext.getFileContext(
            self._path("").toUri(), _configuration()
        )

    def _path(self, name: str) -> Any:
        return _jvm().org.apache.hadoop.fs.Path(f"{self.address}/{name}" if name else self.address)

    def _write(self, name: str, content: bytes | Iterable[bytes], *, overwrite: bool) -> None:
        if isinstance(content, bytes) and len(content) <= SMALL:
            self._fill(name, overwrite, partial(_write_bytes, content))
            return
        # All of it before the file begins: what fails to come must leave nothing, and not every store can give up a file.
        with tempfile.NamedTemporaryFile(prefix="eddyline-") as gathered:
            gathered.writelines([content] if isinstance(content, bytes) else content)
            gathered.flush()
            self._fill(name, overwrite, partial(_copy_file, gathered.name))

    def _fill(self, name: str, overwrite: bool, write: Callable[[Any], object]) -> None:
        stream = self._created(name, overwrite)
        try:
            write(stream)
        except BaseException:
            self._give_up(name, stream)
            raise
        stream.close()  # here it gets its place, and its name may turn out to be taken

    def _give_up(self, name: str, stream: Any) -> None:
        """Let a stream go without a file in its place: some stores can, others put what has come, which is then deleted."""
        try:
            stream.abort()
        except Exception:
            with suppress(Exception):
                stream.close()  # fails where the name is taken: the file is somebody else's, and must stay
                self._files.delete(self._path(name), False)

    def _created(self, name: str, overwrite: bool) -> Any:
        builder = self._files.createFile(self._path(name)).recursive().overwrite(overwrite)
        if not overwrite and self._scheme == "s3a":
            # S3 itself then refuses a name that is taken, when the file is closed; otherwise it is only asked before.
            builder = builder.must(_CONDITIONAL, True)
        return builder.build()

    @contextmanager
    def _draft(self, name: str, content: bytes | Iterable[bytes]) -> Iterator[str]:
        """A content under a name that readers of results pass over."""
        folder, slash, last = name.rpartition("/")
        draft = f"{folder}{slash}.{last}.{uuid4().hex}.draft"
        try:
            self._write(draft, content, overwrite=True)
            yield draft
        except BaseException:
            self._files.delete(self._path(draft), False)
            raise

    def _rename(self, draft: str, name: str, *, overwrite: bool) -> None:
        kinds = _jvm().org.apache.hadoop.fs.Options.Rename
        options = _gateway().new_array(kinds, 1)
        options[0] = kinds.OVERWRITE if overwrite else kinds.NONE
        self._renaming().rename(self._path(draft), self._path(name), options)

    @contextmanager
    def _asking(self, name: str) -> Iterator[None]:
        """Java's failures as Python's own: no such file, no such file system, or any other of the system."""
        try:
            yield
        except Exception as error:
            if not _is_of_java(error):
                raise
            raise self._failure(error, name) from None

    def _failure(self, error: Exception, name: str) -> Exception:
        where = f"{self.address}/{name}" if name else self.address
        if _thrown(error) is None:  # there is nobody who could say more
            return OSError(f"{where}: Java does not answer: {type(error).__name__}: {error}")
        said = in_words(error)
        if any(words in str(error) for words in _MISSING):
            package = PACKAGES.get(self._scheme, "").format(hadoop=_hadoop_version())
            jars = f'"spark.jars.packages" = "{package}"' if package else "jars that have it"
            hint = f"under [session] in the settings: {jars}"
            return SetupError(f"Spark has no file system for {self.address}: {said}", hint=hint)
        if _is(error, "FileNotFoundException"):
            return FileNotFoundError(f"{where}: {said}")
        return OSError(f"{where}: {said}")


def reaches_hadoop() -> bool:
    """Whether this process has a driver of Spark: with Spark Connect it is another one's."""
    return _context() is not None


def _context() -> Any:
    try:
        from pyspark import SparkContext
    except ImportError:
        return None
    return getattr(SparkContext, "_active_spark_context", None)


def _gateway() -> Any:
    context = _context()
    if context is None:
        raise SetupError(
            "files of this address are reached through Spark's driver, and this process has none",
            hint="start a session first; with Spark Connect name a folder that this machine has mounted",
        )
    return context._gateway


def _jvm() -> Any:
    return _gateway().jvm


def _configuration() -> Any:
    _gateway()
    return _context()._jsc.hadoopConfiguration()


def _hadoop_version() -> str:
    return str(_jvm().org.apache.hadoop.util.VersionInfo.getVersion())


def _local(path: Path) -> Any:
    return _jvm().org.apache.hadoop.fs.Path(f"file://{path}")


def _write_bytes(content: bytes, stream: Any) -> None:
    stream.write(bytearray(content))


def _copy_file(path: str, stream: Any) -> None:
    """Write a file of this machine: Java reads it by itself, which is quicker than to spell it."""
    source = _jvm().java.io.FileInputStream(path)
    try:
        _jvm().org.apache.hadoop.io.IOUtils.copyBytes(source, stream, SMALL, False)
    finally:
        source.close()


def _is_of_java(error: BaseException) -> bool:
    """Whether Java raised it, or does not answer any more."""
    return _thrown(error) is not None or any(kind.__name__ == "Py4JError" for kind in type(error).__mro__)


def _thrown(error: BaseException) -> Any:
    """What Java has thrown; for some of its classes pyspark raises errors of its own, which keep it too."""
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def _was_replaced(error: BaseException) -> bool:
    """Whether a file was put anew between the look at it and the reading: S3A and files with checksums see that."""
    return _is(error, "RemoteFileChangedException", "ChecksumException") or "Status Code: 412" in str(error)


def _is(error: BaseException, *classes: str) -> bool:
    """Whether Java raised one of these, or something that was caused by one."""
    found = _thrown(error)
    while found is not None:
        if str(found.getClass().getSimpleName()) in classes:
            return True
        found = found.getCause()
    return False
