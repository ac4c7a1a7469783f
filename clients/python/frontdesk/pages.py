"""Lists, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Generic, Iterator, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class Page(Generic[T]):
    """One page of a list."""

    data: list[T]
    limit: int
    offset: int
    has_more: bool
    total: int | None = None  # only where it costs the server nothing to know
    next_cursor: str | None = None  # only in a walk with cursor


class Pages(Generic[T]):
    """A list that was asked for. Iterate over it to go through all pages, or take one with ``page()``."""

    def __init__(self, fetch: Callable[[dict[str, Any]], Page[T]], query: dict[str, Any], cursor: bool) -> None:
        self._fetch = fetch
        self._query = query
        self._cursor = cursor

    def page(self) -> Page[T]:
        """One page, as ``limit`` and ``offset`` say."""
        return self._fetch(self._query)

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data

    def pages(self) -> Iterator[Page[T]]:
        """The pages one after the other."""
        query = dict(self._query)
        if query.get("limit") is None:
            query["limit"] = 100
        # A cursor costs the same however deep, and skips nothing when rows are added meanwhile.
        if self._cursor and query.get("offset") is None and query.get("cursor") is None:
            query["cursor"] = "first"
        while True:
            page = self._fetch(query)
            yield page
            if page.next_cursor:
                query["cursor"] = page.next_cursor
            elif query.get("cursor") is not None or not page.has_more or not page.data:
                return
            else:
                query["offset"] = page.offset + len(page.data)
