// A libnvJitLink without functions: see CMakeLists.txt.
