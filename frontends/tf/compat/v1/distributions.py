"""`tf.compat.v1.distributions`: the distributions that model functions used most."""

import abc
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf import random
from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.dtypes import jax_dtype
from frontends.tf.ops.convert import convert_to_tensor
from frontends.tf.ops.nn import sigmoid_cross_entropy_with_logits
from frontends.tf.tensor_shape import TensorShape


class Distribution(abc.ABC):
    """One distribution, or a batch of them.

    Attributes:
        batch_shape: of the parameters.
        dtype: of samples.

    Source: `tf.compat.v1.distributions.Distribution`.
    """

    def __init__(self, batch_shape: tuple[int, ...], dtype: Any) -> None:
        """Keeps what all have."""
        self._sizes = batch_shape
        self.batch_shape, self.dtype = TensorShape(batch_shape), jnp.dtype(dtype)

    @abc.abstractmethod
    def log_prob(self, value: TensorLike, name: str = "log_prob") -> jax.Array:
        """Computes the logarithm of the density, or of the probability, of values."""

    @abc.abstractmethod
    def mean(self, name: str = "mean") -> jax.Array:
        """Computes the mean."""

    @abc.abstractmethod
    def variance(self, name: str = "variance") -> jax.Array:
        """Computes the variance."""

    @abc.abstractmethod
    def mode(self, name: str = "mode") -> jax.Array:
        """Finds the value that is the most likely."""

    @abc.abstractmethod
    def entropy(self, name: str = "entropy") -> jax.Array:
        """Computes the entropy, in nats."""

    @abc.abstractmethod
    def kl_divergence(self, other: Any, name: str = "kl_divergence") -> jax.Array:
        """Computes the divergence of Kullback and Leibler from another one of the same kind."""

    @abc.abstractmethod
    def _draw(self, shape: tuple[int, ...], seed: int | None) -> jax.Array:
        """Draws samples of a shape that ends with that of the batch."""

    def sample(
        self, sample_shape: ShapeLike = (), seed: int | None = None, name: str = "sample"
    ) -> jax.Array:
        """Draws samples.

        Args:
            sample_shape: how many of each distribution: a number, or a shape.
            seed: of this operation.

        Returns:
            Of the shape `sample_shape` and `batch_shape`.
        """
        sizes = tuple(int(size) for size in np.atleast_1d(np.asarray(sample_shape, np.int64)))
        return self._draw((*sizes, *self._sizes), seed).astype(self.dtype)

    def prob(self, value: TensorLike, name: str = "prob") -> jax.Array:
        """Computes the density, or the probability, of values."""
        return jnp.exp(self.log_prob(value))

    def stddev(self, name: str = "stddev") -> jax.Array:
        """Computes the standard deviation."""
        return jnp.sqrt(self.variance())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> jax.Array:
        """Returns the shape of the parameters as an array."""
        return jnp.asarray(self._sizes, jnp.int32)


class Normal(Distribution):
    """The normal distribution.

    Attributes:
        loc: the mean.
        scale: the standard deviation.

    Examples:
        >>> round(float(Normal(1.0, 2.0).log_prob(1.0)), 4)
        -1.6121

    Source: `tf.compat.v1.distributions.Normal`.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        """Describes it.

        Args:
            loc: means.
            scale: standard deviations, of a shape that broadcasts with them.
            validate_args: accepted, and not used.
            allow_nan_stats: accepted, and not used.
        """
        self.loc, self.scale = convert_to_tensor(loc), convert_to_tensor(scale)
        self._loc, self._scale = jnp.broadcast_arrays(self.loc, self.scale)
        super().__init__(self._loc.shape, self._loc.dtype)

    def _draw(self, shape: tuple[int, ...], seed: int | None) -> jax.Array:
        return self.loc + self.scale * random.normal(shape, seed=seed)

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> jax.Array:
        """See `Distribution`."""
        return jax.scipy.stats.norm.logpdf(convert_to_tensor(value), self.loc, self.scale)

    def cdf(self, value: TensorLike, name: str = "cdf") -> jax.Array:
        """Computes how likely values below are."""
        return jax.scipy.stats.norm.cdf(convert_to_tensor(value), self.loc, self.scale)

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> jax.Array:
        """Computes the logarithm of `cdf`."""
        return jax.scipy.stats.norm.logcdf(convert_to_tensor(value), self.loc, self.scale)

    def mean(self, name: str = "mean") -> jax.Array:
        """See `Distribution`."""
        return self._loc

    def variance(self, name: str = "variance") -> jax.Array:
        """See `Distribution`."""
        return jnp.square(self._scale)

    def mode(self, name: str = "mode") -> jax.Array:
        """See `Distribution`."""
        return self._loc

    def entropy(self, name: str = "entropy") -> jax.Array:
        """See `Distribution`."""
        return 0.5 + 0.5 * jnp.log(2 * jnp.pi) + jnp.log(self._scale)

    def kl_divergence(self, other: "Normal", name: str = "kl_divergence") -> jax.Array:
        """See `Distribution`."""
        ratio = jnp.square(self.scale / other.scale)
        distance = jnp.square((self.loc - other.loc) / other.scale)
        return 0.5 * (distance + ratio - 1 - jnp.log(ratio))


class Bernoulli(Distribution):
    """1 with some probability, and else 0.

    Attributes:
        logits: of the probability.
        probs: the probability.

    Source: `tf.compat.v1.distributions.Bernoulli`.
    """

    def __init__(
        self,
        logits: TensorLike = None,
        probs: TensorLike = None,
        dtype: DTypeLike = "int32",
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        """Describes it by one of the first two.

        Args:
            logits: of the probabilities of 1.
            probs: the probabilities.
            dtype: of samples.
            validate_args: accepted, and not used.
            allow_nan_stats: accepted, and not used.

        Raises:
            ValueError: both, or neither, are given.
        """
        _require_one("Bernoulli", logits, probs)
        if probs is None:
            self.logits = convert_to_tensor(logits)
            self.probs = jax.nn.sigmoid(self.logits)
        else:
            self.probs = convert_to_tensor(probs)
            self.logits = jnp.log(self.probs) - jnp.log1p(-self.probs)
        super().__init__(self.probs.shape, jax_dtype(dtype))

    def _draw(self, shape: tuple[int, ...], seed: int | None) -> jax.Array:
        return random.uniform(shape, seed=seed) < self.probs

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> jax.Array:
        """See `Distribution`."""
        values = jnp.asarray(convert_to_tensor(value), self.logits.dtype)
        labels, logits = jnp.broadcast_arrays(values, self.logits)
        return -sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    def mean(self, name: str = "mean") -> jax.Array:
        """See `Distribution`."""
        return self.probs

    def variance(self, name: str = "variance") -> jax.Array:
        """See `Distribution`."""
        return self.probs * (1 - self.probs)

    def mode(self, name: str = "mode") -> jax.Array:
        """See `Distribution`."""
        return (self.probs > 0.5).astype(self.dtype)

    def entropy(self, name: str = "entropy") -> jax.Array:
        """See `Distribution`."""
        # With softplus, there is no logarithm of 0.
        return jax.nn.softplus(self.logits) - self.logits * self.probs

    def kl_divergence(self, other: "Bernoulli", name: str = "kl_divergence") -> jax.Array:
        """See `Distribution`."""
        one = jax.nn.softplus(-other.logits) - jax.nn.softplus(-self.logits)
        zero = jax.nn.softplus(other.logits) - jax.nn.softplus(self.logits)
        return self.probs * one + (1 - self.probs) * zero


class Categorical(Distribution):
    """A number below that of the classes, each with its own probability.

    Attributes:
        logits: unnormalized logarithms of the probabilities, `[..., classes]`.
        probs: the probabilities.

    Source: `tf.compat.v1.distributions.Categorical`.
    """

    def __init__(
        self,
        logits: TensorLike = None,
        probs: TensorLike = None,
        dtype: DTypeLike = "int32",
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        """Describes it by one of the first two.

        Args:
            logits: unnormalized logarithms of the probabilities.
            probs: the probabilities.
            dtype: of samples.
            validate_args: accepted, and not used.
            allow_nan_stats: accepted, and not used.

        Raises:
            ValueError: both, or neither, are given.
        """
        _require_one("Categorical", logits, probs)
        if probs is None:
            self.logits = convert_to_tensor(logits)
            self.probs = jax.nn.softmax(self.logits)
        else:
            self.probs = convert_to_tensor(probs)
            self.logits = jnp.log(self.probs)
        super().__init__(self.probs.shape[:-1], jax_dtype(dtype))

    @property
    def event_size(self) -> int:
        """The number of classes."""
        return self.probs.shape[-1]

    def _draw(self, shape: tuple[int, ...], seed: int | None) -> jax.Array:
        batch = self.logits.reshape(-1, self.event_size)
        count = int(np.prod(shape, dtype=np.int64)) // max(len(batch), 1)
        drawn = random.categorical(batch, count, seed=seed)  # [batch, count]
        return drawn.T.reshape(shape)

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> jax.Array:
        """See `Distribution`."""
        classes = convert_to_tensor(value).astype(jnp.int32)
        shape = jnp.broadcast_shapes(classes.shape, self._sizes)
        logs = jnp.broadcast_to(self._log_probs(), (*shape, self.event_size))
        chosen = jnp.broadcast_to(classes, shape)[..., None]
        return jnp.take_along_axis(logs, chosen, axis=-1)[..., 0]

    def _log_probs(self) -> jax.Array:
        return jax.nn.log_softmax(self.logits)

    def mean(self, name: str = "mean") -> jax.Array:
        """Raises an error: the mean of classes means nothing.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "Classes have no mean. Take probs, or mode(), the most likely class."
        )

    def variance(self, name: str = "variance") -> jax.Array:
        """Raises an error; see `mean`.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("Classes have no variance. Take probs, or entropy().")

    def mode(self, name: str = "mode") -> jax.Array:
        """See `Distribution`."""
        return jnp.argmax(self.logits, axis=-1).astype(self.dtype)

    def entropy(self, name: str = "entropy") -> jax.Array:
        """See `Distribution`."""
        return -_weighted(self.probs, self._log_probs())

    def kl_divergence(self, other: "Categorical", name: str = "kl_divergence") -> jax.Array:
        """See `Distribution`."""
        return _weighted(self.probs, self._log_probs() - other._log_probs())


def kl_divergence(
    distribution_a: Distribution,
    distribution_b: Distribution,
    allow_nan_stats: bool = True,
    name: str | None = None,
) -> jax.Array:
    """Computes the divergence of Kullback and Leibler of two distributions of one kind.

    Args:
        distribution_a: the first one, which the mean is over.
        distribution_b: the second one.
        allow_nan_stats: accepted, and not used.

    Raises:
        NotImplementedError: they are of different kinds.

    Source: `tf.compat.v1.distributions.kl_divergence`.
    """
    first, second = type(distribution_a), type(distribution_b)
    if first is not second:
        raise NotImplementedError(
            f"No KL(distribution_a || distribution_b) of a {first.__name__} and a {second.__name__}. Give two of one kind."
        )
    return distribution_a.kl_divergence(distribution_b)


def _weighted(probabilities: jax.Array, values: jax.Array) -> jax.Array:
    """Adds up values by their probabilities; those of impossible ones may be infinite."""
    return jnp.sum(jnp.where(probabilities > 0, probabilities * values, 0), axis=-1)


def _require_one(caller: str, logits: object, probs: object) -> None:
    if (logits is None) == (probs is None):
        raise ValueError(f"{caller}: Must pass probs or logits, but not both.")


__getattr__, __dir__ = attributes("tf.compat.v1.distributions", defined_in(__name__))
