"""The libraries from the checkout that this file lies in: conan create packages/conan"""

import pathlib
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy


class Warpmat(ConanFile):
    name = "warpmat"
    license = "Apache-2.0"
    description = "NVIDIA's warp matrix instructions on a CPU, bit for bit"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False]}
    default_options = {"shared": False, "fPIC": True}
    requires = "eigen/3.4.0", "fmt/10.2.1", "highway/1.2.0"

    @property
    def checkout(self):
        return pathlib.Path(self.recipe_folder).parent.parent

    def set_version(self):
        text = (self.checkout / "emulator/warpmat/version.h").read_text()
        self.version = ".".join(re.search(rf"#define WARPMAT_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "emulator/*"):
            copy(self, pattern, self.checkout, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TOOLS", "TESTS", "BENCH", "PYTHON"):
            toolchain.cache_variables[f"WARPMAT_BUILD_{part}"] = False
        toolchain.cache_variables["WARPMAT_BUILD_SHARED"] = bool(self.options.shared)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, str(pathlib.Path(self.package_folder) / "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # warpmat installs its own files for find_package
        self.cpp_info.builddirs = ["lib/cmake/warpmat"]
