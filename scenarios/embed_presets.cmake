# cmake -DROOT=<presets folder> -DOUTPUT=<file.cc> -P embed_presets.cmake: writes the presets as C++ string literals.
# A literal may hold 16 KiB for certain (a compiler's limit), so texts are cut into pieces that the compiler joins.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.yaml)
list(SORT files)
set(body "")
foreach(file IN LISTS files)
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${ROOT}/${file} text)
  string(FIND "${text}" ")yaml\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} contains the delimiter of the embedded text")
  endif()
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND pieces "\n     R\"yaml(${piece})yaml\"")
    math(EXPR at "${at} + 8000")
  endwhile()
  if(pieces STREQUAL "")
    set(pieces "\"\"")
  endif()
  string(APPEND body "    {\"${folder}\", \"${name}\",${pieces}},\n")
endforeach()
set(source "// Generated from scenarios/presets by scenarios/embed_presets.cmake.
#include \"scenarios/preset_store.h\"

namespace traingraph::scenarios {

std::span<const PresetFile> all_presets() {
  static constexpr PresetFile kPresets[] = {
${body}  };
  return kPresets;
}

}  // namespace traingraph::scenarios
")
file(WRITE ${OUTPUT} "${source}")
