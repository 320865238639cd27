"""The learners: their options, what they have in common, and ensembles of them."""
