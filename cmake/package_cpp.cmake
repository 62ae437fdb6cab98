# What the Python package has for C++: include/, lib/libwengert.so, share/cmake and share/pkgconfig. So an extension is
# compiled against the package that it will run with; wengert.utils.cpp_extension finds all of it, and other builds ask
# `python -c "import wengert; print(wengert.utils.cmake_prefix_path)"`.

set(cpp_package "${CMAKE_BINARY_DIR}/package/wengert")
set(config_files "${CMAKE_BINARY_DIR}/package_cpp")  # those that are written here, on their way to being installed

# install_headers(<destination> <component>)
function(install_headers destination component)
  foreach(layer IN LISTS wengert_layers)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/${layer}" DESTINATION "${destination}" COMPONENT ${component}
      FILES_MATCHING PATTERN "*.h")
  endforeach()
  foreach(layer base kernels ops)
    install(DIRECTORY "${WENGERT_GENERATED}/${layer}" DESTINATION "${destination}/generated" COMPONENT ${component}
      FILES_MATCHING PATTERN "*.h")
  endforeach()
  install(FILES "${WENGERT_GENERATED}/built_in_backends.h" DESTINATION "${destination}/generated" COMPONENT ${component})
endfunction()

include(CMakePackageConfigHelpers)
write_basic_package_version_file("${config_files}/wengertConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
# Both places of wengert.pc lie two folders below what it calls prefix.
function(configure_pkg_config file includes)
  set(WENGERT_INCLUDES "${includes}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/wengert.pc.in" "${file}" @ONLY)
endfunction()

if(WENGERT_PYTHON)
  install_headers(wengert/include python)
  install(TARGETS wengert EXPORT wengert_package LIBRARY DESTINATION wengert/lib COMPONENT python
    INCLUDES DESTINATION wengert/include)
  install(EXPORT wengert_package NAMESPACE wengert:: FILE wengertTargets.cmake DESTINATION wengert/share/cmake/wengert
    COMPONENT python)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/wengertConfig.cmake" "${config_files}/wengertConfigVersion.cmake"
    DESTINATION wengert/share/cmake/wengert COMPONENT python)
  configure_pkg_config("${config_files}/wengert.pc" include)
  install(FILES "${config_files}/wengert.pc" DESTINATION wengert/share/pkgconfig COMPONENT python)

  # The same in the build directory: links to the sources' headers.
  file(MAKE_DIRECTORY "${cpp_package}/include" "${cpp_package}/share/cmake/wengert" "${cpp_package}/share/pkgconfig")
  foreach(layer IN LISTS wengert_layers)
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/src/${layer}" "${cpp_package}/include/${layer}" SYMBOLIC)
  endforeach()
  file(MAKE_DIRECTORY "${cpp_package}/include/generated")
  foreach(entry base kernels ops built_in_backends.h)
    file(CREATE_LINK "${WENGERT_GENERATED}/${entry}" "${cpp_package}/include/generated/${entry}" SYMBOLIC)
  endforeach()
  export(EXPORT wengert_package NAMESPACE wengert:: FILE "${cpp_package}/share/cmake/wengert/wengertTargets.cmake")
  file(COPY "${PROJECT_SOURCE_DIR}/cmake/wengertConfig.cmake" "${config_files}/wengertConfigVersion.cmake"
    DESTINATION "${cpp_package}/share/cmake/wengert")
  file(COPY "${config_files}/wengert.pc" DESTINATION "${cpp_package}/share/pkgconfig")
endif()
