"""One store folder: objects, roots and index together.

folder       the folder itself: made whole or not at all, recognised, its settings
transaction  the one write transaction, and what every writer does inside it
staging      many files staged at once
batch        objects that become visible together, with their root
queries      what roots there are
keeping      tag, forget, remember
store        Store and StoreHandle, what everybody else uses
"""

from castore.store.batch import Batch
from castore.store.store import Store, StoreHandle, StoreStats

__all__ = ["Batch", "Store", "StoreHandle", "StoreStats"]
