# The library as other projects link it: one shared object, libafterimage.so, with the rooms, llama.cpp and FAISS
# inside, the headers of include/afterimage, and a package for find_package(afterimage). Nothing of llama.cpp or FAISS
# is visible from outside, so a program may bring its own.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(afterimage_library SHARED)
foreach(room core gates store index embed engine engine_llama layers cache)
  target_sources(afterimage_library PRIVATE $<TARGET_OBJECTS:afterimage_${room}>)
  get_target_property(link afterimage_${room} AFTERIMAGE_LINK)
  target_link_libraries(afterimage_library PRIVATE ${link})
endforeach()
add_library(afterimage::afterimage ALIAS afterimage_library)
set_target_properties(afterimage_library PROPERTIES OUTPUT_NAME afterimage EXPORT_NAME afterimage LINKER_LANGUAGE CXX
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(afterimage_library INTERFACE cxx_std_20)
target_include_directories(afterimage_library INTERFACE "$<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>"
                           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_options(afterimage_library PRIVATE
                    "LINKER:--exclude-libs,libllama.a:libmtmd.a:libggml.a:libggml-base.a:libggml-cpu.a:libvendor-hash.a:libfaiss.a")

install(TARGETS afterimage_library EXPORT afterimage LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS afterimage RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY "${CMAKE_SOURCE_DIR}/include/afterimage" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/afterimage")
install(EXPORT afterimage NAMESPACE afterimage:: FILE afterimageConfig.cmake DESTINATION ${package_dir})
write_basic_package_version_file("${CMAKE_BINARY_DIR}/afterimageConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/afterimageConfigVersion.cmake" DESTINATION ${package_dir})
