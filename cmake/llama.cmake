# llama.cpp and libmtmd, built in from source as static libraries (targets `llama`, `mtmd`).
if(NOT EXISTS "${AFTERIMAGE_LLAMA_SOURCE}/include/llama.h")
  message(FATAL_ERROR "No llama.cpp source at ${AFTERIMAGE_LLAMA_SOURCE}. Run scripts/setup, or configure with "
                      "-DAFTERIMAGE_LLAMA_SOURCE=<a llama.cpp checkout>.")
endif()

set(BUILD_SHARED_LIBS OFF)
set(LLAMA_BUILD_MTMD ON CACHE INTERNAL "")
foreach(part COMMON TESTS TOOLS EXAMPLES SERVER APP UI)
  set(LLAMA_BUILD_${part} OFF CACHE INTERNAL "")
endforeach()
set(LLAMA_OPENSSL OFF CACHE INTERNAL "")
set(LLAMA_SUBPROCESS OFF CACHE INTERNAL "")
# A binary for any x86-64 machine with AVX2, so that one build's numerics are one machine class's numerics.
option(GGML_NATIVE "llama.cpp: tune for this machine" OFF)
set(GGML_CCACHE OFF CACHE INTERNAL "")
if(AFTERIMAGE_SANITIZE MATCHES "thread")
  set(GGML_OPENMP OFF CACHE INTERNAL "") # libgomp is not instrumented: every barrier would look like a race
endif()

# The engine's build is part of the numerics identity (docs/architecture.md). A foreign source names itself by git.
if(AFTERIMAGE_LLAMA_SOURCE STREQUAL "${CMAKE_SOURCE_DIR}/third_party/llama.cpp")
  file(STRINGS "${CMAKE_SOURCE_DIR}/third_party/llama.cpp.sha256" llama_sha256 LIMIT_COUNT 1)
  string(SUBSTRING "${llama_sha256}" 0 12 LLAMA_BUILD_COMMIT)
  set(LLAMA_BUILD_NUMBER 0)
  set(GIT_EXE "") # or ggml would take the commit of the repository around it, which is ours
endif()

add_subdirectory("${AFTERIMAGE_LLAMA_SOURCE}" "${CMAKE_BINARY_DIR}/llama.cpp" EXCLUDE_FROM_ALL SYSTEM)

# Two hundred small files of graphs that include the same large headers: in batches they compile in a third of the time.
# Only of the source that scripts/setup fetches, where it is known that no two of a batch define the same names.
if(AFTERIMAGE_LLAMA_SOURCE STREQUAL "${CMAKE_SOURCE_DIR}/third_party/llama.cpp")
  set_target_properties(llama mtmd PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  foreach(target_folder llama:src mtmd:tools/mtmd)
    string(REGEX MATCHALL "[^:]+" target_folder "${target_folder}")
    list(GET target_folder 0 target)
    list(GET target_folder 1 folder)
    file(GLOB alone "${AFTERIMAGE_LLAMA_SOURCE}/${folder}/*.cpp")
    list(APPEND alone "${AFTERIMAGE_LLAMA_SOURCE}/${folder}/models/glm5-next.cpp")
    set_source_files_properties(${alone} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endif()
