# Compiles every scenarios/presets/FOLDER/NAME.yaml into traingraph_scenarios; a changed, new or removed preset rebuilds it.
file(GLOB_RECURSE traingraph_preset_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scenarios/presets/*.yaml)
list(SORT traingraph_preset_files)
set(traingraph_presets_cc ${PROJECT_BINARY_DIR}/generated/presets.cc)
add_custom_command(
  OUTPUT ${traingraph_presets_cc}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/scenarios/presets -DOUTPUT=${traingraph_presets_cc}
          -P ${PROJECT_SOURCE_DIR}/scenarios/embed_presets.cmake
  DEPENDS ${traingraph_preset_files} ${PROJECT_SOURCE_DIR}/scenarios/embed_presets.cmake
  COMMENT "Embedding presets"
  VERBATIM)
target_sources(traingraph_scenarios PRIVATE ${traingraph_presets_cc})
