"""One store folder: objects, roots and index together.

folder       the folder itself: made whole or not at all, recognised, its settings
access       what a caller was granted
tombstones   what was purged, and who is told
quota        whether what is to be written fits
transaction  the one write transaction, and what every writer does inside it
replacing    roots that are replaced whole: by compare-and-swap, and what they named is kept for the grace
staging      many files staged at once
batch        objects that become visible together, with their root
queries      what the caller sees: roots, and what they name
remedies     what a remote may bring back, in words for hints
lookup       what a REF means
keeping      forget, remember
scopes       which scopes there are, and what each holds
purging      an object goes although roots name it
reads        notes of what was read or used, and when
life         what becomes of an object
stats        what the store holds
store        Store and StoreHandle, what everybody else uses
"""

from castore.store.access import Access
from castore.store.batch import Batch
from castore.store.stats import StoreStats
from castore.store.store import Store, StoreHandle

__all__ = ["Access", "Batch", "Store", "StoreHandle", "StoreStats"]
