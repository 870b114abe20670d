"""Protocol buffers of TensorFlow's, made of their descriptions when they are first used.

They are wire-compatible with TensorFlow's and have its names, but are in a pool of their own: a process may import
TensorFlow too. Importing this module imports protobuf.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_TYPES = descriptor_pb2.FieldDescriptorProto
_KINDS = {
    "bytes": _TYPES.TYPE_BYTES,
    "string": _TYPES.TYPE_STRING,
    "float": _TYPES.TYPE_FLOAT,
    "double": _TYPES.TYPE_DOUBLE,
    "int32": _TYPES.TYPE_INT32,
    "int64": _TYPES.TYPE_INT64,
    "uint32": _TYPES.TYPE_UINT32,
    "uint64": _TYPES.TYPE_UINT64,
    "bool": _TYPES.TYPE_BOOL,
    "fixed32": _TYPES.TYPE_FIXED32,
}

# By message: its fields, as in a .proto file. `a|` in front says that only one of the fields with it is set.
_MESSAGES = {
    "BytesList": ("repeated bytes value = 1",),
    "FloatList": ("repeated float value = 1",),
    "Int64List": ("repeated int64 value = 1",),
    "Feature": (
        "kind| BytesList bytes_list = 1",
        "kind| FloatList float_list = 2",
        "kind| Int64List int64_list = 3",
    ),
    "Features": ("map Feature feature = 1",),
    "FeatureList": ("repeated Feature feature = 1",),
    "FeatureLists": ("map FeatureList feature_list = 1",),
    "Example": ("optional Features features = 1",),
    "SequenceExample": ("optional Features context = 1", "optional FeatureLists feature_lists = 2"),
    "TensorShapeProto.Dim": ("optional int64 size = 1", "optional string name = 2"),
    "TensorShapeProto": (
        "repeated TensorShapeProto.Dim dim = 2",
        "optional bool unknown_rank = 3",
    ),
    # `dtype` is an enumeration, whose numbers are the same on the wire.
    "TensorProto": (
        *("optional int32 dtype = 1", "optional TensorShapeProto tensor_shape = 2"),
        *("optional int32 version_number = 3", "optional bytes tensor_content = 4"),
        *("repeated int32 half_val = 13", "repeated float float_val = 5"),
        *("repeated double double_val = 6", "repeated int32 int_val = 7"),
        *("repeated bytes string_val = 8", "repeated float scomplex_val = 9"),
        *("repeated int64 int64_val = 10", "repeated bool bool_val = 11"),
        *("repeated double dcomplex_val = 12", "repeated uint32 uint32_val = 16"),
        "repeated uint64 uint64_val = 17",
    ),
    "BundleHeaderProto": ("optional int32 num_shards = 1",),
    # `slices` are messages, of which only the number counts here.
    "BundleEntryProto": (
        *("optional int32 dtype = 1", "optional TensorShapeProto shape = 2"),
        *("optional int32 shard_id = 3", "optional int64 offset = 4", "optional int64 size = 5"),
        *("optional fixed32 crc32c = 6", "repeated bytes slices = 7"),
    ),
}


def _make() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="tensorflow/core/example/example.proto", package="tensorflow", syntax="proto3"
    )
    made: dict[str, Any] = {}
    for name, fields in sorted(_MESSAGES.items()):  # a message before those in it
        outer, _, own = name.rpartition(".")
        made[name] = (made[outer].nested_type if outer else file.message_type).add(name=own)
        for field in fields:
            _add(made[name], name, *field.replace("=", "").split())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)  # type: ignore[attr-defined]
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"tensorflow.{name}"))
        for name in _MESSAGES
    }


def _add(message: Any, owner: str, label: str, kind: str, name: str, number: str) -> None:
    field = message.field.add(name=name, number=int(number), label=_TYPES.LABEL_OPTIONAL)
    if label in ("repeated", "map"):
        field.label = _TYPES.LABEL_REPEATED
    if label.endswith("|"):
        if not message.oneof_decl:
            message.oneof_decl.add(name=label.removesuffix("|"))
        field.oneof_index = 0
    if label == "map":
        entry = f"{name.title().replace('_', '')}Entry"
        inner = message.nested_type.add(name=entry)
        inner.options.map_entry = True
        _add(inner, entry, "optional", "string", "key", "1")
        _add(inner, entry, "optional", kind, "value", "2")
        kind = f"{owner}.{entry}"
    if kind in _KINDS:
        field.type = _KINDS[kind]
    else:
        field.type, field.type_name = _TYPES.TYPE_MESSAGE, f".tensorflow.{kind}"


MESSAGES = _make()
