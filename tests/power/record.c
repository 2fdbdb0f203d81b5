/*
 * Preloaded into svcd by the tests of crashes and power loss, and into the simulation of a failing disk.
 * Stands between a process and the files of its database, and does what the environment says:
 *
 *   POWER_DATABASE  absolute path of the database; without it nothing happens here
 *   POWER_LOG       append every change to the database, its companions and their folder to this file
 *   POWER_FAULT     "<deed> <call> <n> <count>": the n-th call, and count - 1 after it, fails:
 *                   deed: kill-before, kill-after, EIO, ENOSPC; call: sync, write, truncate, read
 *                   (of the database, its log and its journal: the shared memory holds nothing)
 *
 *   POWER_SWITCH    instead of all others: a file that says which database fails now, and how. The
 *                   process itself writes there (struct power_switch); nothing fails while it is zero
 *
 * A record is a head of four numbers and, for a write, the bytes. Its place in the log is its number.
 * One lock is held over each call and its record, so the log's order is the order of the calls; a sync
 * stands there only once it has succeeded.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE = 2, SYNC = 3, UNLINK = 4, READ = 5 };
enum { NONE = -1, DATABASE = 0, WAL = 1, SHM = 2, JOURNAL = 3, FOLDER = 4, PROBE = 5 };
enum deed { NOTHING, KILL_BEFORE, KILL_AFTER, FAIL };

struct head {
    uint32_t what, file;
    uint64_t offset, length;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *database = "";
static char folder[PATH_MAX];
static int log_fd = -1;

static enum deed deed = NOTHING;
static int deed_errno, deed_call;
static long deed_first, deed_count, seen;

/* The simulation has the other end. */
static volatile struct power_switch {
    uint32_t error;  /* fails writes, and EIO syncs too; 0: nothing */
    uint32_t passes; /* so many still succeed */
    uint32_t fails;  /* so many fail then */
    uint32_t failed; /* so many have failed */
    char database[PATH_MAX];
} *power_switch;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("POWER_DATABASE"), *log = getenv("POWER_LOG");
    const char *fault = getenv("POWER_FAULT"), *switched = getenv("POWER_SWITCH");
    char name[32], call[32];
    if (switched) {
        int fd = open(switched, O_RDWR | O_CLOEXEC);
        if (fd < 0 || ftruncate(fd, sizeof *power_switch)) abort();
        power_switch = mmap(NULL, sizeof *power_switch, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (power_switch == MAP_FAILED) abort();
        database = (const char *)power_switch->database;
        close(fd);
        return;
    }
    if (!path) return;
    database = path;
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = 0;
    if (log) log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log && log_fd < 0) abort();
    if (!fault) return;
    if (sscanf(fault, "%31s %31s %ld %ld", name, call, &deed_first, &deed_count) != 4) abort();
    deed_call = !strcmp(call, "sync")       ? SYNC
                : !strcmp(call, "truncate") ? TRUNCATE
                : !strcmp(call, "read")     ? READ
                                            : WRITE;
    deed_errno = strcmp(name, "EIO") ? ENOSPC : EIO;
    deed = !strcmp(name, "kill-before") ? KILL_BEFORE : !strcmp(name, "kill-after") ? KILL_AFTER : FAIL;
}

static int file_of_path(const char *path) {
    static const char *suffixes[] = {"", "-wal", "-shm", "-journal"};
    size_t length = strlen(database);
    if (!length || !path) return NONE;
    if (!strcmp(path, folder)) return FOLDER;
    if (strncmp(path, database, length)) return NONE;
    for (int file = DATABASE; file <= JOURNAL; file++)
        if (!strcmp(path + length, suffixes[file])) return file;
    return strncmp(path + length, ".probe-", 7) ? NONE : PROBE;
}

/* By the link in /proc, so that nothing need be remembered about who opened what. */
static int file_of(int fd) {
    char link[64], path[PATH_MAX];
    int before = errno;
    if (!*database) return NONE;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (length < 0) return NONE;
    path[length] = 0;
    return file_of_path(path);
}

static void record(int what, int file, uint64_t offset, uint64_t length, const void *bytes) {
    struct head head = {what, file, offset, length};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)bytes, bytes ? length : 0}};
    ssize_t whole = sizeof head + parts[1].iov_len;
    int before = errno;
    if (log_fd >= 0 && file != PROBE && syscall(SYS_writev, log_fd, parts, 2) != whole) abort();
    errno = before;
}

static void die(void) {
    for (;;) syscall(SYS_kill, getpid(), SIGKILL);
}

/* Before a call, with the lock held: returns what to do about it. */
static enum deed due(int call, int file) {
    if (power_switch) {
        int strikes = call == WRITE || (call == SYNC && power_switch->error == EIO);
        if (!power_switch->error || !strikes || file == SHM || file == FOLDER) return NOTHING;
        /* It stands on the same disk, but is no file of the database: not counted. */
        if (file == PROBE) {
            errno = power_switch->error;
            return FAIL;
        }
        if (power_switch->passes) {
            power_switch->passes--;
            return NOTHING;
        }
        if (power_switch->failed == power_switch->fails) return NOTHING;
        power_switch->failed++;
        errno = power_switch->error;
        return FAIL;
    }
    if (deed == NOTHING || call != deed_call || file == SHM || file >= PROBE) return NOTHING;
    seen++;
    if (seen < deed_first || seen >= deed_first + deed_count) return NOTHING;
    if (deed == KILL_BEFORE) die();
    if (deed == FAIL) errno = deed_errno;
    return deed;
}

static ssize_t write_at(int file, int fd, const void *bytes, size_t length, off_t offset, int seek) {
    ssize_t done = -1;
    pthread_mutex_lock(&lock);
    enum deed now = due(WRITE, file);
    if (now != FAIL) {
        if (seek) offset = syscall(SYS_lseek, fd, 0, SEEK_CUR);
        done = seek ? syscall(SYS_write, fd, bytes, length)
                    : syscall(SYS_pwrite64, fd, bytes, length, offset);
        if (done > 0) record(WRITE, file, offset, done, bytes);
        if (now == KILL_AFTER) die();
    }
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    int file = file_of(fd);
    if (file == NONE) return syscall(SYS_pwrite64, fd, bytes, length, offset);
    return write_at(file, fd, bytes, length, offset, 0);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    return pwrite64(fd, bytes, length, offset);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    int file = file_of(fd);
    if (file == NONE) return syscall(SYS_write, fd, bytes, length);
    return write_at(file, fd, bytes, length, 0, 1);
}

static int read_fails(int fd) {
    if (deed_call != READ) return 0;
    int file = file_of(fd);
    if (file == NONE) return 0;
    pthread_mutex_lock(&lock);
    enum deed now = due(READ, file);
    pthread_mutex_unlock(&lock);
    return now == FAIL;
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t offset) {
    return read_fails(fd) ? -1 : syscall(SYS_pread64, fd, bytes, length, offset);
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset) {
    return pread64(fd, bytes, length, offset);
}

ssize_t read(int fd, void *bytes, size_t length) {
    return read_fails(fd) ? -1 : syscall(SYS_read, fd, bytes, length);
}

int ftruncate64(int fd, off64_t length) {
    int file = file_of(fd);
    if (file == NONE) return syscall(SYS_ftruncate, fd, length);
    int result = -1;
    pthread_mutex_lock(&lock);
    enum deed now = due(TRUNCATE, file);
    if (now != FAIL) {
        result = syscall(SYS_ftruncate, fd, length);
        if (!result) record(TRUNCATE, file, 0, length, NULL);
        if (now == KILL_AFTER) die();
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int fd, off_t length) {
    return ftruncate64(fd, length);
}

static int sync_with(long number, int fd) {
    int file = file_of(fd), result = -1;
    if (file == NONE) return syscall(number, fd);
    pthread_mutex_lock(&lock);
    enum deed now = due(SYNC, file);
    if (now != FAIL) {
        result = syscall(number, fd);
        if (!result) record(SYNC, file, 0, 0, NULL);
        if (now == KILL_AFTER) die();
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int fd) {
    return sync_with(SYS_fsync, fd);
}

int fdatasync(int fd) {
    return sync_with(SYS_fdatasync, fd);
}

int unlink(const char *path) {
    int file = file_of_path(path);
    pthread_mutex_lock(&lock);
    int result = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (!result && file != NONE) record(UNLINK, file, 0, 0, NULL);
    pthread_mutex_unlock(&lock);
    return result;
}
