"""Makes the arrays of frozen values read-only."""

import numpy as np


def freeze(owner: object, **dtypes: type) -> None:
    """Replaces arrays by read-only views of them (the caller's own arrays stay as they are)."""
    sizes = set()
    for name, dtype in dtypes.items():
        array = getattr(owner, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            raise ValueError(f"{name} must be a one-dimensional {np.dtype(dtype)} array")
        view = array.view()
        view.flags.writeable = False
        object.__setattr__(owner, name, view)
        sizes.add(array.size)
    if len(sizes) > 1:
        raise ValueError(f"{', '.join(dtypes)} must have the same length")
