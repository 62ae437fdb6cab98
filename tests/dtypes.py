"""The dtypes that tensors have."""

import wengert as wg

DTYPES = [
    wg.bool, wg.uint8, wg.int8, wg.int16, wg.int32, wg.int64, wg.uint16, wg.uint32, wg.uint64, wg.float32,
    wg.float64, wg.complex64, wg.complex128,
]  # fmt: skip
