"""`tf.tpu.experimental.embedding.TPUEmbeddingForServing`: tables that are looked up, and trained as any variable is."""

from typing import Any

from frontends.tf import nest
from frontends.tf._typing import Nested, VariableLike
from frontends.tf.distribute import TPUStrategy, get_strategy
from frontends.tf.tpu.experimental.embedding.configs import TableConfig
from frontends.tf.tpu.experimental.embedding.lookup import serving_embedding_lookup
from frontends.tf.tpu.experimental.embedding.optimizers import Optimizer
from frontends.tf.variable import Variable
from spmd.checkpoint import View, register_view
from spmd.state import Searched


class TPUEmbeddingForServing(Searched):
    """The tables of features, with the variables that their optimizers have beside them.

    What differs here: a `tf.train.Checkpoint` makes the tables when it gets the object. See `serving_embedding_lookup` for
    features in steps.

    Source: `tf.tpu.experimental.embedding.TPUEmbeddingForServing`.
    """

    def __init__(
        self,
        feature_config: Nested,
        optimizer: Optimizer | None,
        experimental_sparsecore_restore_info: dict[str, Any] | None = None,
    ) -> None:
        """Reads the configuration; the tables are made when they are first used, or by `build`.

        Args:
            feature_config: a structure of `FeatureConfig`s.
            optimizer: of tables that have none; None makes no variables beside the tables.
            experimental_sparsecore_restore_info: accepted.

        Raises:
            RuntimeError: a `tf.distribute.TPUStrategy` is in scope.
            ValueError: two tables have one name, or an optimizer is of another class.
        """
        if isinstance(get_strategy(), TPUStrategy):
            raise RuntimeError(
                "Serving on TPU is not yet supported. Make it outside of strategy.scope(); for a table in a TPU's memory, "
                "use tf.keras.layers.Embedding(vocabulary_size, dimension)."
            )
        self._feature_config = feature_config
        self._table_configs: list[TableConfig] = list(
            dict.fromkeys(feature.table for feature in nest.flatten(feature_config))
        )
        self._tables: dict[str, dict[str, VariableLike]] = {}
        names: set[str] = set()
        for number, table in enumerate(self._table_configs):
            table.optimizer = table.optimizer or optimizer
            if table.optimizer is not None and not isinstance(table.optimizer, Optimizer):
                raise ValueError(
                    f"{type(table.optimizer)} is an unsupported optimizer class. Please pass an instance of one of the "
                    "optimizer classes under tf.tpu.experimental.embedding."
                )
            table.name = table.name or f"table_{number}"
            if table.name in names:
                raise ValueError(
                    f"Tables must have a unique name. Multiple tables with name {table.name} found."
                )
            names.add(table.name)

    @property
    def embedding_tables(self) -> dict[TableConfig, Any]:
        """The variables of the tables, by configuration."""
        self.build()
        return {
            table: self._tables[table.name or ""]["parameters"] for table in self._table_configs
        }

    @property
    def variables(self) -> dict[str, dict[str, Any]]:
        """The variables by the name of the table: `"parameters"`, and what its optimizer has beside it."""
        self.build()
        return self._tables

    def build(self) -> None:
        """Makes the variables, unless that is done."""
        if not self._tables:
            self._tables = {table.name or "": _variables_of(table) for table in self._table_configs}

    def embedding_lookup(self, features: Nested, weights: Nested | None = None) -> Any:
        """Looks features up; see `serving_embedding_lookup`.

        Args:
            features: in the structure of the configuration, or a part of it.
            weights: of their ids; see there.
        """
        return serving_embedding_lookup(
            features, weights, self.embedding_tables, self._feature_config
        )

    def __call__(self, features: Nested, weights: Nested | None = None) -> Any:
        """Looks features up; see `embedding_lookup`."""
        return self.embedding_lookup(features, weights)


def _variables_of(table: TableConfig) -> dict[str, Any]:
    shape = (table.vocabulary_size, table.dim)
    parameters = Variable(table.initializer(shape, dtype="float32"), name=table.name)

    def create(name: str, initializer: Any) -> Any:
        value = initializer(shape, dtype="float32")
        return Variable(value, trainable=False, name=f"{table.name}/{name}")

    optimizer = table.optimizer
    slots = {} if optimizer is None else optimizer.create_slots(parameters, create)
    return slots | {"parameters": parameters}


def _view_of(embedding: TPUEmbeddingForServing) -> View:
    # By the names that TensorFlow's checkpoints have.
    parts = {
        name if part == "parameters" else f"{name}/{part}": variable
        for name, variables in embedding.variables.items()
        for part, variable in variables.items()
    }
    return View(embedding, "node", parts)


register_view(TPUEmbeddingForServing, _view_of)
