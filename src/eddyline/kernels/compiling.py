"""How kernels are compiled: what Python calls, and the parts of it that only other kernels call.

Compiling is what the first process on a machine waits for, so nothing is generated that nobody uses. Measured on the first
match of 200 queries: without the wrappers that nobody calls 10 instead of 13 seconds.
"""

from __future__ import annotations

from numba import njit

kernel = njit(cache=True, nogil=True, no_cfunc_wrapper=True)
part = njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)
