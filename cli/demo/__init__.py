"""The demonstration: a novel that ships with the service, and predicting its words."""
