// Memory in pages of 2 MiB. A simulation writes to each piece of fresh memory about once, and with pages of 4 KiB, on a
// virtual machine above all, the faults cost several times what is done with the memory.
//
// A program that is linked with this file has mimalloc in place of malloc and new, and tells it before anything is allocated
// (the array is called before any library's initializer). A system without large pages goes on with small ones. Changes no
// result.
//
// mimalloc is a C library: where memory ends, its own `new` ends the program. The ones here throw as they should; what they
// give goes back through mimalloc's `delete`.
#include <mimalloc.h>

#include <new>

namespace {

void use_large_pages() { mi_option_enable(mi_option_large_os_pages); }

[[gnu::section(".preinit_array"), gnu::used]] void (*const before_any_initializer)() = use_large_pages;

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return or_throw(mi_malloc(size)); }
void* operator new[](std::size_t size) { return or_throw(mi_malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(mi_malloc_aligned(size, static_cast<std::size_t>(alignment)));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(mi_malloc_aligned(size, static_cast<std::size_t>(alignment)));
}
