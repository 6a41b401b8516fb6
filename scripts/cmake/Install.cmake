# cmake --install: phasor-train, the public headers, and the package for find_package(phasor).
#
# phasor::phasor is one interface over the static layers that the public headers speak of. What is
# exported is relocatable: it names no folder of this build and no flag of its kernels.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

add_library(phasor INTERFACE)
add_library(phasor::phasor ALIAS phasor)
target_link_libraries(phasor INTERFACE phasor_norms)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/phasor)
foreach(layer core kernels autograd norms)
  set_target_properties(phasor_${layer} PROPERTIES EXPORT_NAME ${layer})
endforeach()
set_target_properties(phasor_headers PROPERTIES EXPORT_NAME headers)
install(TARGETS phasor phasor_headers phasor_core phasor_kernels phasor_autograd phasor_norms
        EXPORT phasor-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS phasor-train EXPORT phasor-targets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${PROJECT_BINARY_DIR}/include/phasor/build.h DESTINATION include/phasor)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/phasor DESTINATION include
        FILES_MATCHING PATTERN "*.h")
install(EXPORT phasor-targets NAMESPACE phasor:: DESTINATION ${package})

configure_package_config_file(scripts/cmake/phasor-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/phasor-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/phasor-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/phasor-config.cmake
              ${PROJECT_BINARY_DIR}/cmake/phasor-config-version.cmake
              ${PROJECT_SOURCE_DIR}/scripts/cmake/NormPlugin.cmake
        DESTINATION ${package})
