#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { NANOSECONDS = 1000000000 };

int32_t clinux_wall_timer(void) {
    int32_t timer = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    return timer < 0 ? -errno : timer;
}

int32_t clinux_wall_timer_set(int32_t timer, int64_t nanoseconds) {
    struct itimerspec when = {
        .it_value = {.tv_sec = nanoseconds / NANOSECONDS, .tv_nsec = nanoseconds % NANOSECONDS},
    };
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL) < 0 ? -errno : 0;
}

int64_t clinux_wall_timer_read(int32_t timer) {
    uint64_t count = 0;
    if (read(timer, &count, sizeof count) == (ssize_t)sizeof count) return (int64_t)count;
    return errno == EAGAIN ? 0 : -errno;
}
