// The arguments that the process was started with, as the C library passes them to initialisers: no system call, and no /proc,
// which a container may hide.
#ifndef CLINUX_ARGUMENTS_H
#define CLINUX_ARGUMENTS_H

#include <stdint.h>

// The number of arguments with the program's name; 0 where the C library passes none to initialisers.
int32_t clinux_argument_count(void);

// The arguments with a NULL after the last one, as main(3) gets them; NULL without arguments. They stay valid until the
// process ends.
char *const *clinux_arguments(void);

#endif
