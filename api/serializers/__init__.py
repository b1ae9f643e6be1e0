"""What comes in, checked for its shape only, and what goes out; meaning is left to the product."""
