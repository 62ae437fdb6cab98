"""Zip archives of uncompressed records, as PyTorch lays them out: all below one folder, each at a multiple of 64 bytes.

What a file says about itself is checked against its length before anything is allocated: records lie within the file,
do not overlap, are not compressed, and have the size that their tensors need.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import IO, Any

import numpy as np

Bytes = np.ndarray[Any, Any]

_ALIGNMENT = 64
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # signature, ..., lengths of the name and of the extra field
_LONGEST_PICKLE = 1 << 28


class FileError(RuntimeError):
    """A file that is damaged, cut off or no archive of tensors."""


def write_archive(file: IO[bytes], folder: str, records: list[tuple[str, memoryview]]) -> None:
    """Write records, each a name and its bytes, below a folder."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        start = archive.start_dir
        for name, content in records:
            info = zipfile.ZipInfo(f"{folder}/{name}")
            info.file_size = content.nbytes
            info.extra = _padding(start, info)
            with archive.open(info, "w", force_zip64=content.nbytes >= zipfile.ZIP64_LIMIT // 2) as record:
                record.write(content)
            start = archive.start_dir


def _padding(start: int, info: zipfile.ZipInfo) -> bytes:
    """Return an extra field with which the data of a record whose header is at `start` is aligned."""
    wide = 20 if info.file_size >= zipfile.ZIP64_LIMIT // 2 else 0  # the field for large sizes comes first
    data = start + 30 + len(info.filename.encode()) + wide + 4
    gap = -data % _ALIGNMENT
    return struct.pack("<2sH", b"FB", gap) + b"Z" * gap


class Archive:
    """The records of an open file.

    `mapped` is the whole file as an array if records shall be parts of it, and None if they are read.
    """

    def __init__(self, file: IO[bytes], mapped: Bytes | None = None) -> None:
        self._file, self._mapped = file, mapped
        self._length = file.seek(0, 2)
        file.seek(0)
        if not zipfile.is_zipfile(file):
            raise FileError(
                "this is no zip archive of tensors, or it is cut off; files of PyTorch before 1.6 must be loaded and "
                "saved again there"
            )
        try:
            with zipfile.ZipFile(file) as archive:
                infos = archive.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, OverflowError) as error:
            raise FileError(f"the archive cannot be read: {error}") from error
        self._records = self._checked(infos)
        self.folder = self._common_folder()

    def _checked(self, infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        records: dict[str, zipfile.ZipInfo] = {}
        end = 0
        for info in sorted(infos, key=lambda info: info.header_offset):
            name = info.filename
            if name in records:
                raise FileError(f"the archive has two records named {name!r}")
            if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
                raise FileError(f"the record {name!r} is compressed; archives of tensors are not")
            if info.flag_bits & 1:
                raise FileError(f"the record {name!r} is encrypted")
            if not end <= info.header_offset <= self._length - info.file_size:
                raise FileError(f"the record {name!r} is not within the file, or overlaps another one")
            end = info.header_offset + _LOCAL_HEADER.size + info.file_size
            records[name] = info
        return records

    def _common_folder(self) -> str:
        folders = [name[: -len("/data.pkl")] for name in self._records if name.endswith("/data.pkl")]
        if len(folders) != 1 or f"{folders[0]}/constants.pkl" in self._records:
            raise FileError(
                "the archive has no data.pkl, or has code in it: it is not a file of PyTorch's save or of wengert.save"
            )
        return folders[0]

    def __contains__(self, name: str) -> bool:
        return f"{self.folder}/{name}" in self._records

    def read(self, name: str) -> bytes:
        """Return a small record."""
        info = self._find(name)
        if info.file_size > _LONGEST_PICKLE:
            raise FileError(f"the record {info.filename!r} has {info.file_size} bytes, which is too much for it")
        return self._load(info).tobytes()

    def read_storage(self, name: str, size: int) -> Bytes:
        """Return a record of `size` bytes as an array that may be written to."""
        info = self._find(name)
        if info.file_size != size:
            raise FileError(f"the storage {info.filename!r} has {info.file_size} bytes, but its tensors need {size}")
        if self._mapped is None:
            return self._load(info)
        start = self._start(info)
        return self._mapped[start : start + size]

    def _find(self, name: str) -> zipfile.ZipInfo:
        info = self._records.get(f"{self.folder}/{name}")
        if info is None:
            raise FileError(f"the archive has no record {self.folder}/{name}")
        return info

    def _start(self, info: zipfile.ZipInfo) -> int:
        self._file.seek(info.header_offset)
        header = self._file.read(_LOCAL_HEADER.size)
        if len(header) != _LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise FileError(f"the record {info.filename!r} has no header")
        _, name, extra = _LOCAL_HEADER.unpack(header)
        start = info.header_offset + _LOCAL_HEADER.size + int(name) + int(extra)
        if start + info.file_size > self._length:
            raise FileError(f"the record {info.filename!r} ends behind the end of the file")
        return start

    def _load(self, info: zipfile.ZipInfo) -> Bytes:
        self._file.seek(self._start(info))
        data = np.empty(info.file_size, np.uint8)
        filled, view = 0, data.data
        while filled < data.size:
            part = self._file.read(min(data.size - filled, 1 << 24))
            if not part:
                raise FileError(f"the record {info.filename!r} is cut off")
            view[filled : filled + len(part)] = part
            filled += len(part)
        if zlib.crc32(data.data) != info.CRC:
            raise FileError(f"the record {info.filename!r} is damaged: its checksum is not that of its bytes")
        return data
