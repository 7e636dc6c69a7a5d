"""The plan as NumPy code.

function      the generated function: values and derivatives of all blocks, in one pass
inputs        names for x, weights and rows; field_code for the columns of data
block_code    one block; affine_code, inner_code for affine forms and sums inside it
linear_code   linear rows and averages of data
hessian_code  second derivatives
output        results into one flat vector
statement     lines of code and the memory they share
namespace     constants of the generated functions
kernels       array operations that NumPy lacks
"""
