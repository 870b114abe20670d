"""`tf.linalg`: products, norms and decompositions, over `jax.numpy`, and operators."""

from frontends.tf._names import attributes
from frontends.tf._symbolic import recordable
from frontends.tf.ops.devices import across_devices
from frontends.tf.ops.tables import LINALG

__getattr__, __dir__ = attributes(
    "tf.linalg",
    recordable("tf.linalg", across_devices("tf.linalg", LINALG)),
    borrowed=dict.fromkeys(
        (
            "LinearOperator",
            *(
                f"LinearOperator{kind}"
                for kind in (
                    *("Adjoint", "BlockDiag", "Circulant", "Composition", "Diag", "FullMatrix"),
                    *("Householder", "Identity", "Inversion", "Kronecker", "LowRankUpdate"),
                    *("LowerTriangular", "Permutation", "ScaledIdentity", "Toeplitz", "Zeros"),
                )
            ),
        ),
        "frontends.tf.linear_operators",
    ),
)
