"""`tf.linalg.LinearOperator`: matrices that are known by their structure, and multiplied and solved by it."""

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
