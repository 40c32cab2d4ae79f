# What `cmake --install` writes: libraries, public headers, the CMake package, pkg-config files.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)  # of packages, see packages/CMakeLists.txt
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/warpmat)

set(installed warpmat_core)
set(pc_files warpmat-core)
if(NOT WARPMAT_CORE_ONLY)
  list(APPEND installed warpmat)
  list(APPEND pc_files warpmat)
endif()
if(WARPMAT_BUILD_SHARED)
  list(TRANSFORM installed APPEND _shared OUTPUT_VARIABLE shared)
  list(APPEND installed ${shared})
endif()
foreach(target ${installed} warpmat_device)
  get_target_property(name ${target} EXPORT_NAME)
  install(TARGETS ${target} EXPORT ${name} FILE_SET HEADERS)
  install(EXPORT ${name} NAMESPACE warpmat:: DESTINATION ${package_dir} FILE warpmat-${name}.cmake)
endforeach()

configure_package_config_file(warpmat-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/warpmat-config.cmake INSTALL_DESTINATION ${package_dir}
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/warpmat-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/warpmat-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/warpmat-config-version.cmake warpmat-cuda-test.cmake DESTINATION ${package_dir})

# What a static library needs besides: the linker is told in any case where there are no shared ones.
set(warpmat_core_static_libs "-lstdc++ -lm")
set(warpmat_static_libs "-lwarpmat-core -lfmt -lstdc++ -lm")
if(NOT APPLE)  # as warpmat_hide_static
  string(PREPEND warpmat_core_static_libs "-Wl,--exclude-libs,libwarpmat-core.a ")
  string(PREPEND warpmat_static_libs "-Wl,--exclude-libs,libwarpmat-core.a:libwarpmat.a ")
endif()
set(pc_private "\nLibs.private:")
set(pc_cflags "")
if(NOT WARPMAT_BUILD_SHARED)
  set(pc_private "")
  set(pc_cflags " -DWARPMAT_STATIC")
endif()

# Directories of a pkg-config file, relative to its own, so that the installation can be moved.
file(RELATIVE_PATH up_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(name ${pc_files})
  configure_file(${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
