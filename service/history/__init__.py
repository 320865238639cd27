"""The history of events: kept behind the log, listed, corrected, and learned again."""
