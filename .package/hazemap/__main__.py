"""`python -m hazemap`: the same as the command `hazemap`."""

from hazemap.cli import main

if __name__ == "__main__":
    main()
