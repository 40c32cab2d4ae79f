# An installation of this build in a folder of its own, and small programs that are built and run with it. All have the label `slow`.
set(package ${CMAKE_CURRENT_BINARY_DIR}/package)
set(here ${CMAKE_CURRENT_LIST_DIR})

add_test(NAME "package: install" COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DPREFIX=${package}/prefix -P ${here}/install.cmake)
set_tests_properties("package: install" PROPERTIES FIXTURES_SETUP package_installed)

# Each public header compiles alone.
foreach(library warpmat_core warpmat warpmat_device)
  set_target_properties(${library} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  add_test(NAME "package: each header of ${library} alone"
           COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${library}_verify_interface_header_sets)
  set_tests_properties("package: each header of ${library} alone" PROPERTIES RUN_SERIAL ON)  # a second build of this folder at once would wait or fail
endforeach()

foreach(project core whole device)
  add_test(NAME "package: build ${project}"
           COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test ${here}/${project} ${package}/${project} --build-generator ${CMAKE_GENERATOR} --build-options
                   -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_PREFIX_PATH=${package}/prefix -DWARPMAT_SOURCE=${PROJECT_SOURCE_DIR})
  set_tests_properties("package: build ${project}" PROPERTIES FIXTURES_REQUIRED package_installed FIXTURES_SETUP package_${project})
endforeach()

# Projects that name static libraries configure where the shared ones are the default, as in an archive.
foreach(project core whole)
  add_test(NAME "package: configure ${project} with shared libraries as the default"
           COMMAND ${CMAKE_COMMAND} -S ${here}/${project} -B ${package}/${project}_shared -G ${CMAKE_GENERATOR} -DWARPMAT_SHARED_LIBS=ON
                   -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_PREFIX_PATH=${package}/prefix -DWARPMAT_SOURCE=${PROJECT_SOURCE_DIR})
  set_tests_properties("package: configure ${project} with shared libraries as the default" PROPERTIES FIXTURES_REQUIRED package_installed)
endforeach()

# A test of the programs of `project`: COMMAND with its arguments.
function(add_package_test project name)
  add_test(NAME "package: ${name}" COMMAND ${ARGN})
  set_tests_properties("package: ${name}" PROPERTIES FIXTURES_REQUIRED package_${project} SKIP_RETURN_CODE 77)
endfunction()
set(module ${CMAKE_SHARED_MODULE_SUFFIX})
add_package_test(core "the static core executes mma" ${package}/core/execute_static)
add_package_test(core "the shared core executes mma" ${package}/core/execute_shared)
add_package_test(core "the tables link without the arithmetic" ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DPROGRAM=${package}/core/tables_alone
                 -DOTHER=${package}/core/execute_static -P ${here}/tables_alone.cmake)
add_package_test(core "every form on a stack of 64 KiB" ${package}/core/small_stack)
add_package_test(core "hosts with _GLIBCXX_DEBUG and in C++14, through the C interface" ${package}/core/c_hosts)
add_package_test(core "two versions in one process, and dlclose" ${package}/core/plugin_host ${package}/core/libplugin${module}
                 ${package}/core/libchanged_plugin${module})
add_package_test(whole "static, a kernel" ${package}/whole/launch_static)
add_package_test(whole "shared, a kernel" ${package}/whole/launch_shared)
foreach(host plain native avx2)
  if(NOT host STREQUAL "avx2" OR CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    add_package_test(whole "matrices in a host of flags ${host}" ${package}/whole/matrices_${host})
  endif()
endforeach()
add_package_test(device "the device header on a host" ${package}/device/host)
add_package_test(core "symbols" ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DPREFIX=${package}/prefix -DPLUGIN=${package}/core/libplugin${module}
                 -P ${here}/exports.cmake)
find_program(PKG_CONFIG_EXECUTABLE pkg-config REQUIRED)
add_package_test(core "pkg-config" ${CMAKE_COMMAND} -DPKG_CONFIG=${PKG_CONFIG_EXECUTABLE} -DCOMPILER=${CMAKE_CXX_COMPILER} -DPREFIX=${package}/prefix
                 -DBINARY=${package}/pkg-config -P ${here}/pkg_config.cmake)

# The project that the installed command writes, README's example in it, builds and passes.
if(TARGET warpmat_command)
  add_test(NAME "package: warpmat new" COMMAND ${CMAKE_COMMAND} -DPREFIX=${package}/prefix -DBINARY=${package}/new -DCOMPILER=${CMAKE_CXX_COMPILER}
                                              -DGENERATOR=${CMAKE_GENERATOR} -P ${here}/new.cmake)
  set_tests_properties("package: warpmat new" PROPERTIES FIXTURES_REQUIRED package_installed)
endif()

get_property(all_tests DIRECTORY PROPERTY TESTS)
list(FILTER all_tests INCLUDE REGEX "^package: ")
set_tests_properties(${all_tests} PROPERTIES LABELS slow)
