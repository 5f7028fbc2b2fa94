"""Needles: payloads with one planted fact each, and a fixed agent that has to find it.

They were written by one who had not read how outliers are found or how searching works.
"""
