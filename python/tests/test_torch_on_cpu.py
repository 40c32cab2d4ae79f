"""torch's own CUDA kernels under `warpmat cuda`: needs a torch that is made for CUDA, and no GPU."""

import shutil
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
if torch.version.cuda is None or shutil.which("warpmat") is None:
    pytest.skip("needs torch for CUDA, and the command warpmat in PATH", allow_module_level=True)

CHECKS = """
import torch, warnings, warpmat.triton
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    calls = warpmat.triton.torch_on_cpu()
    assert torch.zeros(3, device="cuda").sum().item() == 0
assert any(isinstance(w.message, warpmat.triton.KernelWarning) for w in warned) and calls

def same(compute, *inputs):
    on_cuda = compute(*(x.cuda() for x in inputs))
    assert on_cuda.is_cuda and torch.equal(on_cuda.cpu(), compute(*inputs))

a, b = torch.randn(50, 60), torch.randn(60, 50)
same(lambda x, y: x + y.t() * 2, a, b)
same(lambda x, y: x @ y, a, b)
same(lambda x: x.t().contiguous()[::2, ::3].clone(), a)  # copies between strides
same(lambda x: torch.add(x, 1, out=torch.empty(0, device=x.device)), a)  # an output that grows
same(lambda x: torch._foreach_add([x, x * 2], 1.0)[1], a)  # lists
same(lambda x: x[x > 0], a)
same(lambda x: torch.nn.functional.scaled_dot_product_attention(x, x, x), torch.randn(2, 4, 16, 8))

def views(x):
    x = x.clone()
    x[3:5].t().add_(1)
    x[:, 2].zero_()
    return x.relu_()

same(views, a)

def losses(device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 32), torch.nn.LayerNorm(32), torch.nn.GELU(), torch.nn.Linear(32, 5)).to(device)
    optimizer, found = torch.optim.AdamW(model.parameters(), 1e-2), []
    x, y = torch.linspace(-1, 1, 320).reshape(16, 20).to(device), torch.arange(16).remainder(5).to(device)
    for _ in range(5):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        found.append(loss.item())
    return found

assert losses("cuda") == losses("cpu")
print("all hold")
"""


def test_operators_views_lists_and_training_give_what_the_cpu_gives():
    run = subprocess.run(["warpmat", "cuda", sys.executable, "-c", CHECKS], capture_output=True, text=True)
    assert run.returncode == 0 and "all hold" in run.stdout, run.stderr
