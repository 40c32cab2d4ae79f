"""The kernel whose PTX triton_matmul.cu makes, as one writes it for Triton."""

import triton
import triton.language as tl


@triton.jit
def triton_matmul(A, B, C, M, N, K, stride_am, stride_bk, stride_cm, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    pid_m = pid // tl.cdiv(N, BLOCK)
    pid_n = pid % tl.cdiv(N, BLOCK)  # @ pid_n
    offs_k = tl.arange(0, BLOCK)
    offs_m = pid_m * BLOCK + tl.arange(0, BLOCK)
    offs_n = pid_n * BLOCK + tl.arange(0, BLOCK)
    a_ptrs = A + offs_m[:, None] * stride_am + offs_k[None, :]
    b_ptrs = B + offs_k[:, None] * stride_bk + offs_n[None, :]
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK)):
        a = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK, other=0.0)  # @ load A
        b = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK, other=0.0)  # @ load B
        acc = tl.dot(a, b, acc)  # @ dot
        a_ptrs += BLOCK
        b_ptrs += BLOCK * stride_bk  # @ step B
    c_ptrs = C + offs_m[:, None] * stride_cm + offs_n[None, :]  # @ c_ptrs
    tl.store(c_ptrs, acc, mask=(offs_m[:, None] < M) & (offs_n[None, :] < N))  # @ store C
