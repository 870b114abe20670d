"""`tf.linalg.LinearOperator`: matrices that are known by their structure, and multiplied and solved by it.

An operator is a `tf.Module`: it keeps the variables that it is made of, and a tape has their gradients. `tf.matmul`, `tf.linalg.solve`,
`cholesky`, `logdet` and their like take operators, as does `operator @ x`. What a class makes is an operator again where there is
one for it: the inverse of a diagonal one is a diagonal one.

Examples:
    The covariance of correlated values with noise, and how noise moves the log-likelihood of `x`:

    >>> from frontends import tf
    >>> noise = tf.Variable([0.5, 0.5, 1.0])
    >>> diagonal = tf.linalg.LinearOperatorDiag(noise, is_positive_definite=True)
    >>> covariance = tf.linalg.LinearOperatorLowRankUpdate(diagonal, tf.ones([3, 1]))
    >>> x = tf.constant([1.0, 2.0, 3.0])
    >>> with tf.GradientTape() as tape:
    ...     distance = tf.reduce_sum(x * covariance.solvevec(x))
    ...     log_likelihood = -0.5 * (distance + covariance.log_abs_determinant())
    >>> tape.gradient(log_likelihood, noise).numpy().round(2)
    array([-0.17, -0.17,  0.71], dtype=float32)
"""

from frontends.tf.linear_operators.combined import LinearOperatorAdjoint as LinearOperatorAdjoint
from frontends.tf.linear_operators.combined import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
)
from frontends.tf.linear_operators.combined import (
    LinearOperatorComposition as LinearOperatorComposition,
)
from frontends.tf.linear_operators.combined import (
    LinearOperatorInversion as LinearOperatorInversion,
)
from frontends.tf.linear_operators.combined import (
    LinearOperatorKronecker as LinearOperatorKronecker,
)
from frontends.tf.linear_operators.combined import (
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from frontends.tf.linear_operators.dense import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from frontends.tf.linear_operators.dense import (
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from frontends.tf.linear_operators.diagonal import LinearOperatorDiag as LinearOperatorDiag
from frontends.tf.linear_operators.diagonal import LinearOperatorIdentity as LinearOperatorIdentity
from frontends.tf.linear_operators.diagonal import (
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from frontends.tf.linear_operators.diagonal import LinearOperatorZeros as LinearOperatorZeros
from frontends.tf.linear_operators.operator import LinearOperator as LinearOperator
from frontends.tf.linear_operators.structured import (
    LinearOperatorCirculant as LinearOperatorCirculant,
)
from frontends.tf.linear_operators.structured import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
)
from frontends.tf.linear_operators.structured import (
    LinearOperatorPermutation as LinearOperatorPermutation,
)
from frontends.tf.linear_operators.structured import (
    LinearOperatorToeplitz as LinearOperatorToeplitz,
)
