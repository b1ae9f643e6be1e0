"""Plans rounds: what each device is told, what its reports promise, what their messages say together."""
