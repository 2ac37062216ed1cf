"""How kernels are compiled: what Python calls, and the parts of it that only other kernels call.

Compiling is what the first process on a machine waits for, so nothing is generated that nobody uses. Measured on the first
match of 200 queries: without the wrappers that nobody calls and without counting references 9 instead of 13 seconds.
"""

from __future__ import annotations

from numba import njit

# Kernels allocate nothing, so no reference is counted in them; _nrt also has numba refuse a kernel that does allocate.
kernel = njit(cache=True, nogil=True, _nrt=False, no_cfunc_wrapper=True)
part = njit(nogil=True, _nrt=False, no_cfunc_wrapper=True, no_cpython_wrapper=True)
