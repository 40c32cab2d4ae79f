# A port of the checkout that this file lies in: vcpkg install warpmat --overlay-ports=packages/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS -DWARPMAT_BUILD_TOOLS=OFF -DWARPMAT_BUILD_TESTS=OFF -DWARPMAT_BUILD_BENCH=OFF
                      -DWARPMAT_BUILD_PYTHON=OFF -DWARPMAT_INSTALL=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/warpmat)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
