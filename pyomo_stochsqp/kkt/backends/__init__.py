"""The back ends of KKT systems, one library in a file.

eliminated    systems in which d has been eliminated, as the next two do
dense         a triangular factor of the Schur complement (LAPACK)
schur         a sparse factorisation of J H^-1 J'
augmented     a sparse factorisation of the whole matrix
ldl           ... by qdldl
superlu       ... by SciPy's SuperLU
cholmod       both by CHOLMOD; cholmod_api has two versions of scikit-sparse behind one class
"""
