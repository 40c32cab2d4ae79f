# Licenses of the libraries whose code is in what is packed, by the part of the project that has them: each library's text is where its Debian package
# puts it. In an image without Debian's packages python/wheel-libraries puts it there, too.
set(libraries_of_development libfmt-dev libhwy-dev)
set(libraries_of_python ${libraries_of_development} nlohmann-json3-dev pybind11-dev)
set(libraries_of_command ${libraries_of_development} nlohmann-json3-dev libtbb-dev libzstd-dev liblz4-dev libcli11-dev zlib1g-dev)
if(TARGET warpmat_machine_code)
  list(APPEND libraries_of_command libasmjit-dev)
endif()
set(libraries_of_gpu ${libraries_of_command} libxxhash-dev)

# warpmat_install_licenses(COMPONENT FOLDER LIBRARY...): a file of each library's name in the folder.
function(warpmat_install_licenses component folder)
  foreach(library ${ARGN})
    install(FILES /usr/share/doc/${library}/copyright DESTINATION ${folder} RENAME ${library} COMPONENT ${component})
  endforeach()
endfunction()
