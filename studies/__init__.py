"""Studies of the learners: the papers' experiments and comparisons with other programs.

They belong to the checkout, not to the package. `python -m studies` lists them.
"""
