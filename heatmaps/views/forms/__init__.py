"""What people type: checked here for its shape, and by the product's own functions for its meaning."""
