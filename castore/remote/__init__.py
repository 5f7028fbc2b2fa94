"""remote: a bucket that stores push to and pull from, and bundles. Only this package knows object storage.

The way through it: `remotes` (which there are) -> `connecting` (to a server) -> `bucket` (keys and bytes) ->
`push`, `pull`, `gc`. What lies in a bucket, and why no race loses anything, is in docs/sharing-reference.md.
"""
