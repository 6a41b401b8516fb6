// Never compiled: its name is taken.
