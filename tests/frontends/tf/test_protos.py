"""Protocol buffers: the bytes that TensorFlow writes, and a pool of their own."""

import subprocess
import sys

import pytest

from frontends import tf
from frontends.tf._protos import MESSAGES

# Written by TensorFlow 2.21, with deterministic=True.
EXAMPLE = "0a380a150a016e12101a0e0a0cffffffffffffffffff01ac020a0c0a017312070a050a01610a000a110a0178120c120a0a080000c03f000000c0"
SEQUENCE = "0a0c0a0a0a016e12051a030a010312110a0f0a0178120a0a0812060a040000803f"


def test_an_example_has_the_bytes_of_tensorflow():
    train = tf.train
    feature = {
        "x": train.Feature(float_list=train.FloatList(value=[1.5, -2])),
        "n": train.Feature(int64_list=train.Int64List(value=[-1, 300])),
        "s": train.Feature(bytes_list=train.BytesList(value=[b"a", b""])),
    }
    example = train.Example(features=train.Features(feature=feature))
    assert example.SerializeToString(deterministic=True).hex() == EXAMPLE
    read = train.Example.FromString(bytes.fromhex(EXAMPLE))
    assert read == example
    assert list(read.features.feature["n"].int64_list.value) == [-1, 300]


def test_a_sequence_example_has_the_bytes_of_tensorflow():
    train = tf.train
    one = train.Feature(float_list=train.FloatList(value=[1.0]))
    example = train.SequenceExample(
        context=train.Features(feature={"n": train.Feature(int64_list=train.Int64List(value=[3]))}),
        feature_lists=train.FeatureLists(feature_list={"x": train.FeatureList(feature=[one])}),
    )
    assert example.SerializeToString(deterministic=True).hex() == SEQUENCE
    assert train.SequenceExample.FromString(bytes.fromhex(SEQUENCE)) == example


def test_one_kind_of_list_is_set():
    feature = MESSAGES["Feature"]()
    feature.float_list.value.append(1.0)
    feature.int64_list.value.append(2)
    assert feature.WhichOneof("kind") == "int64_list"


@pytest.mark.parametrize("name", ["Example", "TensorProto", "Features"])
def test_names_are_those_of_tensorflow(name):
    assert MESSAGES[name].DESCRIPTOR.full_name == f"tensorflow.{name}"


def test_the_same_names_may_be_in_the_pool_of_the_process():
    """As TensorFlow's are, in a process that imports both."""
    script = """
from frontends.tf._protos import MESSAGES
from google.protobuf import descriptor_pb2, descriptor_pool
file = descriptor_pb2.FileDescriptorProto()
MESSAGES["Example"].DESCRIPTOR.file.CopyToProto(file)
descriptor_pool.Default().AddSerializedFile(file.SerializeToString())
assert descriptor_pool.Default().FindMessageTypeByName("tensorflow.Example")
print(MESSAGES["Example"].DESCRIPTOR.full_name)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "tensorflow.Example", done.stderr
