# warpmat_cuda_test(NAME name [TARGET target] [MAY_LAUNCH_NOTHING] [OPTIONS option...] [ARGUMENTS argument...])
#
# Adds a test that runs the program of a CUDA target with `warpmat cuda`, without a GPU. The target, `name` if none is given, is linked with the
# shared runtime. OPTIONS are those of `warpmat cuda`, ARGUMENTS the program's. CMAKE_CUDA_ARCHITECTURES must leave PTX in: 90 or 90-virtual, not
# 90-real. A program that launches no kernel fails its test, unless MAY_LAUNCH_NOTHING is there.
function(warpmat_cuda_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "MAY_LAUNCH_NOTHING" "NAME;TARGET" "OPTIONS;ARGUMENTS")
  if(NOT test_NAME OR test_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "warpmat_cuda_test(NAME name [TARGET target] [MAY_LAUNCH_NOTHING] [OPTIONS option...] [ARGUMENTS argument...]): "
                        "'${ARGV}' has no NAME, or what is none of these: '${test_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT test_TARGET)
    set(test_TARGET ${test_NAME})
  endif()
  if(NOT TARGET ${test_TARGET})
    message(FATAL_ERROR "warpmat_cuda_test: there is no target '${test_TARGET}'; TARGET names one")
  endif()
  set_target_properties(${test_TARGET} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  if(TARGET warpmat_command)
    if(NOT TARGET warpmat_cuda_driver)
      message(FATAL_ERROR "warpmat_cuda_test: this build of warpmat has no libcudart, which needs libzstd and liblz4")
    endif()
    set(command warpmat_command)
    add_dependencies(${test_TARGET} warpmat_command warpmat_cuda_driver)  # what the test runs is built with the program
  else()
    find_program(WARPMAT_COMMAND warpmat HINTS ${PACKAGE_PREFIX_DIR}/bin REQUIRED)
    set(command ${WARPMAT_COMMAND})
  endif()
  set(expected --expect-launches 1)
  if(test_MAY_LAUNCH_NOTHING)
    set(expected "")
  endif()
  add_test(NAME ${test_NAME} COMMAND ${command} cuda ${expected} ${test_OPTIONS} $<TARGET_FILE:${test_TARGET}> ${test_ARGUMENTS})
endfunction()
