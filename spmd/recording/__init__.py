"""Operations recorded as they run, for gradients after the fact."""

from spmd.recording.recording import Recording as Recording
from spmd.recording.recording import RowGradient as RowGradient
from spmd.recording.recording import added as added
