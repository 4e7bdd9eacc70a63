#define _GNU_SOURCE
#include "clinux_ipc.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <time.h>

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
