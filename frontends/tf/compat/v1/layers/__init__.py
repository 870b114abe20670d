"""`tf.compat.v1.layers`: layers as functions and as classes, with variables by name."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.compat.v1.layers.base import Layer as Layer
from frontends.tf.compat.v1.layers.convolutional import Conv1D as Conv1D
from frontends.tf.compat.v1.layers.convolutional import Conv2D as Conv2D
from frontends.tf.compat.v1.layers.convolutional import Conv2DTranspose as Conv2DTranspose
from frontends.tf.compat.v1.layers.convolutional import Conv3D as Conv3D
from frontends.tf.compat.v1.layers.convolutional import Conv3DTranspose as Conv3DTranspose
from frontends.tf.compat.v1.layers.convolutional import SeparableConv1D as SeparableConv1D
from frontends.tf.compat.v1.layers.convolutional import SeparableConv2D as SeparableConv2D
from frontends.tf.compat.v1.layers.convolutional import conv1d as conv1d
from frontends.tf.compat.v1.layers.convolutional import conv2d as conv2d
from frontends.tf.compat.v1.layers.convolutional import conv2d_transpose as conv2d_transpose
from frontends.tf.compat.v1.layers.convolutional import conv3d as conv3d
from frontends.tf.compat.v1.layers.convolutional import conv3d_transpose as conv3d_transpose
from frontends.tf.compat.v1.layers.convolutional import separable_conv1d as separable_conv1d
from frontends.tf.compat.v1.layers.convolutional import separable_conv2d as separable_conv2d
from frontends.tf.compat.v1.layers.core import Dense as Dense
from frontends.tf.compat.v1.layers.core import Dropout as Dropout
from frontends.tf.compat.v1.layers.core import Flatten as Flatten
from frontends.tf.compat.v1.layers.core import dense as dense
from frontends.tf.compat.v1.layers.core import dropout as dropout
from frontends.tf.compat.v1.layers.core import flatten as flatten
from frontends.tf.compat.v1.layers.input_spec import InputSpec as InputSpec
from frontends.tf.compat.v1.layers.normalization import BatchNormalization as BatchNormalization
from frontends.tf.compat.v1.layers.normalization import batch_normalization as batch_normalization
from frontends.tf.compat.v1.layers.pooling import AveragePooling1D as AveragePooling1D
from frontends.tf.compat.v1.layers.pooling import AveragePooling2D as AveragePooling2D
from frontends.tf.compat.v1.layers.pooling import AveragePooling3D as AveragePooling3D
from frontends.tf.compat.v1.layers.pooling import MaxPooling1D as MaxPooling1D
from frontends.tf.compat.v1.layers.pooling import MaxPooling2D as MaxPooling2D
from frontends.tf.compat.v1.layers.pooling import MaxPooling3D as MaxPooling3D
from frontends.tf.compat.v1.layers.pooling import average_pooling1d as average_pooling1d
from frontends.tf.compat.v1.layers.pooling import average_pooling2d as average_pooling2d
from frontends.tf.compat.v1.layers.pooling import average_pooling3d as average_pooling3d
from frontends.tf.compat.v1.layers.pooling import max_pooling1d as max_pooling1d
from frontends.tf.compat.v1.layers.pooling import max_pooling2d as max_pooling2d
from frontends.tf.compat.v1.layers.pooling import max_pooling3d as max_pooling3d

__getattr__, __dir__ = attributes("tf.compat.v1.layers", exported_by(__name__))
