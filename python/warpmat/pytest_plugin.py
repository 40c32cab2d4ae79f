"""A pytest plugin: tests of kernels on the CPU, and on this machine's GPU too where there is one.

    @pytest.mark.warpmat(target="sm_90", require="measured")
    def test_my_kernel(on_warpmat):
        y = np.zeros(64, np.float32)
        on_warpmat.launch(MODULE, "scale", 2, 32, y, 2.0)

The marker names the GPU, and the weakest label that matrix instructions may have. The fixture `on_warpmat` runs kernels, products and
programs as that GPU, and fails the test where a label is weaker. If this machine's first GPU is that hardware, a kernel runs there too and
every byte of every array is compared. The summary says how many launches were not compared.

A marked test without that fixture is one of Triton's kernels: it runs inside of warpmat.triton.use(), whose options the marker may have. Its
launches are compared with this machine's GPU, too, if that has the target's compute capability; compare=False: they are not.

    @pytest.mark.warpmat(target="h100", checks="all")
    def test_my_triton_kernel():
        add[(8,)](x, y, out, 1000, BLOCK=128)      # CPU tensors or NumPy arrays

Whole suites of Triton's kernels that are written for a GPU run unchanged by `pytest --warpmat-triton h100`: torch's device "cuda" is then the CPU.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, Iterator

import pytest

if TYPE_CHECKING:
    from ._pytest_launches import OnWarpmat as OnWarpmat


def __getattr__(name: str) -> Any:
    """OnWarpmat, for annotations of tests. It needs the compiled module, which tests of Triton's kernels do not."""
    if name == "OnWarpmat":
        from . import _pytest_launches

        return _pytest_launches.OnWarpmat
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _marker(request: pytest.FixtureRequest) -> Any:
    marker = request.node.get_closest_marker("warpmat")
    if marker is None or marker.args or "target" not in marker.kwargs:
        pytest.fail('warpmat needs @pytest.mark.warpmat(target="sm_90"), with require="measured" or another label if wanted')
    return marker


@pytest.fixture
def on_warpmat(request: pytest.FixtureRequest) -> OnWarpmat:
    """Runs kernels, products and programs as the marker `warpmat` says: see OnWarpmat."""
    from ._pytest_launches import OnWarpmat

    marker = _marker(request)
    if set(marker.kwargs) - {"target", "require"}:
        pytest.fail("with the fixture on_warpmat the marker warpmat has target and require alone")
    return OnWarpmat(marker.kwargs["target"], marker.kwargs.get("require"))


@pytest.fixture(autouse=True)
def _triton_on_warpmat(request: pytest.FixtureRequest) -> Iterator[None]:
    """Triton's kernels of a marked test run on warpmat."""
    if request.node.get_closest_marker("warpmat") is None or "on_warpmat" in request.fixturenames:
        yield
        return
    from . import triton

    values: Dict[str, Any] = {"compare": True, **_marker(request).kwargs}
    with triton.use(**values):
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--warpmat-triton", metavar="TARGET", help="run Triton's kernels of all tests on the CPU, as this GPU, and torch's device cuda, too")


def pytest_configure(config: pytest.Config) -> None:
    target = config.getoption("--warpmat-triton")
    if target is not None:
        from . import triton

        config.add_cleanup(lambda: used.__exit__(None, None, None))
        used = triton.use(target, torch_cuda=True)
    config.addinivalue_line(
        "markers", "warpmat(target, require=None): the GPU to be, and the label that its bits must have at least; of Triton's kernels, options"
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    modules = [sys.modules.get(f"{__package__}.{name}") for name in ("_pytest_launches", "_triton_compare")]
    for reason, count in (row for module in modules if module for row in module.reasons.items()):
        terminalreporter.write_line(f"warpmat: {count} {'launch' if count == 1 else 'launches'} ran on the CPU alone: {reason}")
