"""Kernel logistic regression over a tree of classes, fitted offline (Seeger, 2006).

M. Seeger, "Cross-Validation Optimization for Large Scale Hierarchical Classification Kernel
Methods", NIPS 19, 2006, pp. 1233-1240. `docs/fit.md` has the model and the command.
"""
