"""Files and folders by path: on file systems of this machine, and by URL in object stores, through fsspec."""

from spmd.files.at_exit import before_threads_end as before_threads_end
from spmd.files.errors import MissingPackageError as MissingPackageError
from spmd.files.errors import StoreError as StoreError
from spmd.files.local import read_here as read_here
from spmd.files.local import written_here as written_here
from spmd.files.paths import matching as matching
from spmd.files.paths import path_of as path_of
from spmd.files.paths import reads as reads
from spmd.files.store_path import StorePath as StorePath
from spmd.files.urls import absolute as absolute
from spmd.files.urls import is_url as is_url
from spmd.files.urls import plain as plain
