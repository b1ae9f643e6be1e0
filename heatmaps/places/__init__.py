"""Names places, and finds the centres of a map's areas."""
