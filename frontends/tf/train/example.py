"""`tf.train.Example` and what it is made of: records of named lists of numbers and texts.

They are classes of the `protobuf` package, with its methods: `SerializeToString`, `FromString`, `ParseFromString`,
`MergeFromString`, `CopyFrom`, `HasField` and `WhichOneof`.

    example = tf.train.Example(
        features=tf.train.Features(
            feature={"label": tf.train.Feature(int64_list=tf.train.Int64List(value=[3]))}
        )
    )
    example.SerializeToString()

Source: `tf.train.Example`, `tf.train.SequenceExample`.
"""

from frontends.tf._protos import MESSAGES

BytesList = MESSAGES["BytesList"]
FloatList = MESSAGES["FloatList"]
Int64List = MESSAGES["Int64List"]
Feature = MESSAGES["Feature"]
Features = MESSAGES["Features"]
FeatureList = MESSAGES["FeatureList"]
FeatureLists = MESSAGES["FeatureLists"]
Example = MESSAGES["Example"]
SequenceExample = MESSAGES["SequenceExample"]
