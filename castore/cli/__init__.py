"""The command line: thin. A command parses, makes one call below, and prints.

Only this layer reads the environment, the current folder and the terminal, and only `app.main` turns an
error into text and an exit code.
"""
