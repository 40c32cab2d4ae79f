# The tests of the laboratory, with the label lab: a program of their own, so that the others are compiled alike with it and without.
file(GLOB sources CONFIGURE_DEPENDS lab/*.cpp)
list(FILTER sources EXCLUDE REGEX "/pretend_constant_gpu.cpp$")
add_executable(warpmat_lab_tests ${sources} main.cpp paths.cpp compressed_table.cpp tables/assembler.cpp tools/command.cpp)
target_include_directories(warpmat_lab_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_options(warpmat_lab_tests PRIVATE $<$<CONFIG:Release>:-Og>)
target_link_libraries(warpmat_lab_tests PRIVATE warpmat warpmat_machine_code warpmat_lab_report warpmat_flags Catch2::Catch2 fmt::fmt nlohmann_json::nlohmann_json ZLIB::ZLIB)
set_target_properties(warpmat_lab_tests PROPERTIES UNITY_BUILD ${WARPMAT_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 10)
warpmat_precompile(warpmat_lab_tests ${CMAKE_CURRENT_SOURCE_DIR}/test.h)
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  target_link_libraries(warpmat_lab_tests PRIVATE Catch2::Catch2WithMain)
endif()
# warpmat-lab with an emulator for a GPU, which it finds before that of the library.
add_executable(warpmat_pretend_lab tools/pretend_gpu.cpp lab/pretend_constant_gpu.cpp $<TARGET_OBJECTS:warpmat_lab>)
target_link_libraries(warpmat_pretend_lab PRIVATE warpmat_machine_code warpmat_command_line warpmat_lab_report warpmat_flags fmt::fmt)
add_dependencies(warpmat_lab_tests warpmat_command warpmat_gpu warpmat_lab warpmat_pretend warpmat_pretend_lab)
warpmat_add_file_tests(warpmat_lab_tests lab ${sources})

if(Python3_FOUND)
  # The driver's table is what the toolkit's headers say.
  add_test(NAME "lab: driver table" COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/gpu/lab/driver-table --check)
  # The programs that compare the device header with a card.
  add_test(NAME "lab: device sweep" COMMAND ${CMAKE_COMMAND} -DPYTHON=${Python3_EXECUTABLE} -DSOURCE=${PROJECT_SOURCE_DIR}
           -DCOMMAND=$<TARGET_FILE:warpmat_command> -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/device_sweep
           -P ${CMAKE_CURRENT_SOURCE_DIR}/lab/device_sweep.cmake)
  set_tests_properties("lab: driver table" PROPERTIES LABELS lab SKIP_RETURN_CODE 77)
  set_tests_properties("lab: device sweep" PROPERTIES LABELS lab SKIP_REGULAR_EXPRESSION "skipped: no nvcc")
endif()

add_test(NAME "lab: random programs on a GPU" COMMAND warpmat_lab fuzz --programs 300 --keep ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties("lab: random programs on a GPU" PROPERTIES LABELS lab SKIP_RETURN_CODE 77 RUN_SERIAL ON)
