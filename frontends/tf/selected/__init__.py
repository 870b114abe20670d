"""Arrays of which a program takes as many entries as only the running program knows: `tf.boolean_mask` in a step.

Programs have arrays of fixed shapes. So a *selected* array keeps all entries in place, and beside them, for each axis that a
mask chose from, which entries the mask took: its *selection*. Functions compute on all of them, and reductions leave out
those that were not taken. Before each operation whose derivative may be infinite, a constant replaces what was not taken, so that
it gives neither infinity nor NaN, and no gradient comes to it.
"""

from frontends.tf.selected.dispatch import on_selected as on_selected
from frontends.tf.selected.making import coordinates as coordinates
from frontends.tf.selected.making import masked as masked
from frontends.tf.selected.making import takes_masks as takes_masks
from frontends.tf.selected.selected import Selected as Selected
from frontends.tf.selected.selected import is_selected as is_selected
from frontends.tf.selected.selected import traced as traced
from frontends.tf.selected.selected import weights_of_entries as weights_of_entries
from frontends.tf.selected.selection import SelectionError as SelectionError
from frontends.tf.selected.sizes import SelectedShape as SelectedShape
from frontends.tf.selected.sizes import common_shape as common_shape
