"""CRC32C, the checksum of TFRecord files, in NumPy: quick enough to check everything that is read.

The checksum is the remainder of a polynomial over two elements: a bit of the message is a coefficient, the
first bit that of the highest power. Two facts make it quick without a loop over bytes:

- A remainder does not change if a multiple of the divisor is added. One multiple has four terms (`_FOLD`), so that the
  front of a long message is added three times further back, thousands of bytes at once, until little is left.
- A message that is followed by its checksum is divisible, and so is a sequence of such messages: `all_intact` checks
  any number of them in one go.
"""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]

_POLYNOMIAL = 0x82F63B78  # the first bit of a byte is its lowest one
_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8

# x^6777 + x^484 + x^100 + 1 is a multiple of the divisor, and so is its 8th power, which moves whole bytes: what is
# 6777 bytes from the end can be added 484, 100 and 0 bytes from it instead.
_FOLD = (6777, 484, 100)
_ROW = 1024


def _table() -> list[int]:
    table: list[int] = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()


def _positions(count: int) -> NDArray[np.uint32]:
    """Returns the remainder of each byte, at each distance from a message's end: `[count, 256]`, first byte first."""
    step = np.array(_TABLE, np.uint32)
    table = np.empty((count, 256), np.uint32)
    table[count - 1] = step
    for place in range(count - 2, -1, -1):
        later = table[place + 1]
        table[place] = step[later & 0xFF] ^ (later >> 8)
    return table


class _Tables:
    """Tables of 1 MB, made when a file is first read."""

    def __init__(self) -> None:
        positions = _positions(_ROW)
        self.row = positions.ravel()
        self.offsets = np.arange(_ROW, dtype=np.int32) * 256
        # A remainder goes on with the first bytes of the next row.
        self.ahead: list[list[int]] = positions[:4].tolist()
        self.length: list[list[int]] = positions[-8:].tolist()


_tables: _Tables | None = None


def _get_tables() -> _Tables:
    global _tables
    if _tables is None:
        _tables = _Tables()
    return _tables


def crc32c(data: bytes | memoryview | Bytes) -> int:
    """Returns the CRC32C of some bytes.

    Examples:
        >>> hex(crc32c(b"123456789"))
        '0xe3069283'
    """
    view = np.frombuffer(data, np.uint8)
    if len(view) < 32:
        crc = _ONES
        for byte in view.tolist():
            crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
        return crc ^ _ONES
    message = view.copy()
    message[:4] ^= 0xFF
    return _remainder(message) ^ _ONES


def masked_crc32c(data: bytes | memoryview | Bytes) -> int:
    """Returns the CRC32C as files hold it: rotated, with a constant added."""
    return mask(crc32c(data))


def mask(crc: int) -> int:
    """Rotates a checksum and adds a constant, as files hold it."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ONES


def masked_crc32c_of_length(length: bytes) -> int:
    """Returns the masked CRC32C of eight bytes, with a lookup for each."""
    one, two, three, four, five, six, seven, eight = _get_tables().length
    crc = one[length[0] ^ 0xFF] ^ two[length[1] ^ 0xFF] ^ three[length[2] ^ 0xFF]
    crc ^= four[length[3] ^ 0xFF] ^ five[length[4]] ^ six[length[5]] ^ seven[length[6]]
    return mask(crc ^ eight[length[7]] ^ _ONES)


def all_intact(block: Bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> bool:
    """Tells whether messages are what their checksums say.

    Args:
        block: messages, each followed by its masked checksum of four bytes, and nothing else; is overwritten.
        starts: where each begins.
        ends: where the checksum of each begins.
    """
    places = ends[:, None] + np.arange(4)
    stored = np.ascontiguousarray(block[places]).view("<u4")[:, 0]
    rotated = stored - np.uint32(_MASK_DELTA)
    plain = ~(rotated >> np.uint32(17) | rotated << np.uint32(15))
    block[places] = plain.astype("<u4")[:, None].view(np.uint8)
    block[starts[:, None] + np.arange(4)] ^= 0xFF
    return _remainder(block) == 0


def _remainder(message: Bytes) -> int:
    """Divides a message, which is overwritten."""
    far, *near = _FOLD
    begin, end = 0, len(message)
    while end - begin > far + _ROW:
        count = min(far - near[0], end - far - begin)
        front = message[begin : begin + count]
        for distance in (*near, 0):
            place = begin + far - distance
            message[place : place + count] ^= front
        begin += count
    rest = message[begin:]
    rows = np.zeros((-(-len(rest) // _ROW), _ROW), np.uint8)
    rows.ravel()[rows.size - len(rest) :] = rest  # zeros in front change nothing
    tables = _get_tables()
    one, two, three, four = tables.ahead
    found = 0
    for crc in np.bitwise_xor.reduce(tables.row.take(rows + tables.offsets), axis=1).tolist():
        found = crc ^ (
            one[found & 0xFF]
            ^ two[found >> 8 & 0xFF]
            ^ three[found >> 16 & 0xFF]
            ^ four[found >> 24]
        )
    return found
