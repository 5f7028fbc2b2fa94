"""`python -m castore` is `ctx`."""

from castore.cli.app import main

if __name__ == "__main__":
    main()
