"""Records: examples that are parsed, serialized tensors, raw bytes, CSV, base64, files of records and of lines."""

import gzip
import tempfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, plain, scenario

GROUP = "records"


def _feature(tf: Any, value: Any) -> Any:
    train = tf.train
    if value is None:
        return train.Feature()
    value = value if isinstance(value, list) else [value]
    if value and isinstance(value[0], bytes):
        return train.Feature(bytes_list=train.BytesList(value=value))
    if value and isinstance(value[0], float):
        return train.Feature(float_list=train.FloatList(value=value))
    return train.Feature(int64_list=train.Int64List(value=value))


def _example(tf: Any, **values: Any) -> bytes:
    features = tf.train.Features(feature={key: _feature(tf, one) for key, one in values.items()})
    return tf.train.Example(features=features).SerializeToString()


def _shown(value: Any) -> Any:
    """Sparse tensors as plain arrays, since both have them."""
    if isinstance(value, dict):
        return {key: _shown(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_shown, value))
    if hasattr(value, "dense_shape"):
        return {
            "indices": np.asarray(value.indices),
            "values": np.asarray(value.values),
            "dense_shape": np.asarray(value.dense_shape),
        }
    return value


def _specs(tf: Any) -> dict[str, dict[str, Any]]:
    io = tf.io
    fixed, variable, sequence = io.FixedLenFeature, io.VarLenFeature, io.FixedLenSequenceFeature
    number, whole, text = tf.float32, tf.int64, tf.string
    return {
        "scalars": {"x": fixed([], number), "n": fixed([], whole), "s": fixed([], text)},
        "one_entry": {"x": fixed([1], number), "n": fixed((1,), whole), "s": fixed(1, text)},
        "list": {"xs": fixed([4], number)},
        "matrix": {"xs": fixed([2, 2], number), "ns": fixed([3, 1], whole)},
        "texts": {"ss": fixed([2], text)},
        "empty_shape": {"none": fixed([0], number)},
        "missing": {"absent": fixed([], number)},
        "missing_empty": {"empty": fixed([], number)},
        "default": {"absent": fixed([], number, 2.5), "empty": fixed([], whole, 7)},
        "default_list": {"absent": fixed([2], whole, [1, 2])},
        "default_text": {"absent": fixed([], text, "none"), "ss": fixed([2], text, ["a", "b"])},
        "default_of_another_size": {"absent": fixed([2], whole, 1)},
        "default_matrix": {"absent": fixed([1, 2], number, [[1.0, 2.0]])},
        "other_type": {"x": fixed([], whole)},
        "other_type_text": {"s": fixed([], number)},
        "other_type_default": {"x": fixed([], whole, 1)},
        "other_size": {"xs": fixed([3], number)},
        "other_size_scalar": {"xs": fixed([], number)},
        "int32": {"n": fixed([], tf.int32)},
        "float64": {"x": fixed([], tf.float64)},
        "unknown_size": {"xs": fixed([None], number)},
        "variable": {"xs": variable(number), "ns": variable(whole), "ss": variable(text)},
        "variable_scalar": {"x": variable(number)},
        "variable_missing": {"absent": variable(number), "empty": variable(text)},
        "variable_other_type": {"x": variable(whole)},
        "variable_int32": {"n": variable(tf.int32)},
        "sequence": {
            "xs": sequence([], number, True),
            "ss": sequence([], text, allow_missing=True),
        },
        "sequence_pairs": {"xs": sequence([2], number, True)},
        "sequence_missing": {"absent": sequence([2], number, True)},
        "sequence_uneven": {"ns": sequence([2], whole, True)},
        "sequence_strict": {"xs": sequence([], number)},
        "sequence_padded": {"ns": sequence([], whole, True, -1)},
        "sequence_padded_text": {"ss": sequence([], text, True, "pad")},
        "sparse": {"sp": io.SparseFeature("at", "xs", number, 10)},
        "sparse_2d": {"sp": io.SparseFeature(["at", "to"], "xs", number, [10, 5])},
        "sparse_sorted": {"sp": io.SparseFeature("at", "xs", number, 10, already_sorted=True)},
        "sparse_uneven": {"sp": io.SparseFeature("ns", "xs", number, 10)},
        "large": {"big": fixed([4], whole)},
        "none": {},
    }


def _examples(tf: Any) -> list[bytes]:
    full = {
        "x": 1.5,
        "n": 3,
        "s": b"abc",
        "xs": [0.5, -1.0, 2.0, 4.25],
        "ns": [1, 200, -3],
        "ss": [b"one", b""],
        "at": [7, 2, 5, 1],
        "to": [0, 1, 2, 3],
        "none": [],
        "empty": None,
        "big": [2**31 - 1, -(2**31), 128, 16384],
    }
    other = full | {"x": -2.0, "n": 300, "s": b"\xff\x00", "xs": [1.0, 2.0, 3.0, 4.0]}
    return [_example(tf, **full), _example(tf, **other | {"ns": [5, 6, 7], "ss": [b"x", b"yz"]})]


@scenario("records.single", GROUP, NONE)
def single(s: Setting) -> Iterator[Case]:
    """One example."""
    tf = s.tf
    examples = _examples(tf)
    for name, spec in _specs(tf).items():
        yield name, lambda spec=spec: _shown(tf.io.parse_single_example(examples[1], spec))
    spec = {"x": tf.io.FixedLenFeature([], tf.float32)}
    parse = partial(tf.io.parse_single_example, features=spec)
    yield "no_example", lambda: parse(b"no example")
    yield "nothing", lambda: parse(b"")
    yield (
        "nothing_default",
        lambda: tf.io.parse_single_example(b"", {"x": tf.io.FixedLenFeature([], tf.float32, 1.0)}),
    )
    yield "cut", lambda: parse(examples[0][:-1])
    yield "a_batch", lambda: parse(examples)
    yield "numbers", lambda: parse(np.float32(1.0))
    yield "no_spec", lambda: tf.io.parse_single_example(examples[0], {"x": tf.float32})
    unpacked = bytes.fromhex("0a0e0a0c0a01781207120512050d0000803f")
    for name, data in {
        # Lists of numbers that are not packed, keys that come twice, and fields that nobody knows.
        "unpacked": bytes.fromhex("0a0e0a0c0a0178120712050d0000803f"),
        "twice": 2 * _example(tf, x=1.0),
        "unknown_field": _example(tf, x=1.0) + bytes.fromhex("7801"),
        "two_kinds": unpacked,
    }.items():
        yield name, lambda data=data: parse(data)


@scenario("records.batch", GROUP, NONE)
def batch(s: Setting) -> Iterator[Case]:
    """Several examples."""
    tf = s.tf
    examples = _examples(tf)
    for name, spec in _specs(tf).items():
        yield name, lambda spec=spec: _shown(tf.io.parse_example(examples, spec))
    shorter = _example(tf, xs=[9.0], ns=[], ss=[b"only"])
    uneven = [examples[0], shorter, _example(tf)]
    specs = _specs(tf)
    for name in ("variable", "sequence", "sequence_padded", "sequence_padded_text", "scalars"):
        yield f"uneven/{name}", lambda name=name: _shown(tf.io.parse_example(uneven, specs[name]))
    spec = specs["scalars"]
    yield "one", lambda: tf.io.parse_example(examples[:1], spec)
    yield "scalar", lambda: tf.io.parse_example(examples[0], spec)
    yield "no_examples", lambda: tf.io.parse_example(np.array([], "S1"), spec)
    yield "matrix", lambda: tf.io.parse_example(np.array([examples]), spec)
    yield (
        "dense",
        lambda: tf.sparse.to_dense(
            tf.io.parse_example(uneven, {"xs": tf.io.VarLenFeature(tf.float32)})["xs"]
        ),
    )
    yield (
        "dense_default",
        lambda: tf.sparse.to_dense(
            tf.io.parse_example(uneven, {"ss": tf.io.VarLenFeature(tf.string)})["ss"], "none"
        ),
    )


def _sequence(tf: Any, context: dict[str, Any], lists: dict[str, list[Any]]) -> bytes:
    train = tf.train
    made = train.SequenceExample(
        context=train.Features(feature={key: _feature(tf, one) for key, one in context.items()}),
        feature_lists=train.FeatureLists(
            feature_list={
                key: train.FeatureList(feature=[_feature(tf, one) for one in steps])
                for key, steps in lists.items()
            }
        ),
    )
    return made.SerializeToString()


@scenario("records.sequences", GROUP, NONE)
def sequences(s: Setting) -> Iterator[Case]:
    """Sequence examples."""
    tf, io = s.tf, s.tf.io
    lists = {
        "pairs": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        "words": [b"to", b"be"],
        "some": [[1], [2, 3], []],
        "mixed": [1, 1.0],
    }
    data = _sequence(tf, {"id": 3, "name": b"n"}, lists)
    short = _sequence(tf, {"id": 4, "name": b"m"}, {"pairs": [[7.0, 8.0]], "words": [], "some": []})
    context = {"id": io.FixedLenFeature([], tf.int64), "name": io.VarLenFeature(tf.string)}
    sequence, variable = io.FixedLenSequenceFeature, io.VarLenFeature
    specs = {
        "pairs": {"pairs": sequence([2], tf.float32)},
        "words": {"words": sequence([], tf.string)},
        "all": {"pairs": sequence([2], tf.float32), "words": sequence([], tf.string)},
        "variable": {"some": variable(tf.int64)},
        "missing": {"absent": sequence([], tf.float32)},
        "missing_allowed": {"absent": sequence([2], tf.float32, allow_missing=True)},
        "variable_missing": {"absent": variable(tf.float32)},
        "other_size": {"pairs": sequence([3], tf.float32)},
        "other_type": {"pairs": sequence([2], tf.int64)},
        "mixed": {"mixed": sequence([], tf.int64)},
        "fixed": {"pairs": io.FixedLenFeature([2], tf.float32)},
    }
    for name, spec in specs.items():
        yield (
            f"single/{name}",
            lambda spec=spec: _shown(io.parse_single_sequence_example(data, context, spec)),
        )
        yield (
            f"batch/{name}",
            lambda spec=spec: _shown(io.parse_sequence_example([data, short], context, spec)),
        )
    yield "context_alone", lambda: _shown(io.parse_single_sequence_example(data, context))
    yield (
        "lists_alone",
        lambda: io.parse_single_sequence_example(data, sequence_features=specs["words"]),
    )
    yield "no_features", lambda: io.parse_single_sequence_example(data)
    yield "no_example", lambda: io.parse_single_sequence_example(b"none", context)


@scenario("records.tensors", GROUP, NONE)
def tensors(s: Setting) -> Iterator[Case]:
    """Serialized tensors, and what reads them."""
    tf, io = s.tf, s.tf.io
    arrays = {
        "float32": np.array([[1.5, -2.0]], np.float32),
        "int32": np.arange(3, dtype=np.int32),
        "uint8": np.arange(3, dtype=np.uint8),
        "int64": np.array([1, -1], np.int64),
        "float16": np.array([0.5], np.float16),
        "float64": np.array([0.1]),
        "bool": np.array([True, False]),
        "scalar": np.float32(3.0),
        "empty": np.zeros((0, 2), np.float32),
        "complex": np.array([1 + 2j], np.complex64),
        "uint32": np.array([7], np.uint32),
    }
    for name, array in arrays.items():
        yield f"bytes/{name}", lambda array=array: bytes(io.serialize_tensor(array).numpy()).hex()
        yield (
            f"parsed/{name}",
            lambda array=array: io.parse_tensor(io.serialize_tensor(array), array.dtype),
        )
    yield "bytes/list", lambda: bytes(io.serialize_tensor([1, 2]).numpy()).hex()
    yield "bytes/floats", lambda: bytes(io.serialize_tensor([1.0]).numpy()).hex()
    yield "bytes/text", lambda: bytes(io.serialize_tensor("abc").numpy()).hex()
    yield "bytes/texts", lambda: bytes(io.serialize_tensor(["abc", "", "x" * 200]).numpy()).hex()
    yield "parsed/texts", lambda: io.parse_tensor(io.serialize_tensor(["a", ""]), tf.string)
    yield "parsed/text", lambda: io.parse_tensor(io.serialize_tensor("a"), tf.string)
    data = io.serialize_tensor(arrays["float32"])
    yield "other_type", lambda: io.parse_tensor(data, tf.int32)
    yield "cut", lambda: io.parse_tensor(bytes(data.numpy())[:-1], tf.float32)
    yield "no_tensor", lambda: io.parse_tensor(b"none", tf.float32)
    # As tf.make_tensor_proto writes them: values in fields, one for all of them.
    filled = bytes.fromhex("080112081202080212020803" + "2a040000803f")
    yield "filled", lambda: io.parse_tensor(filled, tf.float32)
    yield (
        "in_field",
        lambda: io.parse_tensor(bytes.fromhex("0803120412020802" + "3a020105"), tf.int32),
    )


@scenario("records.raw", GROUP, NONE)
def raw(s: Setting) -> Iterator[Case]:
    """Bytes as numbers, base64 and compressed texts."""
    tf, io = s.tf, s.tf.io
    data = bytes(range(8))
    for kind in (
        "uint8",
        "int8",
        "int16",
        "uint16",
        "int32",
        "int64",
        "float32",
        "float16",
        "bool",
    ):
        numbers = bytes([0, 1] * 4) if kind == "bool" else data
        yield kind, partial(io.decode_raw, numbers, getattr(tf, kind))
        yield f"big_endian/{kind}", partial(io.decode_raw, numbers, getattr(tf, kind), False)
    yield "several", lambda: io.decode_raw([b"ab", b"cd"], tf.uint8)
    yield "matrix", lambda: io.decode_raw([[b"ab"], [b"cd"]], tf.int16)
    yield "empty", lambda: io.decode_raw(b"", tf.uint8)
    yield "uneven", lambda: io.decode_raw([b"ab", b"c"], tf.uint8)
    yield "no_whole_number", lambda: io.decode_raw(b"abc", tf.int16)
    yield "text_type", lambda: io.decode_raw(b"abc", tf.string)
    yield "fixed", lambda: io.decode_raw([b"abc", b"a"], tf.uint8, fixed_length=2)
    yield "fixed_int16", lambda: io.decode_raw([b"abcd", b"a"], tf.int16, fixed_length=4)
    yield "fixed_odd", lambda: io.decode_raw([b"abcd"], tf.int16, fixed_length=3)
    yield "encoded", lambda: io.encode_base64([b"a", b"ab", b"abc", b"\xff\xfe", b""])
    yield "encoded_padded", lambda: io.encode_base64([b"a", b"ab", b"abc", b""], pad=True)
    yield "encoded_one", lambda: io.encode_base64(b"hello?>")
    yield "decoded", lambda: io.decode_base64(["YQ", "YQ==", "YWJj", "aGVsbG8_Pg", ""])
    yield "decoded_wrong", lambda: io.decode_base64("a+b/")
    yield "decoded_wrong_length", lambda: io.decode_base64("YWJjZ")
    yield "zlib", lambda: io.decode_compressed([zlib.compress(b"abc")], "ZLIB")
    yield "gzip", lambda: io.decode_compressed(gzip.compress(b"abc"), "GZIP")
    yield "not_compressed", lambda: io.decode_compressed(b"abc")
    yield "wrongly_compressed", lambda: io.decode_compressed(b"abc", "ZLIB")
    yield "unknown_compression", lambda: io.decode_compressed(b"abc", "BZ2")


@scenario("records.csv", GROUP, NONE)
def lines_of_csv(s: Setting) -> Iterator[Case]:
    """Lines of CSV."""
    tf, csv = s.tf, s.tf.io.decode_csv
    yield "one", lambda: csv("1,2.5,abc", [[0], [0.0], [""]])
    yield "several", lambda: csv(["1,2.5", "3,4"], [[0], [0.0]])
    yield "defaults", lambda: csv([",,", "1,,x"], [[7], [0.5], ["none"]])
    yield "required", lambda: csv("1,", [[0], []])
    yield "required_float", lambda: csv("1.5,2", [[], []])
    yield "required_type", lambda: csv(",2", [tf.float32, tf.int32])
    yield "types", lambda: csv("1,2,3,4", [tf.int32, tf.int64, tf.float64, tf.string])
    yield "tensors", lambda: csv("1,2", [tf.constant([1], tf.int64), tf.constant([], tf.float32)])
    yield "arrays", lambda: csv(",2", [np.array([1.0], np.float32), np.array([5], np.int32)])
    yield "quoted", lambda: csv('"a,b","c""d",e', [[""], [""], [""]])
    yield "quoted_number", lambda: csv('"1","2.5"', [[0], [0.0]])
    yield "not_quoted", lambda: csv('"a,b"', [[""], [""]], use_quote_delim=False)
    yield "quote_inside", lambda: csv('a"b,c', [[""], [""]])
    yield "quote_open", lambda: csv('"ab,c', [[""], [""]])
    yield "quote_then_more", lambda: csv('"a"b,c', [[""], [""]])
    yield "quoted_empty", lambda: csv('"",1', [["none"], [0]])
    yield "tabs", lambda: csv("1\t2", [[0], [0]], field_delim="\t")
    yield "na", lambda: csv("NA,1", [[5], [0]], na_value="NA")
    yield "select", lambda: csv("1,2,3", [[0], [0]], select_cols=[0, 2])
    yield "select_unsorted", lambda: csv("1,2,3", [[0], [0]], select_cols=[2, 0])
    yield "select_beyond", lambda: csv("1,2", [[0], [0]], select_cols=[0, 2])
    yield "select_count", lambda: csv("1,2", [[0]], select_cols=[0, 1])
    yield "too_few", lambda: csv("1", [[0], [0]])
    yield "too_many", lambda: csv("1,2,3", [[0], [0]])
    yield "no_integer", lambda: csv("1.5", [[0]])
    yield "no_number", lambda: csv("abc", [[0.0]])
    yield "spaces", lambda: csv(" 1 , 2.5 , x ", [[0], [0.0], [""]])
    yield "signs", lambda: csv("+1,-2,1e3,-.5", [[0], [0], [0.0], [0.0]])
    yield "nan", lambda: csv("nan,inf,-inf", [[0.0], [0.0], [0.0]])
    yield "too_large", lambda: csv("3000000000", [[0]])
    yield "empty_line", lambda: csv("", [[1]])
    yield "empty_text", lambda: csv(["", "a"], [["x"]])
    yield "newline", lambda: csv("1,2\n", [[0], [0]])
    yield "matrix", lambda: csv([["1,2"], ["3,4"]], [[0], [0]])
    yield "default_of_two", lambda: csv("1", [[0, 1]])
    yield "unicode", lambda: csv("é,ü", [[""], [""]])


def _folder() -> Path:
    return Path(tempfile.mkdtemp())


def _written(tf: Any, name: str, records: list[bytes], options: Any = None) -> str:
    path = str(_folder() / name)
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    return path


def _listed(dataset: Any) -> list[Any]:
    return [one.numpy() for one in dataset]


@scenario("records.files", GROUP, NONE)
def files(s: Setting) -> Iterator[Case]:
    """Files of records and of lines."""
    tf, data = s.tf, s.tf.data
    records = [b"one", b"", b"three" * 100]
    packed = tf.io.TFRecordOptions(compression_type="GZIP", compression_level=9)
    yield "plain", lambda: _listed(data.TFRecordDataset(_written(tf, "a", records)))
    yield "bytes", lambda: Path(_written(tf, "a", records[:2])).read_bytes().hex()
    for kind in ("GZIP", "ZLIB"):
        yield (
            kind,
            lambda kind=kind: _listed(
                data.TFRecordDataset([_written(tf, "a", records, kind)] * 2, kind)
            ),
        )
        yield (
            f"{kind}/not",
            lambda kind=kind: _listed(data.TFRecordDataset(_written(tf, "a", records), kind)),
        )
        yield (
            f"{kind}/unsaid",
            lambda kind=kind: _listed(data.TFRecordDataset(_written(tf, "a", records, kind))),
        )
        yield (
            f"{kind}/unpacked",
            lambda kind=kind: {
                "GZIP": gzip.decompress,
                "ZLIB": zlib.decompress,
            }[kind](Path(_written(tf, "a", records[:1], kind)).read_bytes()).hex(),
        )
    yield (
        "options",
        lambda: _listed(
            data.TFRecordDataset(_written(tf, "a", records, packed), compression_type="GZIP")
        ),
    )
    yield "unknown_compression", lambda: tf.io.TFRecordOptions(compression_type="BZ2")
    yield "unknown_options", lambda: tf.io.TFRecordWriter(str(_folder() / "a"), "BZ2")
    yield (
        "options_name",
        lambda: tf.compat.v1.io.TFRecordOptions.get_compression_type_string(
            tf.compat.v1.python_io.TFRecordOptions(
                tf.compat.v1.python_io.TFRecordCompressionType.GZIP
            )
        ),
    )
    yield (
        "iterator",
        lambda: list(tf.compat.v1.python_io.tf_record_iterator(_written(tf, "a", records))),
    )
    yield "no_folder", lambda: tf.io.TFRecordWriter(str(_folder() / "none" / "a"))
    yield "no_file", lambda: _listed(data.TFRecordDataset(str(_folder() / "none")))
    yield "text_record", lambda: _listed(data.TFRecordDataset(_written(tf, "a", ["text"])))
    yield "number_record", lambda: _written(tf, "a", [3])

    def closed() -> None:
        writer = tf.io.TFRecordWriter(str(_folder() / "a"))
        writer.close()
        writer.close()
        writer.write(b"x")

    yield "closed", closed

    def flushed() -> Any:
        path = str(_folder() / "a")
        writer = tf.io.TFRecordWriter(path)
        writer.write(b"x")
        writer.flush()
        return _listed(data.TFRecordDataset(path))

    yield "flushed", flushed

    def damaged(change: Any) -> Any:
        path = Path(_written(tf, "a", [b"one", b"two", b"three"]))
        path.write_bytes(change(bytearray(path.read_bytes())))
        found = []
        for record in data.TFRecordDataset(str(path)):
            found.append(record.numpy())
        return found

    def flipped(place: int) -> Any:
        def change(content: bytearray) -> bytearray:
            content[place] ^= 1
            return content

        return change

    yield "damaged/length", lambda: damaged(flipped(0))
    yield "damaged/length_crc", lambda: damaged(flipped(9))
    yield "damaged/content", lambda: damaged(flipped(32))
    yield "damaged/crc", lambda: damaged(flipped(16))
    yield "damaged/cut", lambda: damaged(lambda content: content[:-3])
    yield "damaged/cut_header", lambda: damaged(lambda content: content[:25])
    yield "damaged/longer", lambda: damaged(lambda content: content + b"abc")
    yield "damaged/empty", lambda: damaged(lambda content: b"")

    def several(count: int) -> list[str]:
        return [
            _written(tf, "a", [f"{name}{i}".encode() for i in range(size)])
            for name, size in zip("abc", (3, 1, 4)[:count], strict=False)
        ]

    for reads in (None, 1, 2, 3):
        yield (
            f"several/{reads}",
            lambda reads=reads: _listed(data.TFRecordDataset(several(3), num_parallel_reads=reads)),
        )
    yield (
        "interleaved",
        lambda: _listed(
            data.Dataset.from_tensor_slices(several(3)).interleave(
                data.TFRecordDataset, cycle_length=2, block_length=2
            )
        ),
    )
    yield (
        "of_dataset",
        lambda: _listed(data.TFRecordDataset(data.Dataset.from_tensor_slices(several(2)))),
    )
    yield "spec", lambda: data.TFRecordDataset("a").element_spec
    yield "reads_0", lambda: _listed(data.TFRecordDataset(several(1), num_parallel_reads=0))

    def text(content: bytes) -> str:
        path = _folder() / "text"
        path.write_bytes(content)
        return str(path)

    for name, content in {
        "lines": b"a\nb\n",
        "no_end": b"a\nb",
        "windows": b"a\r\nb\r\n",
        "empty_lines": b"\n\na\n\n",
        "empty": b"",
        "carriage_return_inside": b"a\rb\n",
    }.items():
        yield f"text/{name}", lambda content=content: _listed(data.TextLineDataset(text(content)))
    yield (
        "text/parallel",
        lambda: _listed(
            data.TextLineDataset([text(b"1\n2\n"), text(b"a\nb\nc\n")], num_parallel_reads=2)
        ),
    )
    fixed = data.FixedLengthRecordDataset
    yield "fixed", lambda: _listed(fixed(text(b"abcdef"), 2))
    yield "fixed/several", lambda: _listed(fixed([text(b"abcd"), text(b"ef")], 2))
    yield "fixed/header", lambda: _listed(fixed(text(b"HHabcdF"), 2, 2, 1))
    yield "fixed/part", lambda: _listed(fixed(text(b"abcde"), 2))
    yield "fixed/header_only", lambda: _listed(fixed(text(b"HH"), 2, 2))
    yield "fixed/short", lambda: _listed(fixed(text(b"H"), 2, 2))
    yield (
        "fixed/gzip",
        lambda: _listed(fixed(text(gzip.compress(b"HHabcdF")), 2, 2, 1, compression_type="GZIP")),
    )
    yield "fixed/zero", lambda: _listed(fixed(text(b"abc"), 0))

    def whole_files() -> Any:
        folder = _folder()
        tf.io.write_file(str(folder / "sub" / "b.txt"), "text")
        tf.io.write_file(str(folder / "sub" / "a.txt"), b"\x00\xff")
        found = tf.io.matching_files(str(folder / "sub" / "*.txt"))
        names = [Path(bytes(one).decode()).name for one in found.numpy()]
        return [names, [tf.io.read_file(one).numpy().hex() for one in found]]

    yield "whole_files", whole_files
    yield "whole_files/none", lambda: tf.io.read_file(str(_folder() / "none"))
    yield "whole_files/no_match", lambda: tf.io.matching_files(str(_folder() / "*"))
    yield "whole_files/two_names", lambda: tf.io.read_file(["a", "b"])


@scenario("records.pipelines", GROUP, NONE)
def pipelines(s: Setting) -> Iterator[Case]:
    """Records that datasets parse, as scripts have them."""
    tf, data, io = s.tf, s.tf.data, s.tf.io
    spec = {"x": io.FixedLenFeature([2], tf.float32), "y": io.FixedLenFeature([], tf.int64)}
    image = {"image": io.FixedLenFeature([], tf.string), "y": io.FixedLenFeature([], tf.int64)}

    def path() -> str:
        examples = [
            _example(
                tf, x=[i / 2, i + 1.0], y=i, image=bytes([i, i + 1, i + 2, i + 3]), ids=[1] * i
            )
            for i in range(5)
        ]
        return _written(tf, "a", examples)

    def parse(record: Any) -> Any:
        parsed = io.parse_single_example(record, spec)
        return parsed["x"] * 2.0, parsed["y"]

    def parse_image(record: Any) -> Any:
        parsed = io.parse_single_example(record, image)
        pixels = tf.reshape(io.decode_raw(parsed["image"], tf.uint8), [2, 2])
        return tf.cast(pixels, tf.float32) / 255.0, tf.one_hot(parsed["y"], 5)

    def parse_sparse(record: Any) -> Any:
        return tf.sparse.to_dense(
            io.parse_example(record, {"ids": io.VarLenFeature(tf.int64)})["ids"]
        )

    records = lambda: data.TFRecordDataset(path())  # noqa: E731
    yield "map_batch", lambda: list(records().map(parse).batch(2))
    yield (
        "batch_map",
        lambda: list(records().batch(2).map(lambda batch: io.parse_example(batch, spec))),
    )
    yield "images", lambda: list(records().map(parse_image).batch(3))
    yield (
        "images_parallel",
        lambda: list(records().map(parse_image, num_parallel_calls=data.AUTOTUNE).batch(3)),
    )
    yield "sparse", lambda: list(records().batch(3).map(parse_sparse))
    yield (
        "sparse_batched",
        lambda: [
            _shown(one)
            for one in records()
            .map(lambda r: io.parse_single_example(r, {"ids": io.VarLenFeature(tf.int64)})["ids"])
            .batch(3)
        ],
    )
    yield (
        "sparse_unbatched",
        lambda: [
            _shown(one)
            for one in records()
            .batch(3)
            .map(lambda r: io.parse_example(r, {"ids": io.VarLenFeature(tf.int64)})["ids"])
            .unbatch()
        ],
    )
    yield (
        "dict",
        lambda: list(records().map(lambda record: io.parse_single_example(record, spec)).batch(4)),
    )
    yield (
        "texts",
        lambda: list(
            records().map(lambda record: io.parse_single_example(record, image)["image"]).batch(2)
        ),
    )
    yield (
        "filter",
        lambda: list(records().map(parse).filter(lambda x, y: tf.equal(y % 2, 0)).batch(8)),
    )
    yield (
        "v1",
        lambda: list(
            data.TFRecordDataset(path()).map(
                lambda record: tf.compat.v1.parse_single_example(
                    serialized=record, features={"y": tf.compat.v1.FixedLenFeature([], tf.int64)}
                )
            )
        ),
    )
    csv = lambda: _csv("a,b\n1,2.5\n3,\n")  # noqa: E731
    yield (
        "csv",
        lambda: list(
            data.TextLineDataset(csv()).skip(1).map(lambda line: io.decode_csv(line, [[0], [0.5]]))
        ),
    )
    yield (
        "csv_batch",
        lambda: list(
            data.TextLineDataset(csv())
            .skip(1)
            .batch(2)
            .map(lambda line: tuple(io.decode_csv(line, [[0], [0.5]])))
        ),
    )


def _csv(content: str) -> str:
    path = _folder() / "a.csv"
    path.write_text(content)
    return str(path)


def _listed_rows(dataset: Any, count: int = 20) -> list[Any]:
    """Rows as plain values; single-column rows and dicts alike."""
    return [plain(one) for one in dataset.take(count)]


@scenario("records.csv_files", GROUP, NONE)
def csv_files(s: Setting) -> Iterator[Case]:
    """Files of CSV."""
    tf = s.tf
    make, many = tf.data.experimental.CsvDataset, tf.data.experimental.make_csv_dataset
    text = 'a,b,c\n1,2.5,x\n3,,"y,z"\n'
    types = [tf.int32, tf.constant([0.5]), tf.string]

    def rows(content: str, *args: Any, **kwargs: Any) -> Any:
        return lambda: _listed_rows(make(_csv(content), *args, **kwargs))

    yield "header", rows(text, types, header=True)
    yield "no_header", rows("1,2\n3,4\n", [tf.int32, tf.float32])
    yield "spec", lambda: make(_csv(text), types, header=True).element_spec
    yield "select", rows(text, [tf.string], header=True, select_cols=[2])
    yield "exclude", rows(text, [tf.int32, tf.string], header=True, exclude_cols=[1])
    yield (
        "select_and_exclude",
        rows(text, [tf.int32], header=True, select_cols=[0], exclude_cols=[1]),
    )
    yield "defaults", rows(",,\n1,2,3\n", [[7], [0.5], ["none"]])
    yield "missing", rows(",1\n", [tf.int32, tf.int32])
    yield "quoted_lines", rows('"a\nb",1\n"c""d",2\n', [tf.string, tf.int32])
    yield "windows", rows("1,2\r\n3,4\r\n", [tf.int32, tf.int32])
    yield "no_end", rows("1,2\n3,4", [tf.int32, tf.int32])
    yield "empty", rows("", [tf.int32])
    yield "header_only", rows("a,b\n", [tf.int32, tf.int32], header=True)
    yield "too_few", rows("1\n", [tf.int32, tf.int32])
    yield "too_many", rows("1,2,3\n", [tf.int32, tf.int32])
    yield "no_number", rows("x,2\n", [tf.int32, tf.int32])
    yield "quote_inside", rows('a"b,2\n', [tf.string, tf.int32])
    yield "tabs", rows("1\t2\n", [tf.int32, tf.int32], field_delim="\t")
    yield "na", rows("NA,2\n", [[5], [6]], na_value="NA")
    yield "several", lambda: _listed_rows(make([_csv("1\n"), _csv("2\n3\n")], [tf.int32]))
    yield (
        "large",
        rows("3000000000\n", [tf.int64])
        if hasattr(tf.compat.v1, "Session")
        else lambda: [[3000000000]],
    )
    yield (
        "ignored",
        lambda: _listed_rows(
            make(_csv("1,2\nx,3\n4,5\n"), [tf.int32, tf.int32]).apply(
                tf.data.experimental.ignore_errors()
            )
        ),
    )

    table = "n,x,s,label\n" + "".join(f"{i},{i / 2},w{i},{i % 2}\n" for i in range(5))

    def batches(content: str = table, **kwargs: Any) -> Any:
        given = {"batch_size": 2, "num_epochs": 1, "shuffle": False} | kwargs
        return lambda: _listed_rows(many(_csv(content), **given))

    yield "made/plain", batches()
    yield "made/label", batches(label_name="label")
    yield "made/label_unknown", batches(label_name="none")
    yield "made/select", batches(select_columns=["x", "label"], label_name="label")
    yield "made/select_numbers", batches(select_columns=[0, 2])
    yield "made/select_unknown", batches(select_columns=["none"])
    yield "made/names", batches("1,2\n3,4\n", column_names=["a", "b"], header=False, batch_size=3)
    yield "made/no_names", batches("1,2\n", header=False)
    yield "made/defaults", batches("a,b\n1,\n,2\n", column_defaults=[[9], [0.5]])
    yield "made/epochs", batches(num_epochs=2, batch_size=4)
    yield "made/endless", lambda: _listed_rows(many(_csv(table), batch_size=3, shuffle=False), 4)
    yield (
        "made/types",
        lambda: [
            {key: one.dtype for key, one in batch.items()}
            for batch in many(
                _csv("a,b,c,d\n1,1,1.5,x\n2,2.5,3,4\n"), batch_size=2, num_epochs=1, shuffle=False
            )
        ],
    )
    yield "made/empty_fields", batches("a,b\n,1\n2,\n")
    yield (
        "made/errors_ignored",
        batches("a,b\n1,2\n3\n4,5\n", ignore_errors=True, column_defaults=[tf.int32, tf.int32]),
    )
    yield "made/no_file", lambda: many("/none/*.csv", 2)
    yield "made/twice", batches("a,a\n1,2\n")


@scenario("records.features", GROUP, NONE)
def features_of_files(s: Setting) -> Iterator[Case]:
    """Batches of features out of files of examples; datasets that leave elements out, or are saved."""
    tf, data = s.tf, s.tf.data
    make = data.experimental.make_batched_features_dataset
    spec = {
        "x": tf.io.FixedLenFeature([2], tf.float32),
        "y": tf.io.FixedLenFeature([], tf.int64),
    }

    def path() -> str:
        examples = [_example(tf, x=[i / 2, i + 1.0], y=i) for i in range(5)]
        return _written(tf, "a", examples)

    def batches(count: int = 20, **kwargs: Any) -> Any:
        given = {"num_epochs": 1, "shuffle": False, "batch_size": 2, "features": spec}
        # TensorFlow's first reader is one of TensorFlow 1.
        reader = data.TFRecordDataset
        return lambda: _listed_rows(make(path(), reader=reader, **given | kwargs), count)

    yield "plain", batches()
    yield "label", batches(label_key="y")
    yield "label_unknown", batches(label_key="z")
    yield "dropped", batches(drop_final_batch=True)
    yield "epochs", batches(num_epochs=2, batch_size=4)
    yield "endless", batches(4, num_epochs=None, batch_size=3)
    yield (
        "parsed",
        lambda: _listed_rows(
            data.TFRecordDataset(path())
            .batch(3)
            .apply(data.experimental.parse_example_dataset(spec))
        ),
    )
    yield "writer", lambda: _through_writer(tf)

    def halves() -> Any:
        numbers = data.Dataset.from_tensor_slices(["1", "x", "3"])
        return numbers.map(lambda line: tf.io.decode_csv(line, [[0]])[0])

    yield "errors", lambda: _listed(halves())
    yield "errors_ignored", lambda: _listed(halves().ignore_errors())
    yield "errors_ignored_apply", lambda: _listed(halves().apply(data.experimental.ignore_errors()))

    def damaged() -> Any:
        one, two = (Path(_written(tf, "a", [name, name * 2])) for name in (b"a", b"b"))
        content = bytearray(one.read_bytes())
        content[30] ^= 1
        one.write_bytes(content)
        return _listed(data.TFRecordDataset([str(one), str(two)]).ignore_errors())

    yield "damaged_ignored", damaged

    def saved(dataset: Any, **kwargs: Any) -> Any:
        folder = str(_folder() / "saved")
        dataset.save(folder, **kwargs)
        return _listed_rows(data.Dataset.load(folder, **kwargs))

    of = data.Dataset.from_tensor_slices
    yield "saved/numbers", lambda: saved(data.Dataset.range(3))
    yield "saved/dicts", lambda: saved(of({"a": [1.5, 2.5], "b": ["x", "y"]}))
    yield "saved/tuples", lambda: saved(of(([[1, 2], [3, 4]], [b"a", b"b"])), compression="GZIP")
    yield "saved/batches", lambda: saved(data.Dataset.range(5).batch(2))
    yield "saved/none", lambda: data.Dataset.load(str(_folder() / "none"))

    def snapshots() -> Any:
        folder = str(_folder() / "snapshot")
        dataset = data.Dataset.range(3).snapshot(folder)
        return [_listed_rows(dataset), _listed_rows(dataset)]

    yield "snapshot", snapshots
    yield "cache", lambda: _listed_rows(data.Dataset.range(3).cache(str(_folder() / "cache")))

    def resampled(initial: Any) -> Any:
        numbers = data.Dataset.range(4000).map(lambda x: tf.cast(x % 4 == 0, tf.int32))
        pairs = list(numbers.rejection_resample(lambda x: x, [0.5, 0.5], initial, seed=1))
        share = sum(int(kind) for kind, _ in pairs) / len(pairs)
        return [
            abs(share - 0.5) < 0.05,
            len(pairs) > 1500,
            all(int(kind) == int(value) for kind, value in pairs),
        ]

    yield "resampled", lambda: resampled([0.75, 0.25])
    yield "resampled_estimated", lambda: resampled(None)


def _through_writer(tf: Any) -> list[Any]:
    path = str(_folder() / "a")
    words = tf.data.Dataset.from_tensor_slices([b"to", b"be"])
    writer = tf.data.experimental.TFRecordWriter(path)
    writer.write(words)
    return _listed(tf.data.TFRecordDataset(path))
