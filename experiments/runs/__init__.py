"""One arm over a set of scenarios, into one folder; other kinds of run are built on this."""
