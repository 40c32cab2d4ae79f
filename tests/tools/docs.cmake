# Builds the target docs in BUILD and looks at what it wrote: every document of SOURCE/docs is there, and each generated page has its rows. The target
# itself fails where a link is dead.
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target docs COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)

file(GLOB_RECURSE documents RELATIVE ${SOURCE}/docs ${SOURCE}/docs/*)
list(REMOVE_ITEM documents CMakeLists.txt)
foreach(document ${documents})
  if(NOT EXISTS ${BUILD}/docs/${document})
    message(FATAL_ERROR "docs/${document} is not in ${BUILD}/docs")
  endif()
endforeach()

# expect_lines(FILE LEAST REGEX): the written page has at least so many lines that match.
function(expect_lines file least regex)
  file(STRINGS ${BUILD}/docs/${file} lines REGEX "${regex}")
  list(LENGTH lines count)
  if(count LESS least)
    message(FATAL_ERROR "${BUILD}/docs/${file} has ${count} lines like '${regex}', expected ${least} at least")
  endif()
endfunction()
expect_lines(reference/coverage.md 5000 "^[|] ")
expect_lines(reference/coverage.md 1 "^## Mutants")
expect_lines(reference/support.md 150 "^[|] `")
expect_lines(reference/cuda-functions.md 300 "^- `cu")
expect_lines(reference/planted.md 64 "[|] found [|]")
expect_lines(api/README.md 17 "^[|] [[]")
expect_lines(api/explain.md 1 "^## `<warpmat/explain.h>`")
expect_lines(api/launch.md 20 "^##")
message("${BUILD}/docs is complete")
