"""Bucket: keys and bytes in object storage, with one manner of errors. BucketSource: its objects.

Laws:
- What `put`, `create` and `replace` wrote is durable when they return, and is there whole or not at all.
- Of two that `create` one key, or `replace` the same state of it, one is told True and the other False.
- What fails is tried again with backoff, for a bounded time; then it is a RemoteError, which names the remote
  and never a credential. A False after a try whose answer was lost may be of our own doing: whoever needs to
  know reads again.
"""
