"""Limits on the size of files, so that a hostile or damaged file gives an error rather than fills the memory.

The limits are far beyond the data sets of this field. They are read as ``bounds.NAME``, so that a test can lower one.
"""

MAX_UNPACKED_BYTES = 16 * 2**30
"""A compressed file that unpacks to more than this is refused."""

MAX_UNPACK_RATIO = 200
"""How many bytes one byte of a compressed file may become; ordinary text becomes 3 to 20, gzip can make 1,030."""

UNPACK_RATIO_FROM = 64 * 2**20
"""The ratio is checked when a file has unpacked to more bytes than this: a small file does no harm."""

MAX_LINE_BYTES = 16 * 2**20
"""The longest line, or record in quotes, of a text; so many bytes of nothing but blank lines are refused, too."""

MAX_COLUMNS = 10_000
"""The most columns of a table; in JSON, keys inside nested objects count as well."""

MAX_CELLS_PER_BYTE = 16
"""Rows times keys of JSON lines, for a byte of text: lines with different keys make a mostly empty table."""

MAX_DEPTH = 16
"""How deep JSON may be nested: Polars needs time in the square of the depth, and crashes at about a thousand."""

MAX_ARRAY_BYTES = 128 * 2**20
"""The longest file that is one JSON array, which is read as a whole."""

MAX_ARRAY_VALUES = 2**23
"""The most values in one JSON array, guessed by its brackets and commas: one takes some 70 bytes when it is read."""
