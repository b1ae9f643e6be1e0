"""`adaptive`: two rounds of noisy masses and a posterior."""
