"""Bytes at rest: sources move encoded bytes, the database digests, encodes and checks them."""
