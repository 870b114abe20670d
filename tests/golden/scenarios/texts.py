"""Texts on the host: `tf.strings`, by itself and in maps of datasets."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, scenario

GROUP = "texts"
WORDS = ["", " a  b ", "Ärger ÉÀ", "日本語 text", "a,b,,c", "x\ty\nz", "Hello World 123"]
GRID = [["a b", "c"], ["", "d e f"]]


def shown(value: Any) -> Any:
    """Sparse tensors as their parts, texts as hexadecimal digits where they are no UTF-8."""
    if isinstance(value, (tuple, list)):
        return [shown(one) for one in value]
    if hasattr(value, "dense_shape"):
        return {
            "indices": np.asarray(value.indices),
            "values": np.asarray(value.values),
            "dense_shape": np.asarray(value.dense_shape),
        }
    return value


def table(rows: dict[str, Callable[[], Any]]) -> Iterator[Case]:
    """Cases of a table of functions."""
    for name, thunk in rows.items():
        yield name, lambda thunk=thunk: shown(thunk())


@scenario("texts.each", GROUP, NONE)
def of_each(s: Setting) -> Iterator[Case]:
    """Functions of each text."""
    tf, st = s.tf, s.tf.strings
    for name in ("lower", "upper"):
        for encoding in ("", "utf-8"):
            yield (
                f"{name}/{encoding}",
                lambda name=name, encoding=encoding: getattr(st, name)(WORDS, encoding),
            )
    numbers = ["1", " -2.5 ", "1e3", "+7", "inf", "-Infinity", "NaN", ".5", "5."]
    bad = ["", "x", "1_0", "0x10", "1e", "- 1", "1.5", "3000000000", "-129", "1 2"]
    yield from table(
        {
            "lower/scalar": lambda: st.lower("ABC"),
            "lower/matrix": lambda: st.lower([["A"], ["B"]]),
            "lower/empty": lambda: st.lower(tf.constant([], tf.string)),
            "lower/encoding": lambda: st.lower(["A"], "latin-1"),
            "lower/number": lambda: st.lower([1]),
            "lower/ragged": lambda: st.lower(tf.ragged.constant([["A", "B"], [], ["C"]])),
            "strip": lambda: st.strip([*WORDS, "\v\f x \r\n"]),
            "strip/scalar": lambda: st.strip(tf.constant("  x ")),
            "length": lambda: st.length(WORDS),
            "length/chars": lambda: st.length(WORDS, unit="UTF8_CHAR"),
            "length/scalar": lambda: st.length("abc"),
            "length/dtype": lambda: st.length(["abc"]).dtype.name,
            "length/unit": lambda: st.length(["abc"], unit="CHAR"),
            "length/ragged": lambda: st.length(tf.ragged.constant([["A", "BB"], [], ["C"]])),
            "substr": lambda: st.substr(["Hello", "World"], 1, 3),
            "substr/scalar": lambda: st.substr("Hello", 1, 3),
            "substr/each": lambda: st.substr(["Hello", "World"], [0, 2], [2, 9]),
            "substr/negative": lambda: st.substr(["Hello", "World"], -3, 2),
            "substr/end": lambda: st.substr(["abc"], 3, 1),
            "substr/out": lambda: st.substr(["abc"], 4, 1),
            "substr/out_negative": lambda: st.substr(["abc"], -4, 1),
            "substr/length_0": lambda: st.substr(["abc"], 1, 0),
            "substr/length_negative": lambda: st.substr(["abc"], 1, -1),
            "substr/chars": lambda: st.substr(["日本語", "Ärger"], 1, 2, unit="UTF8_CHAR"),
            "substr/chars_negative": lambda: st.substr(
                ["日本語", "Ärger"], -2, 2, unit="UTF8_CHAR"
            ),
            "substr/chars_out": lambda: st.substr(["日本語"], 4, 2, unit="UTF8_CHAR"),
            "substr/broadcast": lambda: st.substr([["abcd"], ["efgh"]], [[0, 1]], [[1, 2]]),
            "substr/shapes": lambda: st.substr(["abc"], [0, 1], 2),
            "to_number": lambda: st.to_number(numbers),
            "to_number/scalar": lambda: st.to_number("1.5"),
            "to_number/double": lambda: st.to_number(["1e300"], tf.float64).numpy().tolist(),
            "to_number/int32": lambda: st.to_number(["1", " -2 ", "+7", "007"], tf.int32),
            "to_number/int64": lambda: st.to_number(["9000000000"], tf.int64).numpy().tolist(),
            "to_number/dtype": lambda: st.to_number(["9"], tf.int64).dtype.name,
            "to_number/large": lambda: st.to_number(["1e39", "-1e39", "1e-50"]),
            "to_number/half": lambda: st.to_number(["1"], tf.float16),
            "to_number/ragged": lambda: st.to_number(tf.ragged.constant([["1", "2"], []])),
        }
    )
    for text in bad:
        for kind in ("float32", "int32"):
            yield (
                f"to_number/{kind}/{text}",
                lambda text=text, kind=kind: st.to_number([text], getattr(tf, kind)),
            )


@scenario("texts.hashes", GROUP, NONE)
def hashes(s: Setting) -> Iterator[Case]:
    """Buckets."""
    tf, st = s.tf, s.tf.strings
    texts = [
        *WORDS,
        *("ab" * size + "c" * (size % 3) for size in (1, 3, 4, 7, 8, 12, 16, 20, 33, 40, 80)),
    ]
    for count in (1, 7, 1000, 2**31 - 1):
        yield f"fast/{count}", lambda count=count: st.to_hash_bucket_fast(texts, count)
        yield f"first/{count}", lambda count=count: st.to_hash_bucket(texts, count)
        yield f"strong/{count}", lambda count=count: st.to_hash_bucket_strong(texts, count, [3, 5])
    yield from table(
        {
            "fast/scalar": lambda: st.to_hash_bucket_fast("a", 10),
            "fast/matrix": lambda: st.to_hash_bucket_fast([["a"], ["b"]], 10),
            "fast/dtype": lambda: st.to_hash_bucket_fast(["a"], 10).dtype.name,
            "fast/large": lambda: st.to_hash_bucket_fast(["a"], 2**62).numpy().tolist(),
            "fast/none": lambda: st.to_hash_bucket_fast(["a"], 0),
            "fast/ragged": lambda: st.to_hash_bucket_fast(tf.ragged.constant([["a", "b"], []]), 9),
            "strong/key": lambda: st.to_hash_bucket_strong(["a"], 10, [3]),
            "strong/negative": lambda: st.to_hash_bucket_strong(["a", "b"], 1000, [-3, 5]),
            "v1/fast": lambda: tf.compat.v1.string_to_hash_bucket_fast(["a", "b"], 1000),
            "v1/first": lambda: tf.compat.v1.string_to_hash_bucket(["a", "b"], 1000),
            "v1/strings": lambda: tf.compat.v1.strings.to_hash_bucket(
                string_tensor=["a"], num_buckets=9
            ),
        }
    )


@scenario("texts.parts", GROUP, NONE)
def parts(s: Setting) -> Iterator[Case]:
    """Texts that are taken apart and joined."""
    tf, st, v1 = s.tf, s.tf.strings, s.tf.compat.v1
    rows = {"ragged": tf.ragged.constant([["a b", "c"], [], ["d"]])}
    for sep in (None, "", ",", " ", "ab", ",,"):
        for most in (-1, 0, 1, 2):
            yield (
                f"split/{sep}/{most}",
                lambda sep=sep, most=most: st.split([*WORDS, "abcabab", ",,,"], sep, most),
            )
    yield from table(
        {
            "split/scalar": lambda: st.split("a b c"),
            "split/empty_scalar": lambda: st.split(""),
            "split/none": lambda: st.split(tf.constant([], tf.string)),
            "split/matrix": lambda: st.split(GRID),
            "split/cube": lambda: st.split([GRID, GRID], " "),
            "split/matrix_shape": lambda: st.split(GRID).shape.as_list(),
            "split/ragged": lambda: st.split(rows["ragged"]),
            "split/maxsplit": lambda: st.split(["a"], maxsplit=-2),
            "split/number": lambda: st.split([1]),
            "v1/split": lambda: v1.strings.split(["a b", "", "c d e"]),
            "v1/split_sep": lambda: v1.strings.split(["a,b", "c,,d"], sep=","),
            "v1/split_ragged": lambda: v1.strings.split(["a b", "c"], result_type="RaggedTensor"),
            "v1/split_scalar": lambda: v1.strings.split("a b"),
            "v1/string_split": lambda: v1.string_split(["a b", "", "c  d"]),
            "v1/string_split_delimiters": lambda: v1.string_split(["a,b c", "d"], ", "),
            "v1/string_split_kept": lambda: v1.string_split(["a,,b", ",c"], ",", skip_empty=False),
            "v1/string_split_bytes": lambda: v1.string_split(["abc", "d"], ""),
            "v1/string_split_delimiter": lambda: v1.string_split(["a-b"], delimiter="-"),
            "v1/string_split_ragged": lambda: v1.string_split(
                ["a b", "c"], result_type="RaggedTensor"
            ),
            "v1/string_split_scalar": lambda: v1.string_split("a b"),
            "join": lambda: st.join([["a", "b"], ["c", "d"]]),
            "join/separator": lambda: st.join([["a", "b"], ["c", "d"]], separator="--"),
            "join/scalar": lambda: st.join(["a", "b"]),
            "join/with_scalar": lambda: st.join(["x", ["a", "b"]], "/"),
            "join/one": lambda: st.join([["a", "b"]], "/"),
            "join/shapes": lambda: st.join([["a", "b"], ["c"]]),
            "join/ragged": lambda: st.join([rows["ragged"], rows["ragged"]], "+"),
            "join/ragged_scalar": lambda: st.join([rows["ragged"], "!"]),
            "v1/string_join": lambda: v1.string_join([["a"], ["b"]], separator=" "),
            "reduce_join": lambda: st.reduce_join(GRID),
            "reduce_join/0": lambda: st.reduce_join(GRID, 0),
            "reduce_join/1": lambda: st.reduce_join(GRID, 1, separator=", "),
            "reduce_join/-1": lambda: st.reduce_join(GRID, axis=-1, keepdims=True),
            "reduce_join/0_1": lambda: st.reduce_join(GRID, [0, 1], separator="."),
            "reduce_join/1_0": lambda: st.reduce_join(GRID, [1, 0], separator="."),
            "reduce_join/none": lambda: st.reduce_join(GRID, []),
            "reduce_join/all_kept": lambda: st.reduce_join(GRID, keepdims=True),
            "reduce_join/out": lambda: st.reduce_join(GRID, 2),
            "reduce_join/scalar": lambda: st.reduce_join("a"),
            "reduce_join/vector": lambda: st.reduce_join(["a", "b", "c"], separator=" "),
            "reduce_join/empty": lambda: st.reduce_join(tf.constant([], tf.string)),
            "reduce_join/ragged": lambda: st.reduce_join(rows["ragged"], axis=1, separator="|"),
            "reduce_join/ragged_-1": lambda: st.reduce_join(st.split(GRID), axis=-1, separator="|"),
            "v1/reduce_join": lambda: v1.reduce_join(GRID, 1, keep_dims=True, separator="-"),
            "v1/reduce_join_old": lambda: v1.reduce_join(GRID, reduction_indices=0),
            "segments": lambda: st.unsorted_segment_join(
                ["a", "b", "c", "d"], [1, 0, 1, -1], 3, ":"
            ),
            "segments/rows": lambda: st.unsorted_segment_join(GRID, [0, 0], 2, ":"),
            "segments/out": lambda: st.unsorted_segment_join(["a"], [2], 2),
            "bytes_split": lambda: st.bytes_split(["ab", "", "c"]),
            "bytes_split/scalar": lambda: st.bytes_split("abc"),
            "bytes_split/matrix": lambda: st.bytes_split(GRID),
        }
    )
    ngram = {"data": tf.ragged.constant([["a", "b", "c", "d"], ["e"], [], ["f", "g"]])}
    for width in (1, 2, 3, [1, 2], [3, 2]):
        for name, kwargs in {
            "plain": {},
            "padded": {"pad_values": ("<", ">")},
            "padded_same": {"pad_values": "_", "separator": "-"},
            "padded_1": {"pad_values": ("<", ">"), "padding_width": 1},
            "padded_0": {"pad_values": ("<", ">"), "padding_width": 0},
            "short": {"preserve_short_sequences": True},
        }.items():
            yield (
                f"ngrams/{width}/{name}",
                lambda width=width, kwargs=kwargs: st.ngrams(ngram["data"], width, **kwargs),
            )
    yield from table(
        {
            "ngrams/vector": lambda: st.ngrams(["a", "b", "c"], 2),
            "ngrams/matrix": lambda: st.ngrams([["a", "b", "c"], ["d", "e", "f"]], 2),
            "ngrams/0": lambda: st.ngrams(["a"], 0),
            "ngrams/width_alone": lambda: st.ngrams(["a"], 1, padding_width=1),
        }
    )


PATTERNS = {
    "digits": ("[0-9]+", "#"),
    "spaces": (r"\s+", " "),
    "dot": (".", "."),
    "groups": (r"(\w)(\w)", r"\2\1"),
    "whole": (r"[aeiou]", r"<\0>"),
    "backslash": ("a", r"\\"),
    "empty": ("", "-"),
    "maybe": ("x*", "-"),
    "begin": ("^", ">"),
    "end": ("$", "<"),
    "letters": (r"\pL", "L"),
    "upper": (r"\p{Lu}", "U"),
    "not_letters": (r"\PL+", "_"),
    "posix": ("[[:alpha:]]+", "w"),
    "posix_not": ("[^[:alnum:]]", ""),
    "punct": (r"[[:punct:]]", "!"),
    "ignore_case": ("(?i)HELLO", "bye"),
    "inner_flag": ("(?i:h)ello", "bye"),
    "named": (r"(?P<first>\w+) (?P<second>\w+)", r"\2 \1"),
    "lazy": ("a.*?b", "*"),
    "quoted": (r"\Qa,b\E", "q"),
    "word": (r"\b", "|"),
    "unicode": ("[Ä-É]", "*"),
    "alternatives": ("a|b|,", ""),
    "counted": ("[a-z]{2,3}", "#"),
    "multiline": ("(?m)^", ">"),
    "class_in_class": (r"[\s,\d]", "_"),
    "look_ahead": ("a(?=b)", "x"),
    "reference": (r"(a)\1", "x"),
    "open": ("(a", "x"),
    "group_missing": ("a", r"\1"),
    "rewrite_escape": ("a", r"\n"),
}


@scenario("texts.patterns", GROUP, NONE)
def regular(s: Setting) -> Iterator[Case]:
    """Regular expressions."""
    tf, st = s.tf, s.tf.strings
    for name, (pattern, rewrite) in PATTERNS.items():
        for everywhere in (True, False):
            yield (
                f"replace/{name}/{everywhere}",
                lambda p=pattern, r=rewrite, e=everywhere: st.regex_replace(WORDS, p, r, e),
            )
    for pattern in (
        ".*",
        "a.*",
        "[a-z]+",
        "",
        r"\w+ \w+ \d+",
        "Hello",
        "(?s).*",
        "(?i)hello.*",
        "(",
    ):
        yield f"full/{pattern}", lambda p=pattern: st.regex_full_match(WORDS, p)
    yield from table(
        {
            "replace/scalar": lambda: st.regex_replace("a1", "[0-9]", ""),
            "replace/matrix": lambda: st.regex_replace(GRID, " ", "_"),
            "replace/ragged": lambda: st.regex_replace(st.split(GRID), "[a-c]", "_"),
            "replace/v1": lambda: tf.compat.v1.regex_replace(
                ["aab"], "a", "x", replace_global=False
            ),
            "full/scalar": lambda: st.regex_full_match("ab", "a."),
            "full/dtype": lambda: st.regex_full_match(["ab"], "a.").dtype.name,
        }
    )


@scenario("texts.numbers", GROUP, NONE)
def numbers(s: Setting) -> Iterator[Case]:
    """Numbers as texts."""
    tf, st = s.tf, s.tf.strings
    reals = [1.5, -2.25, 0.0, 1e10, 1e-5, float("inf"), float("nan"), 3.14159265]
    forms = {
        "plain": {},
        "precision": {"precision": 2},
        "scientific": {"scientific": True},
        "shortest": {"shortest": True},
        "width": {"width": 10},
        "zeros": {"width": 10, "fill": "0"},
        "spaces": {"width": 10, "fill": " "},
        "left": {"width": 10, "fill": "-"},
        "plus": {"fill": "+"},
        "other": {"width": 10, "fill": "x"},
        "both": {"scientific": True, "shortest": True},
        "all": {"scientific": True, "precision": 3, "width": 12, "fill": "0"},
    }
    for name, kwargs in forms.items():
        yield f"real/{name}", lambda k=kwargs: st.as_string(tf.constant(reals), **k)
        yield f"whole/{name}", lambda k=kwargs: st.as_string(tf.constant([1, -20, 300]), **k)
        yield f"bool/{name}", lambda k=kwargs: st.as_string(tf.constant([True, False]), **k)
        yield f"text/{name}", lambda k=kwargs: st.as_string(tf.constant(["a", "bcd"]), **k)
    yield from table(
        {
            "int64": lambda: st.as_string(np.array([2**40, -1])),
            "half": lambda: st.as_string(tf.constant([0.1], tf.float16)),
            "double": lambda: st.as_string(np.array([0.1]), precision=10),
            "complex": lambda: st.as_string(tf.constant([1.5 + 2j])),
            "scalar": lambda: st.as_string(3),
            "v1": lambda: tf.compat.v1.as_string([1.5], precision=1),
            "top": lambda: tf.as_string([1, 2]),
            "ragged": lambda: st.as_string(tf.ragged.constant([[1, 2], [], [3]])),
            "format": lambda: st.format("x={}", tf.constant([1, 2, 3])),
            "format/two": lambda: st.format("{} and {}", (tf.constant(1.5), tf.constant("a"))),
            "format/matrix": lambda: st.format("{}", tf.reshape(tf.range(20), [4, 5])),
            "format/long": lambda: st.format("{}", tf.range(10)),
            "format/summarize": lambda: st.format("{}", tf.range(10), summarize=1),
            "format/all": lambda: st.format("{}", tf.range(10), summarize=-1),
            "format/texts": lambda: st.format("{}", tf.constant(["a", "b"])),
            "format/bools": lambda: st.format("{}", tf.constant([True, False])),
            "format/reals": lambda: st.format("{}", tf.constant([0.5, 1 / 3, 1e10, 2.0, 1e-7])),
            "format/placeholder": lambda: st.format("%t!", tf.constant(1), placeholder="%t"),
            "format/count": lambda: st.format("{} {}", tf.constant(1)),
            "format/cube": lambda: st.format("{}", tf.reshape(tf.range(8), [2, 2, 2])),
        }
    )


BROKEN = [b"a\xffb", b"\xe6\x97", b"\xc3\x28", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b"ok"]


@scenario("texts.unicode", GROUP, NONE)
def unicode(s: Setting) -> Iterator[Case]:
    """Characters."""
    tf, st = s.tf, s.tf.strings
    good = ["日本語", "", "aé😀", "Hello"]
    yield from table(
        {
            "decode": lambda: st.unicode_decode(good, "UTF-8"),
            "decode/scalar": lambda: st.unicode_decode("aé", "UTF-8"),
            "decode/dtype": lambda: st.unicode_decode("aé", "UTF-8").dtype.name,
            "decode/matrix": lambda: st.unicode_decode([good[:2], good[2:]], "UTF-8"),
            "decode/utf16": lambda: st.unicode_decode(
                [b"\x00a\x00b", b"\xd8=\xde\x00"], "UTF-16-BE"
            ),
            "decode/latin": lambda: st.unicode_decode([b"a\xe9"], "ISO-8859-1"),
            "decode/ascii": lambda: st.unicode_decode([b"a\xe9"], "US-ASCII"),
            "decode/encoding": lambda: st.unicode_decode(["a"], "UTF-99"),
            "decode/replace": lambda: st.unicode_decode(BROKEN, "UTF-8"),
            "decode/replace_by": lambda: st.unicode_decode(BROKEN, "UTF-8", replacement_char=63),
            "decode/ignore": lambda: st.unicode_decode(BROKEN, "UTF-8", errors="ignore"),
            "decode/strict": lambda: st.unicode_decode(BROKEN, "UTF-8", errors="strict"),
            "decode/strict_good": lambda: st.unicode_decode(good, "UTF-8", errors="strict"),
            "decode/errors": lambda: st.unicode_decode(good, "UTF-8", errors="none"),
            "decode/controls": lambda: st.unicode_decode(
                ["a\x01\tb"], "UTF-8", replace_control_characters=True
            ),
            "decode/offsets": lambda: st.unicode_decode_with_offsets(good, "UTF-8"),
            "decode/offsets_scalar": lambda: st.unicode_decode_with_offsets("aé😀b", "UTF-8"),
            "decode/offsets_broken": lambda: st.unicode_decode_with_offsets(BROKEN, "UTF-8"),
            "split": lambda: st.unicode_split(good, "UTF-8"),
            "split/scalar": lambda: st.unicode_split("aé😀", "UTF-8"),
            "split/broken": lambda: st.unicode_split(BROKEN, "UTF-8"),
            "split/ignore": lambda: st.unicode_split(BROKEN, "UTF-8", errors="ignore"),
            "split/offsets": lambda: st.unicode_split_with_offsets(good, "UTF-8"),
            "split/ragged": lambda: st.unicode_split(st.split(["ab c", "d"]), "UTF-8"),
            "encode": lambda: st.unicode_encode(
                tf.ragged.constant([[97, 233], [], [128512]]), "UTF-8"
            ),
            "encode/vector": lambda: st.unicode_encode([97, 98], "UTF-8"),
            "encode/matrix": lambda: st.unicode_encode([[97, 98], [99, 100]], "UTF-8"),
            "encode/nested": lambda: st.unicode_encode(
                tf.ragged.constant([[[97], [98, 99]], []]), "UTF-8"
            ),
            "encode/utf16": lambda: [
                one.hex() for one in st.unicode_encode([[97, 128512]], "UTF-16-BE").numpy().tolist()
            ],
            "encode/replace": lambda: st.unicode_encode([[97, 0xD800, -1, 0x110000]], "UTF-8"),
            "encode/ignore": lambda: st.unicode_encode([[97, 0xD800]], "UTF-8", errors="ignore"),
            "encode/strict": lambda: st.unicode_encode([[97, 0xD800]], "UTF-8", errors="strict"),
            "encode/encoding": lambda: st.unicode_encode([[97]], "LATIN-1"),
            "transcode": lambda: st.unicode_transcode([b"a\xe9"], "ISO-8859-1", "UTF-8"),
            "transcode/broken": lambda: st.unicode_transcode(BROKEN, "UTF-8", "UTF-8"),
            "transcode/scalar": lambda: st.unicode_transcode("é", "UTF-8", "UTF-8"),
            "transcode/utf32": lambda: [
                one.hex()
                for one in st.unicode_transcode(["aé"], "UTF-8", "UTF-32-BE").numpy().tolist()
            ],
            "transcode/encoding": lambda: st.unicode_transcode(["a"], "UTF-8", "UTF-7"),
            "script": lambda: st.unicode_script([ord(char) for char in "aÄéЖΩ日あアبאग한ไ1 .!ªー"]),
            "script/out": lambda: st.unicode_script([-1, 0x110000]),
            "script/scalar": lambda: st.unicode_script(97),
        }
    )


@scenario("texts.maps", GROUP, NONE)
def maps(s: Setting) -> Iterator[Case]:
    """Texts in maps of datasets, and beside other functions."""
    tf, st = s.tf, s.tf.strings
    lines = lambda: tf.data.Dataset.from_tensor_slices(["Tom,3,1.5", "Ann,5,2.5", "Bob,7,0.5"])  # noqa: E731

    def parse(line: Any) -> Any:
        fields = st.split(line, ",")
        return {
            "name": st.lower(fields[0]),
            "n": st.to_number(fields[1], tf.int32),
            "x": st.to_number(fields[2]),
        }

    def buckets(line: Any) -> Any:
        return st.to_hash_bucket_fast(st.substr(line, 0, 3), 100)

    def label(path: Any) -> Any:
        parts = tf.strings.split(path, "/")
        return tf.cast(parts[-2] == "cats", tf.int32)

    def shapes(line: Any) -> Any:
        return tf.reshape(st.split(line, ","), [3, 1])

    text = {"x": tf.constant(["a", "b", "c"])}
    yield from table(
        {
            "parse": lambda: list(lines().map(parse)),
            "parse_batch": lambda: list(lines().map(parse).batch(2)),
            "buckets": lambda: list(lines().map(buckets).batch(3)),
            "batched": lambda: list(lines().batch(2).map(lambda x: st.split(x, ",").to_tensor())),
            "label": lambda: list(
                tf.data.Dataset.from_tensor_slices(["d/cats/1", "d/dogs/2"]).map(label)
            ),
            "filter": lambda: list(
                lines().filter(lambda x: st.regex_full_match(x, ".*5")).map(st.upper)
            ),
            "shapes": lambda: list(lines().map(shapes)),
            "join": lambda: list(lines().map(lambda x: st.join([x, "!"]))),
            "as_string": lambda: list(tf.data.Dataset.range(3).map(st.as_string)),
            "length": lambda: list(lines().map(st.length)),
            "concat": lambda: tf.concat([text["x"], ["d"]], 0),
            "stack": lambda: tf.stack([text["x"], text["x"]]),
            "expand_dims": lambda: tf.expand_dims(text["x"], -1),
            "expand_dims_scalar": lambda: tf.expand_dims(tf.constant("a"), 0),
            "squeeze": lambda: tf.squeeze(tf.constant([["a"], ["b"]])),
            "reshape": lambda: tf.reshape(tf.constant(["a", "b", "c", "d"]), [2, -1]),
            "gather": lambda: tf.gather(text["x"], [2, 0]),
            "gather_out": lambda: tf.gather(text["x"], [3]),
            "mask": lambda: tf.boolean_mask(text["x"], [True, False, True]),
            "where": lambda: tf.where([True, False, True], text["x"], "z"),
            "tile": lambda: tf.tile(text["x"], [2]),
            "transpose": lambda: tf.transpose(tf.constant([["a", "b"]])),
            "unstack": lambda: tf.unstack(text["x"]),
            "split": lambda: tf.split(text["x"], 3),
            "reverse": lambda: tf.reverse(text["x"], [0]),
            "slice": lambda: tf.slice(text["x"], [1], [2]),
            "fill": lambda: tf.fill([2], "a"),
            "identity": lambda: tf.identity(text["x"]),
            "shape": lambda: tf.shape(text["x"]),
            "size": lambda: tf.size(text["x"]),
            "equal": lambda: tf.equal(text["x"], "b"),
            "operator": lambda: tf.constant(["a", "b"]) == "b",
            "operator_not": lambda: tf.constant(["a", "b"]) != "b",
            "operator_scalar": lambda: st.lower("A") == "a",
            "constant_numpy": lambda: tf.constant(["a", "b"]).numpy().tolist(),
            "constant_scalar": lambda: tf.constant("a").numpy(),
            "constant_dtype": lambda: tf.constant(["a"]).dtype.name,
            "unique": lambda: tuple(tf.unique(tf.constant(["b", "a", "b"]))),
            "as_array": lambda: [np.asarray(one).tolist() for one in lines().map(st.lower)],
        }
    )


@scenario("texts.as_numpy", GROUP, NONE)
def as_numpy(s: Setting) -> Iterator[Case]:
    """The classes of texts that `as_numpy_iterator` and `numpy()` give."""
    data = s.tf.data.Dataset

    def kinds(value: Any) -> Any:
        if isinstance(value, (tuple, dict)):
            return [kinds(one) for one in (value.values() if isinstance(value, dict) else value)]
        if isinstance(value, np.ndarray):
            return [str(value.dtype), *(type(one).__name__ for one in value.ravel())]
        return type(value).__name__

    def files() -> Any:
        folder = Path(tempfile.mkdtemp())
        for name in "ab":
            (folder / name).write_text("x")
        return data.list_files(f"{folder}/*", shuffle=False)

    def rows() -> Iterator[Any]:
        yield "a", b"b"

    datasets = {
        "files": files,
        "files/batch": lambda: files().batch(2),
        "files/zip": lambda: data.zip((files(), data.range(2))),
        "slices": lambda: data.from_tensor_slices(["a", "bc"]),
        "slices/numpy": lambda: data.from_tensor_slices(np.array(["a", "bc"])),
        "slices/dict": lambda: data.from_tensor_slices({"n": [1], "t": ["a"]}),
        "tensors": lambda: data.from_tensors("abc"),
        "tensors/list": lambda: data.from_tensors(["a", "bc"]),
        "generator": lambda: data.from_generator(rows, output_types=(s.tf.string, s.tf.string)),
        "map": lambda: data.from_tensor_slices(["a"]).map(s.tf.strings.upper),
    }
    for name, make in datasets.items():
        yield name, lambda make=make: [kinds(one) for one in make().as_numpy_iterator()]
        if "dict" not in name and name not in ("files/zip", "generator"):
            yield f"{name}/tensors", lambda make=make: [kinds(one.numpy()) for one in make()]
