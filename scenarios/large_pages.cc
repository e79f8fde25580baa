// Memory in pages of 2 MiB. A simulation writes to each piece of fresh memory about once, and with pages of 4 KiB, on a
// virtual machine above all, the faults cost several times what is done with the memory.
//
// A program that is linked with this file has mimalloc in place of malloc and new, and tells it before anything is allocated
// (the array is called before any library's initializer). MIMALLOC_LARGE_OS_PAGES=0 in the environment does not take it
// back; a system without large pages goes on with small ones. Changes no result.
#include <mimalloc.h>

namespace {

void use_large_pages() { mi_option_enable(mi_option_large_os_pages); }

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_any_initializer)() = use_large_pages;

}  // namespace
