"""Files that are sent and received."""

from __future__ import annotations

import re
import secrets
from http.client import HTTPException, HTTPResponse
from typing import IO, Any, Callable, Iterator
from urllib.parse import unquote

from .errors import ConnectionError
from .models import OMIT, wire

CHUNK = 64 * 1024


class Upload:
    """A file to send: bytes, or something opened with mode "rb", which is read as it is sent."""

    def __init__(self, name: str, data: bytes | IO[bytes]) -> None:
        self.name = name
        self.data = data


class Download:
    """A file that is received. Use it as a context manager, and read it whole, in pieces, or into a file."""

    def __init__(self, response: HTTPResponse, release: Callable[[bool], None]) -> None:
        self._response = response
        self._release = release
        disposition = response.headers.get("Content-Disposition", "")
        extended = re.search(r"filename\*=utf-8''([^;]+)", disposition, re.IGNORECASE)
        plain = re.search(r'filename="?([^";]+)"?', disposition)
        self.name = unquote(extended[1]) if extended else plain[1] if plain else None
        self.content_type: str = response.headers.get("Content-Type", "application/octet-stream")
        self.size: int | None = response.length

    def read(self, size: int | None = None) -> bytes:
        """The next bytes, or all of them."""
        try:
            return self._response.read(size)
        except (OSError, HTTPException) as error:
            raise ConnectionError(f"The connection failed: {error}") from error

    def __iter__(self) -> Iterator[bytes]:
        while part := self.read(CHUNK):
            yield part

    def save(self, path: str) -> None:
        """Writes it to a file."""
        with open(path, "wb") as file:
            for part in self:
                file.write(part)

    def close(self) -> None:
        self._release(self._response.isclosed())

    def __enter__(self) -> Download:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Form:
    """Fields as multipart/form-data, written while they are sent."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = {name: value for name, value in fields.items() if value is not OMIT and value is not None}
        self._boundary = f"frontdesk-{secrets.token_hex(16)}"
        self.content_type = f"multipart/form-data; boundary={self._boundary}"

    def rewind(self) -> bool:
        """Makes it ready to be sent again, if it can be."""
        for value in self._fields.values():
            if isinstance(value, Upload) and not isinstance(value.data, bytes):
                if not value.data.seekable():
                    return False
                value.data.seek(0)
        return True

    def __iter__(self) -> Iterator[bytes]:
        for name, value in self._fields.items():
            head = f'--{self._boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"'
            if not isinstance(value, Upload):
                plain = str(value).lower() if isinstance(value, bool) else str(wire(value))
                yield f"{head}\r\n\r\n{plain}\r\n".encode()
                continue
            kind = "Content-Type: application/octet-stream"
            yield f'{head}; filename="{_quoted(value.name)}"\r\n{kind}\r\n\r\n'.encode()
            if isinstance(value.data, bytes):
                yield value.data
            else:
                while part := value.data.read(CHUNK):
                    yield part
            yield b"\r\n"
        yield f"--{self._boundary}--\r\n".encode()


def _quoted(s: str) -> str:
    return s.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
