"""`tf.signal`: Fourier transforms and frames, over `jax.numpy`."""

from frontends.tf._names import attributes, defined_in
from frontends.tf._symbolic import recordable
from frontends.tf.ops import cosines, spectral
from frontends.tf.ops.convert import picked
from frontends.tf.ops.devices import across_devices

_TRANSFORMS = picked(
    spectral,
    *("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d"),
    *("rfft", "irfft", "rfft2d", "irfft2d", "rfft3d", "irfft3d"),
)
_FUNCTIONS = _TRANSFORMS | defined_in(spectral.__name__) | defined_in(cosines.__name__)
__getattr__, __dir__ = attributes(
    "tf.signal",
    recordable("tf.signal", across_devices("tf.signal", _FUNCTIONS)),
)
