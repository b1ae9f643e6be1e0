"""Provides mechanisms that blur one report on the person's own device: nobody has to be trusted."""
