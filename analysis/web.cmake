# traingraph_embed(TARGET FOLDER PATTERNS HEADER NAMESPACE FUNCTION): compiles a folder's text files into a library; a changed,
# new or removed file rebuilds it.
function(traingraph_embed target folder patterns header namespace function)
  set(globs ${patterns})
  list(TRANSFORM globs PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
  file(GLOB files CONFIGURE_DEPENDS ${globs})
  set(script ${PROJECT_SOURCE_DIR}/analysis/embed_files.cmake)
  set(output ${PROJECT_BINARY_DIR}/generated/${function}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/${folder} "-DPATTERNS=${patterns}" -DOUTPUT=${output} -DHEADER=${header}
            -DNAMESPACE=${namespace} -DFUNCTION=${function} -P ${script}
    DEPENDS ${files} ${script}
    COMMENT "Embedding ${folder}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

traingraph_embed(traingraph_analysis analysis/web "*.html;*.css;*.js" analysis/web_assets.h traingraph::analysis web_assets)
traingraph_embed(traingraph_scenarios scenarios/examples "*.yaml" scenarios/example_store.h traingraph::scenarios example_files)
