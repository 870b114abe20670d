"""What `get_concrete_function` gives: a `tf.function` for one signature."""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from frontends.tf import nest
from frontends.tf._typing import Nested
from frontends.tf.call_forms import Call, CallForms
from frontends.tf.data.spec import TensorSpec
from frontends.tf.distribute.values import PerReplicaSpec
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import is_tensor
from frontends.tf.ragged.ragged_tensor import RaggedTensor
from frontends.tf.ragged.spec import RaggedTensorSpec
from frontends.tf.sparse.sparse_tensor import SparseTensor
from frontends.tf.sparse.spec import SparseTensorSpec
from frontends.tf.spec_fitting import HOST_SPECS, SPECS, Declaration, leaves_of
from spmd.input import abstract_batch
from spmd.replica import PerReplica
from spmd.step import Compiled, Lowered, Traced

if TYPE_CHECKING:
    from jax.extend.core import Jaxpr
    from jax.sharding import Mesh

    from spmd.proof import Collective


class ConcreteFunction:
    """A function for arguments of declared shapes and dtypes, and with Python values that are fixed.

    If all sizes are declared, it is one program, which can be looked at. A size that is None may be any, and each
    that comes has a program of its own.

    Examples:
        >>> from frontends import tf
        >>> @tf.function
        ... def power(x, exponent):
        ...     return x**exponent
        >>> cube = power.get_concrete_function(tf.TensorSpec([None], tf.float32), 3)
        >>> cube(tf.constant([1.0, 2.0])).tolist()
        [1.0, 8.0]
        >>> cube.structured_input_signature
        ((TensorSpec(shape=(None,), dtype=float32, name='x'), 3), {})

    Source: `tf.types.experimental.ConcreteFunction`.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        name: str,
        forms: CallForms,
        signature: Call,
        lower: Callable[[], Lowered] | None,
    ) -> None:
        """Makes it; `tf.function(f).get_concrete_function(...)` does.

        Args:
            call: the function for any signature.
            name: of the function.
            forms: of its calls.
            signature: positional and keyword arguments, with specs for tensors.
            lower: makes the program; None if sizes are not known.
        """
        self.__wrapped__ = self._call = call  # the engine looks there for what the function reaches
        self.__name__ = name
        self._forms = forms
        self._name = name
        self._declaration = Declaration(name, "this concrete function")
        self._expected = self._named(*signature)
        self._signature = signature
        self._lower = lower
        self._program = None if lower is None else lower()

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._name

    @property
    def structured_input_signature(self) -> Call:
        """The arguments, positional ones and those by name: specs for tensors, and what else there is."""
        args, kwargs = self._signature
        names = list(self._expected) if self._forms.signature is not None else []
        named = [*names, *[""] * len(args)]
        shown = tuple(_with_name(spec, name) for spec, name in zip(args, named, strict=False))
        return shown, {name: _with_name(spec, name) for name, spec in kwargs.items()}

    @property
    def inputs(self) -> list[Any]:
        """The specs of the tensors among the arguments, in order."""
        return [spec for spec in leaves_of(self._signature) if isinstance(spec, SPECS)]

    @property
    def structured_outputs(self) -> Nested:
        """The specs of the result, in its structure; of a per-replica value, those of one replica."""
        return jax.tree.map(lambda one: TensorSpec(one.shape, one.dtype), self._known.out_info)

    @property
    def outputs(self) -> list[Any]:
        """The specs of the tensors of the result, in order."""
        return jax.tree.leaves(self.structured_outputs)

    @property
    def graph(self) -> Any:
        """Raises an error: there is no graph of TensorFlow.

        Raises:
            AttributeError: always; it says where to look.

        Source: `tf.types.experimental.ConcreteFunction.graph`.
        """
        raise AttributeError(
            f"{self!r} has no graph of TensorFlow: it is a program of JAX. Look at its operations in .jaxpr, at StableHLO in "
            '.as_text(), and at .cost["flops"] for a count of floating-point operations.'
        )

    @property
    def jaxpr(self) -> "Jaxpr":
        """The program of one replica."""
        return self._known.jaxpr

    @property
    def collectives(self) -> "list[Collective]":
        """The collectives of the function as it was written, with the bytes that travel."""
        return self._known.collectives

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the variables that the program reads or writes."""
        return self._known.state_names

    @property
    def traced(self) -> Traced:
        """The program as it was traced."""
        return self._known.traced

    @property
    def stablehlo(self) -> str:
        """The program before XLA's optimisations."""
        return self._known.stablehlo

    @property
    def hlo(self) -> str:
        """The program that XLA made; compiles it if need be."""
        return self._known.hlo

    @property
    def memory(self) -> Any:
        """Bytes of arguments, results, temporaries and code on one device; compiles if need be."""
        return self._known.memory

    @property
    def cost(self) -> dict[str, float]:
        """XLA's estimate of work: `"flops"`, `"bytes accessed"`; compiles if need be."""
        return self._known.cost

    def as_text(self) -> str:
        """Returns the program as StableHLO."""
        return self._known.as_text()

    def compile(self) -> Compiled:
        """Compiles the program; blocks until XLA has."""
        return self._known.compile()

    def __call__(self, *args: Nested, **kwargs: Nested) -> Any:
        """Calls the function.

        Args:
            *args: as the function takes them, or the tensors alone, in order; Python values that were given
                to `get_concrete_function` may be left out.
            **kwargs: likewise.

        Raises:
            TypeError: a tensor is missing, or does not fit; or a Python value is another.
        """
        try:
            args, kwargs = self._bind(args, kwargs)
        except TypeError as error:
            flat = None
            if not kwargs and len(args) == len(self.inputs):
                with contextlib.suppress(TypeError):
                    flat = self._flat(args)
            if flat is None:
                raise error from None
            args, kwargs = flat
        return self._call(*args, **kwargs)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={spec!r}" for name, spec in self._expected.items())
        return f"<ConcreteFunction {self._name}({shown})>"

    @property
    def _known(self) -> Lowered:
        if self._program is None:
            if is_of_host(self._signature):
                raise ValueError(
                    f"{self!r} takes what is on the host, so it runs as Python: there is no program to look at."
                )
            raise ValueError(
                f"{self!r} has sizes that are not declared, so it is a program for each size that comes, and there is "
                "none to look at. Declare all: get_concrete_function(tf.TensorSpec([32, 10], tf.float32))."
            )
        return self._program

    def _named(self, args: tuple[Nested, ...], kwargs: Mapping[str, Nested]) -> dict[str, Nested]:
        """Gives arguments the names of their parameters, or of their positions."""
        if self._forms.signature is None:
            return {**{str(index): value for index, value in enumerate(args)}, **kwargs}
        return dict(self._forms.signature.bind_partial(*args, **kwargs).arguments)

    def _bind(self, args: tuple[Nested, ...], kwargs: Mapping[str, Nested]) -> Call:
        given = self._named(args, kwargs)
        unknown = sorted(given.keys() - self._expected.keys())
        if unknown:
            raise TypeError(f"{self!r} was made without the argument {unknown[0]!r}. Leave it out.")
        bound: dict[str, Nested] = {}
        for name, spec in self._expected.items():
            if name in given:
                bound[name] = self._declaration.fit(spec, given[name], name)
            elif any(isinstance(one, SPECS) for one in leaves_of(spec)):
                raise TypeError(
                    f"{self!r} was called without its argument {name!r}. Pass a tensor for it: {name}={spec!r}."
                )
            else:
                bound[name] = spec
        if self._forms.signature is None:
            count = len(self._signature[0])
            values = list(bound.values())
            return tuple(values[:count]), dict(list(bound.items())[count:])
        arguments = self._forms.signature.bind_partial()
        arguments.arguments = bound
        return arguments.args, arguments.kwargs

    def _flat(self, tensors: tuple[Nested, ...]) -> Call:
        """Takes the tensors alone, in the order of the arguments."""
        left = iter(tensors)

        def fill(tree: Nested, path: str) -> Nested:
            if nest.is_nested(tree):
                children = tree.items() if isinstance(tree, Mapping) else enumerate(tree)
                return nest.rebuilt(tree, [fill(one, f"{path}[{key!r}]") for key, one in children])
            return (
                self._declaration.fit(tree, next(left), path) if isinstance(tree, SPECS) else tree
            )

        args, kwargs = self._signature
        return fill(args, "args"), fill(kwargs, "kwargs")


def specs_of(tree: Nested) -> Nested:
    """Describes arguments: a spec for each tensor, and what else there is as it is."""
    if nest.is_nested(tree):
        return nest.rebuilt(tree, map(specs_of, _children(tree)))
    if isinstance(tree, PerReplica):
        return PerReplicaSpec((TensorSpec(tree.block_shape, tree.dtype),) * tree.num_replicas)
    if isinstance(tree, (np.ndarray, np.generic)) or (
        isinstance(tree, jax.Array) and is_tensor(tree)
    ):
        return TensorSpec(tree.shape, tree.dtype)
    if isinstance(tree, RaggedTensor):
        return RaggedTensorSpec.from_value(tree)
    return SparseTensorSpec.from_value(tree) if isinstance(tree, SparseTensor) else tree


def has_all_sizes(tree: Nested) -> bool:
    """Tells whether the shapes of all specs are known."""
    return all(
        spec.shape is not None and None not in spec.shape
        for leaf in leaves_of(tree)
        for spec in (leaf.value_specs if isinstance(leaf, PerReplicaSpec) else (leaf,))
        if isinstance(spec, TensorSpec)
    )


def is_of_host(tree: Nested) -> bool:
    """Tells whether one of the specs is of texts, ragged or sparse tensors, which no program takes."""
    return any(
        isinstance(leaf, HOST_SPECS) or (isinstance(leaf, TensorSpec) and leaf.dtype.kind in "OSU")
        for leaf in leaves_of(tree)
    )


def abstract_arguments(tree: Nested, mesh: "Mesh") -> Nested:
    """Describes arguments to the engine: each tensor by its shape and dtype.

    Args:
        tree: arguments, with specs whose sizes are all known.
        mesh: where the function runs.

    Returns:
        The arguments, without specs.
    """
    if isinstance(tree, tuple) and tree and all(isinstance(one, PerReplicaSpec) for one in tree):
        # The parts of one batch: they have their rows in common.
        return abstract_batch(tuple(map(_global, tree)), mesh)
    if nest.is_nested(tree):
        return nest.rebuilt(tree, [abstract_arguments(one, mesh) for one in _children(tree)])
    if isinstance(tree, PerReplicaSpec):
        return abstract_batch(_global(tree), mesh)
    if isinstance(tree, TensorSpec) and tree.dtype.kind not in "OSU":
        return jax.ShapeDtypeStruct(tree.shape, jax_dtype(tree.dtype))
    return tree


def _children(tree: Nested) -> Iterable[Nested]:
    return tree.values() if isinstance(tree, Mapping) else tree


def _global(spec: PerReplicaSpec) -> jax.ShapeDtypeStruct:
    rows = sum(one.shape[0] for one in spec.value_specs)
    first = spec.value_specs[0]
    return jax.ShapeDtypeStruct((rows, *first.shape[1:]), jax_dtype(first.dtype))


def _with_name(spec: Nested, name: str) -> Nested:
    if isinstance(spec, TensorSpec):
        return TensorSpec(spec.shape, spec.dtype, spec.name or name or None)
    return spec
