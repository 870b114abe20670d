"""Options of `tf.saved_model.save` and `load`, which place files and variables of a cluster."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class SaveOptions:
    """How a model is saved. All are accepted, so that scripts run; there is one way of saving.

    Attributes:
        namespace_whitelist: accepted.
        save_debug_info: accepted.
        function_aliases: accepted.
        experimental_debug_stripper: accepted.
        experimental_io_device: accepted; the process that calls writes.
        experimental_variable_policy: accepted; each variable is saved once.
        experimental_custom_gradients: accepted; only predictions are saved.

    Source: `tf.saved_model.SaveOptions`.
    """

    namespace_whitelist: Any = None
    save_debug_info: bool = False
    function_aliases: Any = None
    experimental_debug_stripper: bool = False
    experimental_io_device: str | None = None
    experimental_variable_policy: Any = None
    experimental_custom_gradients: bool = True


@dataclasses.dataclass(frozen=True)
class LoadOptions:
    """How a model is loaded. All are accepted, so that scripts run; there is one way of loading.

    Attributes:
        allow_partial_checkpoint: accepted; all variables are loaded.
        experimental_io_device: accepted; the process that calls reads.
        experimental_skip_checkpoint: accepted.
        experimental_variable_policy: accepted.
        experimental_load_function_aliases: accepted.

    Source: `tf.saved_model.LoadOptions`.
    """

    allow_partial_checkpoint: bool = False
    experimental_io_device: str | None = None
    experimental_skip_checkpoint: bool = False
    experimental_variable_policy: Any = None
    experimental_load_function_aliases: bool = False
