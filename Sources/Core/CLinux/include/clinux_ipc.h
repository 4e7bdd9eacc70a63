// System V semaphores and shared memory, the peer of a socket, and atomic access to shared memory: types and
// status codes, no policy. The contract of clinux.h holds for everything that makes a system call.
#ifndef CLINUX_IPC_H
#define CLINUX_IPC_H

#include <stdint.h>

// The permissions of an object, svipc(7).
typedef struct {
    uint32_t owner;          // uid
    uint32_t group;          // gid
    uint32_t creator;        // cuid: has the owner's rights permanently
    uint32_t creator_group;  // cgid: its members have the unix group's rights permanently
    uint32_t mode;           // the nine permission bits, and flags of segments above them
    uint64_t size;           // semaphores in the set; bytes of the segment
} clinux_ipc_status;

enum { CLINUX_SHM_DEST = 01000 };  // in `mode`: removed, but present until its last user detaches

// semget(2) with IPC_CREAT and IPC_EXCL. Returns the id; -EEXIST, -ENOSPC at the system's limit.
int32_t clinux_sem_make(uint32_t key, int32_t count, uint32_t mode);
// semget(2) of one that exists, without asking for any permission. Returns the id or -ENOENT.
int32_t clinux_sem_find(uint32_t key);
// semctl(2): IPC_STAT; IPC_SET of owner, unix group and mode; SETALL of all semaphores in the set; GETVAL; IPC_RMID. -EIDRM or
// -EINVAL for a removed set.
int32_t clinux_sem_status(int32_t id, clinux_ipc_status *status);
int32_t clinux_sem_give(int32_t id, uint32_t owner, uint32_t group, uint32_t mode);
int32_t clinux_sem_set_all(int32_t id, const uint16_t *values);
int32_t clinux_sem_value(int32_t id, int32_t index);
int32_t clinux_sem_remove(int32_t id);

enum { CLINUX_SEM_UNDO = 1, CLINUX_SEM_NO_WAIT = 2 };
// semtimedop(2) of one semaphore. -EAGAIN after the time limit, or immediately with CLINUX_SEM_NO_WAIT; -ERANGE beyond 32767.
// `nanoseconds` < 0: no limit.
int32_t clinux_sem_add(int32_t id, int32_t index, int32_t change, int32_t flags, int64_t nanoseconds);

// shmget(2), shmctl(2), as above. IPC_RMID removes the name; processes that have it attached keep it.
int32_t clinux_shm_make(uint32_t key, uint64_t size, uint32_t mode);
int32_t clinux_shm_find(uint32_t key);
int32_t clinux_shm_status(int32_t id, clinux_ipc_status *status);
int32_t clinux_shm_give(int32_t id, uint32_t owner, uint32_t group, uint32_t mode);
int32_t clinux_shm_remove(int32_t id);
// shmat(2) at an address that the kernel chooses; it is stored in `address`. Ends with clinux_shm_detach.
int32_t clinux_shm_attach(int32_t id, void **address);
int32_t clinux_shm_detach(const void *address);

// SO_PEERPIDFD of socket(7), Linux 6.5: a descriptor of the process at the other end, closed on exec. -ENOPROTOOPT before.
int32_t clinux_peer_pidfd(int32_t socket);

// pidfd_open(2), closed on exec.
int32_t clinux_pidfd_open(int32_t process);

// The process that sent bytes through a UNIX domain socket (SCM_CREDENTIALS of unix(7)), checked by the kernel.
typedef struct {
    int32_t process;
    uint32_t user;
    uint32_t group;
    // 0 if the bytes came without credentials.
    int32_t is_known;
} clinux_sender;

// SO_PASSCRED: a socket receives credentials only after this.
int32_t clinux_pass_credentials(int32_t socket);
// sendmsg(2) with this process's effective ids, MSG_NOSIGNAL and MSG_DONTWAIT. The number of bytes or -errno.
int64_t clinux_send_credentials(int32_t socket, const void *bytes, uint64_t size);
// recvmsg(2) with MSG_DONTWAIT. The number of bytes or -errno. Descriptors that came with the bytes are not accepted.
int64_t clinux_receive_credentials(int32_t socket, void *bytes, uint64_t size, clinux_sender *sender);
// 1 for a listening UNIX domain socket of the type SOCK_STREAM, 0 for any other descriptor. Writes its path of at most
// 108 bytes, terminated by zero and empty for none.
int32_t clinux_listening_path(int32_t socket, char path[109]);
// A duplicate. Both are closed on exec and non-blocking from then on; -errno.
int32_t clinux_adopt(int32_t descriptor);

// epoll(7), closed on exec; -errno.
int32_t clinux_epoll(void);
// Reports a descriptor once and to one thread, when one of the events of poll(2) arrives. A further call sets other
// events.
int32_t clinux_epoll_arm(int32_t epoll, int32_t descriptor, uint32_t events);
// Reports a descriptor to one waiting thread each time that it becomes readable, also if it was not read since.
int32_t clinux_epoll_watch(int32_t epoll, int32_t descriptor);
// timerfd_create(2) of the monotonic clock, closed on exec; -errno.
int32_t clinux_timer(void);
// Readable after that time, which is not 0; an earlier setting is dropped. 0 or -errno.
int32_t clinux_timer_set(int32_t timer, int64_t nanoseconds);

typedef struct {
    int32_t descriptor;
    // As poll(2) has them.
    uint32_t events;
} clinux_readiness;

// The number of ready descriptors, at most that many, and 64; 0 after the milliseconds, -1 for no limit; -errno.
int32_t clinux_epoll_wait(int32_t epoll, clinux_readiness *ready, int32_t most, int32_t milliseconds);

// Atomic access to eight aligned bytes that other processes change. No system call.
static inline uint64_t clinux_load_acquire(const void *place) {
    return __atomic_load_n((const uint64_t *)place, __ATOMIC_ACQUIRE);
}
static inline void clinux_store_release(void *place, uint64_t value) {
    __atomic_store_n((uint64_t *)place, value, __ATOMIC_RELEASE);
}
// A fence: reads before it happen before reads after it; likewise for writes.
static inline void clinux_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
