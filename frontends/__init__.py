"""Front ends: other libraries' names over the engine `spmd`.

`from frontends import tf` gives TensorFlow's. A front end is thin: it translates names, arguments and
errors, and leaves the work to the engine.
"""

from frontends import _importing

__getattr__ = _importing.front_end
