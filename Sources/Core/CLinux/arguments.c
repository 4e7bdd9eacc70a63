#include "clinux_arguments.h"

#include <stddef.h>

static int32_t saved_count;
static char *const *saved_arguments;

// glibc calls each function of .init_array with the arguments of main (csu/libc-start.c, elf/dl-init.c). Another C library
// may pass nothing, and the parameters would have undefined values: there the count stays 0.
#ifdef __GLIBC__
static void save_arguments(int count, char **arguments, char **environment) {
    (void)environment;
    if (count <= 0 || arguments == NULL) return;
    saved_count = count;
    saved_arguments = arguments;
}

__attribute__((section(".init_array"), used)) static void (*const initialiser)(int, char **, char **) = save_arguments;
#endif

int32_t clinux_argument_count(void) { return saved_count; }

char *const *clinux_arguments(void) { return saved_arguments; }
