#define _GNU_SOURCE
#include "clinux_ipc.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// semctl(2) leaves the declaration of its last argument to the caller.
union argument {
    int value;
    struct semid_ds *status;
    unsigned short *values;
};

static void take(clinux_ipc_status *status, const struct ipc_perm *facts, uint64_t size) {
    status->owner = facts->uid;
    status->group = facts->gid;
    status->creator = facts->cuid;
    status->creator_group = facts->cgid;
    status->mode = facts->mode;
    status->size = size;
}

static void give(struct ipc_perm *facts, uint32_t owner, uint32_t group, uint32_t mode) {
    facts->uid = owner;
    facts->gid = group;
    facts->mode = (unsigned short)mode;
}

int32_t clinux_sem_make(uint32_t key, int32_t count, uint32_t mode) {
    int32_t id = semget((key_t)key, count, (int)(IPC_CREAT | IPC_EXCL | mode));
    return id < 0 ? -errno : id;
}

int32_t clinux_sem_find(uint32_t key) {
    int32_t id = semget((key_t)key, 0, 0);
    return id < 0 ? -errno : id;
}

int32_t clinux_sem_status(int32_t id, clinux_ipc_status *status) {
    struct semid_ds facts;
    union argument argument = {.status = &facts};
    if (semctl(id, 0, IPC_STAT, argument) < 0) return -errno;
    take(status, &facts.sem_perm, facts.sem_nsems);
    return 0;
}

int32_t clinux_sem_give(int32_t id, uint32_t owner, uint32_t group, uint32_t mode) {
    struct semid_ds facts = {0};
    give(&facts.sem_perm, owner, group, mode);
    union argument argument = {.status = &facts};
    return semctl(id, 0, IPC_SET, argument) < 0 ? -errno : 0;
}

int32_t clinux_sem_set_all(int32_t id, const uint16_t *values) {
    union argument argument = {.values = (unsigned short *)values};
    return semctl(id, 0, SETALL, argument) < 0 ? -errno : 0;
}

int32_t clinux_sem_value(int32_t id, int32_t index) {
    int32_t value = semctl(id, index, GETVAL);
    return value < 0 ? -errno : value;
}

int32_t clinux_sem_remove(int32_t id) { return semctl(id, 0, IPC_RMID) < 0 ? -errno : 0; }

int32_t clinux_sem_add(int32_t id, int32_t index, int32_t change, int32_t flags, int64_t nanoseconds) {
    struct sembuf step = {.sem_num = (unsigned short)index, .sem_op = (short)change};
    if (flags & CLINUX_SEM_UNDO) step.sem_flg |= SEM_UNDO;
    if (flags & CLINUX_SEM_NO_WAIT) step.sem_flg |= IPC_NOWAIT;
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return semtimedop(id, &step, 1, nanoseconds < 0 ? NULL : &limit) < 0 ? -errno : 0;
}

int32_t clinux_shm_make(uint32_t key, uint64_t size, uint32_t mode) {
    int32_t id = shmget((key_t)key, size, (int)(IPC_CREAT | IPC_EXCL | mode));
    return id < 0 ? -errno : id;
}

int32_t clinux_shm_find(uint32_t key) {
    int32_t id = shmget((key_t)key, 0, 0);
    return id < 0 ? -errno : id;
}

int32_t clinux_shm_status(int32_t id, clinux_ipc_status *status) {
    struct shmid_ds facts;
    if (shmctl(id, IPC_STAT, &facts) < 0) return -errno;
    take(status, &facts.shm_perm, facts.shm_segsz);
    return 0;
}

int32_t clinux_shm_give(int32_t id, uint32_t owner, uint32_t group, uint32_t mode) {
    struct shmid_ds facts = {0};
    give(&facts.shm_perm, owner, group, mode);
    return shmctl(id, IPC_SET, &facts) < 0 ? -errno : 0;
}

int32_t clinux_shm_remove(int32_t id) { return shmctl(id, IPC_RMID, NULL) < 0 ? -errno : 0; }

int32_t clinux_shm_attach(int32_t id, void **address) {
    void *place = shmat(id, NULL, 0);
    if (place == (void *)-1) return -errno;
    *address = place;
    return 0;
}

int32_t clinux_shm_detach(const void *address) { return shmdt(address) < 0 ? -errno : 0; }

int32_t clinux_peer_pidfd(int32_t socket) {
    int32_t descriptor = -1;
    socklen_t size = sizeof descriptor;
    // SO_PEERPIDFD: the headers of Debian 12 do not know it.
    return getsockopt(socket, SOL_SOCKET, 77, &descriptor, &size) < 0 ? -errno : descriptor;
}

int32_t clinux_pidfd_open(int32_t process) {
    long descriptor = syscall(SYS_pidfd_open, process, 0);
    return descriptor < 0 ? -errno : (int32_t)descriptor;
}

int32_t clinux_pass_credentials(int32_t socket) {
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ? -errno : 0;
}

// Room for one struct ucred and nothing behind it: the kernel then installs no descriptor.
typedef union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(struct ucred))];
} credentials_message;

int64_t clinux_send_credentials(int32_t socket, const void *bytes, uint64_t size) {
    struct ucred own = {.pid = getpid(), .uid = geteuid(), .gid = getegid()};
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = size};
    credentials_message control;
    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_CREDENTIALS;
    control.header.cmsg_len = CMSG_LEN(sizeof own);
    memcpy(CMSG_DATA(&control.header), &own, sizeof own);
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    int64_t count = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return count < 0 ? -errno : count;
}

int64_t clinux_receive_credentials(int32_t socket, void *bytes, uint64_t size, clinux_sender *sender) {
    struct iovec part = {.iov_base = bytes, .iov_len = size};
    credentials_message control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    memset(sender, 0, sizeof *sender);
    int64_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0) return -errno;
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    if (first != NULL && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_CREDENTIALS &&
        first->cmsg_len == CMSG_LEN(sizeof(struct ucred))) {
        struct ucred facts;
        memcpy(&facts, CMSG_DATA(first), sizeof facts);
        // Bytes of before SO_PASSCRED have the ids of no process.
        *sender = (clinux_sender){
            .process = facts.pid, .user = facts.uid, .group = facts.gid,
            .is_known = facts.uid != (uid_t)-1 && (facts.pid != 0 || facts.uid != 65534)};
    }
    return count;
}

int32_t clinux_listening_path(int32_t socket, char path[109]) {
    int listens = 0, type = 0;
    socklen_t size = sizeof listens;
    path[0] = 0;
    if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || !listens) return 0;
    size = sizeof type;
    if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) < 0 || type != SOCK_STREAM) return 0;
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    size = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &size) < 0 || address.sun_family != AF_UNIX) return 0;
    memcpy(path, address.sun_path, sizeof address.sun_path);
    path[108] = 0;
    return 1;
}

int32_t clinux_adopt(int32_t descriptor) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) return -errno;
    int flags = fcntl(copy, F_GETFL);
    // No program that this process starts inherits the original.
    if (flags >= 0 && fcntl(copy, F_SETFL, flags | O_NONBLOCK) >= 0 &&
        fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0)
        return copy;
    int number = errno;
    close(copy);
    return -number;
}

int32_t clinux_epoll(void) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    return epoll < 0 ? -errno : epoll;
}

static int32_t set_events(int32_t epoll, int operation, int32_t descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    return epoll_ctl(epoll, operation, descriptor, &event) < 0 ? -errno : 0;
}

// The bits of EPOLLIN, EPOLLOUT, EPOLLERR and EPOLLHUP are those of poll(2).
int32_t clinux_epoll_arm(int32_t epoll, int32_t descriptor, uint32_t events) {
    int32_t result = set_events(epoll, EPOLL_CTL_MOD, descriptor, events | EPOLLONESHOT);
    return result == -ENOENT ? set_events(epoll, EPOLL_CTL_ADD, descriptor, events | EPOLLONESHOT) : result;
}

int32_t clinux_epoll_watch(int32_t epoll, int32_t descriptor) {
    return set_events(epoll, EPOLL_CTL_ADD, descriptor, EPOLLIN | EPOLLET);
}

int32_t clinux_timer(void) {
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    return timer < 0 ? -errno : timer;
}

int32_t clinux_timer_set(int32_t timer, int64_t nanoseconds) {
    struct itimerspec when = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
    return timerfd_settime(timer, 0, &when, NULL) < 0 ? -errno : 0;
}

int32_t clinux_epoll_wait(int32_t epoll, clinux_readiness *ready, int32_t most, int32_t milliseconds) {
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, most < 64 ? most : 64, milliseconds);
    if (count < 0) return -errno;
    for (int i = 0; i < count; i++)
        ready[i] = (clinux_readiness){.descriptor = events[i].data.fd, .events = events[i].events};
    return count;
}
