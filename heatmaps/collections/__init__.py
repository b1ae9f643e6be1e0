"""Collections: rounds in which people's devices send reports that were blurred before they left."""
