"""Blocks of examples, whose lists are found in all of them at once.

The examples of a file were nearly always written by one program: they have the same keys in the same order. Then NumPy takes
each step of `wire.scan` for all examples of a batch, and the values of a feature are decoded together.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from frontends.tf.io import wire

_FIRST, _SECOND, _MORE = 0x0A, 0x12, 0x80


class Values(NamedTuple):
    """The values of a feature.

    Attributes:
        flat: those of all examples, one after the other: an array, or a list of texts.
        lengths: how many each example has.
    """

    flat: Any
    lengths: np.ndarray


class _Span(NamedTuple):
    kind: int
    starts: np.ndarray
    stops: np.ndarray


class _OtherFormError(Exception):
    """Examples that are not alike, or are written in another form."""


class Block:
    """Examples with the same keys in the same order.

    Examples:
        >>> from frontends import tf
        >>> def example(*ids):
        ...     feature = tf.train.Feature(int64_list=tf.train.Int64List(value=ids))
        ...     features = tf.train.Features(feature={"ids": feature})
        ...     return tf.train.Example(features=features).SerializeToString()
        >>> block = Block.of([example(3), example(4, 500)])
        >>> values = block.values(b"ids", wire.INTEGERS)
        >>> values.flat.tolist(), values.lengths.tolist()
        ([3, 4, 500], [1, 2])
    """

    def __init__(self, data: bytes, spans: dict[bytes, _Span]) -> None:
        self._data, self._spans = data, spans

    @classmethod
    def of(cls, datas: Sequence[bytes]) -> Self | None:
        """Finds the lists of serialized examples; None if these are not alike, or no examples."""
        # Zeros behind the last one, so that what reads too far fails a comparison.
        data = b"".join([*datas, bytes(16)])
        lengths = np.fromiter(map(len, datas), np.int64, len(datas))
        try:
            return cls(data, _Scan(data, lengths).spans())
        except (_OtherFormError, IndexError):
            return None

    def values(self, key: bytes, kind: int) -> Values | None:
        """Returns the values of a feature; None if they are not there, or have to be read one by one.

        Args:
            key: of the feature.
            kind: of its list; see `wire.KINDS`.
        """
        span = self._spans.get(key)
        if span is None or span.kind != kind:
            return None
        try:
            return self._texts(span) if kind == wire.TEXTS else self._numbers(span)
        except (_OtherFormError, IndexError):
            return None

    def _begins(self, span: _Span) -> np.ndarray:
        """Returns where the content of lists begins that have one entry with all of it, or are empty."""
        digits = np.frombuffer(self._data, np.uint8)
        empty = span.starts == span.stops
        _check(empty | (digits[span.starts] == _FIRST))
        lengths, begins = _varints(digits, span.starts + 1)
        _check(empty | (begins + lengths == span.stops))
        return np.where(empty, span.stops, begins)

    def _texts(self, span: _Span) -> Values:
        begins = self._begins(span)
        _check(span.starts < span.stops)
        pairs = zip(begins.tolist(), span.stops.tolist(), strict=True)
        texts = [self._data[begin:stop] for begin, stop in pairs]
        return Values(texts, np.ones(len(texts), np.int64))

    def _numbers(self, span: _Span) -> Values:
        begins = self._begins(span)
        sizes = span.stops - begins
        pairs = zip(begins.tolist(), span.stops.tolist(), strict=True)
        content = b"".join([self._data[begin:stop] for begin, stop in pairs])
        if span.kind == wire.FLOATS:
            _check(sizes % 4 == 0)
            return Values(np.frombuffer(content, "<f4").astype(np.float32), sizes // 4)
        digits = np.frombuffer(content, np.uint8)
        if content.isascii():  # numbers below 128
            return Values(digits.astype(np.int64), sizes)
        last = np.flatnonzero(digits < _MORE)
        stops = np.cumsum(sizes)
        _check(digits[stops[sizes > 0] - 1] < _MORE)
        counts = np.searchsorted(last, stops)
        return Values(_decoded(digits, last), np.diff(counts, prepend=0))


def _decoded(digits: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Decodes numbers of 7 bits a byte, whose last bytes are at these places."""
    begins = np.concatenate([[0], last[:-1] + 1])
    lengths = last + 1 - begins
    _check(lengths <= 10)
    # The bytes of each number, from the first one on: most numbers have few.
    found = (digits[begins] & 0x7F).astype(np.uint64)
    for place in range(1, int(lengths.max())):
        longer = np.flatnonzero(lengths > place)
        parts = (digits[begins[longer] + place] & 0x7F).astype(np.uint64)
        found[longer] |= parts << np.uint64(7 * place)
    return found.view(np.int64)


class _Scan:
    """A pass over examples, in step."""

    def __init__(self, data: bytes, lengths: np.ndarray) -> None:
        self._data = data
        self._digits = np.frombuffer(data, np.uint8)
        self._ends = np.cumsum(lengths)
        self._at = self._ends - lengths

    def spans(self) -> dict[bytes, _Span]:
        found: dict[bytes, _Span] = {}
        _check(self._entered(_FIRST) == self._ends)
        while (self._at < self._ends).any():
            _check(self._at < self._ends)
            ends = self._entered(_FIRST)
            _check(ends <= self._ends)
            key = self._key(ends)
            if key in found:
                raise _OtherFormError
            _check(self._entered(_SECOND) == ends)
            _check(self._at < ends)
            kind = int(self._digits[self._at[0]])
            if kind not in (wire.TEXTS, wire.FLOATS, wire.INTEGERS):
                raise _OtherFormError
            _check(self._entered(kind) == ends)
            found[key] = _Span(kind, self._at, ends)
            self._at = ends
        return found

    def _entered(self, tag: int) -> np.ndarray:
        """Goes to the content behind a tag and a length; returns where it ends."""
        _check(self._digits[self._at] == tag)
        lengths, self._at = _varints(self._digits, self._at + 1)
        return self._at + lengths

    def _key(self, limits: np.ndarray) -> bytes:
        ends = self._entered(_FIRST)
        _check(ends <= limits)  # a damaged length would take all memory
        size = int(ends[0] - self._at[0])
        _check(ends - self._at == size)
        letters = self._digits[self._at[:, None] + np.arange(size)]
        _check(letters == letters[0])
        self._at = ends
        return letters[0].tobytes()


def _varints(digits: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reads lengths, and returns them and where they end."""
    first = digits[at].astype(np.int64)
    if (first < _MORE).all():
        return first, at + 1
    value, more, shift = first & 0x7F, first >= _MORE, 0
    at = at + 1
    while more.any():
        shift += 7
        if shift > 28:
            raise _OtherFormError
        byte = np.where(more, digits[at], 0).astype(np.int64)
        value |= (byte & 0x7F) << shift
        at = at + more
        more = byte >= _MORE
    return value, at


def _check(condition: np.ndarray) -> None:
    if not condition.all():
        raise _OtherFormError
