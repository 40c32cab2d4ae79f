"""Builds the module warpmat._core, the command and the CUDA libraries with CMake; all else stands in pyproject.toml."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent.resolve()


def version() -> str:
    """The version that the C++ library has, from its one source."""
    numbers = re.findall(r"^#define WARPMAT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", (ROOT / "emulator/warpmat/version.h").read_text(), re.M)
    return ".".join(numbers)


def numpy_requirement() -> str:
    """Before 2.12 pybind11 did not know NumPy 2."""
    try:
        import pybind11
    except ImportError:  # CMake finds the distribution's, of any version
        return "numpy>=1.21,<2"
    return "numpy>=1.21" if pybind11.version_info >= (2, 12) else "numpy>=1.21,<2"


class CMakeBuild(build_ext):
    """Configures the CMake project for the package alone, builds it, and copies the module and what lies beside it."""

    def build_extension(self, extension: Extension) -> None:
        if shutil.which("cmake") is None:
            sys.exit("warpmat is built with CMake 3.25 or later, which is not installed: apt-get install cmake, or pip install cmake")
        build = Path(self.build_temp).resolve()
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "Python_EXECUTABLE": sys.executable,
            "WARPMAT_SELF_CONTAINED": "ON",
            "WARPMAT_BUILD_PYTHON": "ON",
            "WARPMAT_BUILD_TESTS": "OFF",
            "WARPMAT_BUILD_BENCH": "OFF",
            "CMAKE_INSTALL_LIBDIR": "lib",
        }
        try:
            import pybind11

            options["pybind11_DIR"] = pybind11.get_cmake_dir()
        except ImportError:
            pass  # CMake finds the distribution's
        configure = ["cmake", "-S", str(ROOT), "-B", str(build), *(f"-D{name}={value}" for name, value in options.items())]
        if shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        subprocess.run(configure + os.environ.get("CMAKE_ARGS", "").split(), check=True)
        jobs = str(self.parallel or os.cpu_count() or 1)
        # Without the command (CMAKE_ARGS=-DWARPMAT_BUILD_TOOLS=OFF) the package computes on arrays and launches kernels.
        parts = {"warpmat_command": "WARPMAT_BUILD_TOOLS", "warpmat_cuda_driver": "WARPMAT_BUILD_CUDA"}
        targets = ["warpmat_python", *(target for target, option in parts.items() if is_on(build, option))]
        subprocess.run(["cmake", "--build", str(build), "--target", *targets, "--parallel", jobs], check=True)
        package = Path(self.get_ext_fullpath(extension.name)).parent
        package.mkdir(parents=True, exist_ok=True)
        for file in (build / "python/package/warpmat").glob("*.so*"):
            shutil.copy(file, package)
        install(build, package, "bundled")
        if "warpmat_command" in targets:
            install(build, package, "command")
            (package / "lib/warpmat/cuda/libwarpmat_cuda.so").unlink(missing_ok=True)  # a wheel has a copy for a link, and nobody opens this one
            shutil.rmtree(package / "share", ignore_errors=True)  # man pages and completions, which nobody would find there


def is_on(build: Path, option: str) -> bool:
    return re.search(rf"^{option}:BOOL=(ON|1|TRUE|YES)$", (build / "CMakeCache.txt").read_text(), re.M | re.I) is not None


def install(build: Path, prefix: Path, component: str) -> None:
    subprocess.run(["cmake", "--install", str(build), "--component", component, "--prefix", str(prefix.resolve()), "--strip"], check=True)


def check_wheel() -> None:
    """A wheel needs the package wheel, or a setuptools that has its command; without both pip ends in 30 lines of its own."""
    if "bdist_wheel" not in sys.argv:
        return
    for module in ("wheel", "setuptools.command.bdist_wheel"):
        try:
            __import__(module)
            return
        except ImportError:
            pass
    sys.exit(f"{sys.executable} lacks the package wheel: pip install wheel; or use the distribution's Python, /usr/bin/python3, with python3-wheel")


check_wheel()
setup(version=version(), install_requires=[numpy_requirement()], ext_modules=[Extension("warpmat._core", [])], cmdclass={"build_ext": CMakeBuild})
