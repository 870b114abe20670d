"""Attributes that methods store."""

from google.protobuf import struct_pb2

from frontends.tf.check.stored import attributes, own_attributes


class Base:
    declared: int

    def __init__(self):
        self.first = self.second = 1


class Derived(Base):
    def method(self, other):
        self.third, other.fourth = 1, 2


def test_attributes_of_a_class_and_its_bases():
    assert own_attributes(Derived) == {"third"}
    assert attributes(Derived) == {"declared", "first", "second", "third"}


def test_a_class_without_source_has_none():
    assert attributes(int) == frozenset()


def test_fields_of_a_protocol_buffer():
    assert attributes(struct_pb2.Value) >= {"number_value", "string_value"}
