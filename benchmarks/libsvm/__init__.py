"""The paper's second study: constrained binary classification on LIBSVM data."""
