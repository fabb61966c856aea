/* The markers of CANN for tests: logged with host times to <FAKE_CANN_STATE>/marks-<pid>.jsonl while a collector that
 * wants them is attached (FAKE_CANN_MSTX=1); else every range is 0. The collector gives them device times later. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 156 /* bytes of a message that the real one keeps */

typedef void *aclrtStream;
typedef uint64_t mstxRangeId;
struct mstxDomainRegistration_st {
    char name[64];
};
typedef struct mstxDomainRegistration_st *mstxDomainHandle_t;

static uint64_t last_id = 0;

static int is_listening(void) {
    const char *word = getenv("FAKE_CANN_MSTX");
    return word != NULL && strcmp(word, "1") == 0;
}

static long long now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void escape(const char *text, char *into, size_t room) {
    size_t used = 0;
    for (size_t place = 0; text[place] != 0 && place < LONGEST && used + 7 < room; place++) {
        unsigned char sign = (unsigned char)text[place];
        if (sign == '"' || sign == '\\')
            used += snprintf(into + used, room - used, "\\%c", sign);
        else if (sign < 0x20)
            used += snprintf(into + used, room - used, "\\u%04x", sign);
        else
            into[used++] = (char)sign;
    }
    into[used] = 0;
}

static void append(const char *line, int length) {
    const char *state = getenv("FAKE_CANN_STATE");
    char path[4096];
    if (state == NULL)
        return;
    snprintf(path, sizeof path, "%s/marks-%d.jsonl", state, (int)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0640);
    if (file < 0)
        return;
    if (write(file, line, (size_t)length) != length)
        perror("libms_tools_ext");
    close(file);
}

/* A handle is a base and the number of the stream in its low bits; 0 is no stream. */
static void tell(const char *times, const char *message, mstxDomainHandle_t domain, aclrtStream stream) {
    char text[1024], line[2048];
    escape(message, text, sizeof text);
    int length = snprintf(line, sizeof line,
                          "{%s, \"message\": \"%s\", \"domain\": \"%s\", \"stream\": %u, \"handle\": %llu, \"tid\": %ld}\n",
                          times, text, domain == NULL ? "default" : domain->name, (unsigned)((uintptr_t)stream & 0xffff),
                          (unsigned long long)(uintptr_t)stream, (long)syscall(SYS_gettid));
    append(line, length);
}

mstxDomainHandle_t mstxDomainCreateA(const char *name) {
    mstxDomainHandle_t domain = calloc(1, sizeof *domain);
    if (domain != NULL)
        snprintf(domain->name, sizeof domain->name, "%s", name == NULL ? "" : name);
    return domain;
}

void mstxDomainDestroy(mstxDomainHandle_t domain) { free(domain); }

void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
    char times[160];
    if (!is_listening() || message == NULL)
        return;
    long long now = now_ns();
    snprintf(times, sizeof times, "\"t\": \"mark\", \"id\": %llu, \"host_start_ns\": %lld, \"host_end_ns\": %lld",
             (unsigned long long)++last_id, now, now);
    tell(times, message, domain, stream);
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message, aclrtStream stream) {
    char times[160];
    if (!is_listening() || message == NULL)
        return 0;
    snprintf(times, sizeof times, "\"t\": \"mark_start\", \"id\": %llu, \"host_ns\": %lld",
             (unsigned long long)++last_id, now_ns());
    tell(times, message, domain, stream);
    return last_id;
}

void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
    char line[160];
    (void)domain;
    if (!is_listening() || id == 0)
        return;
    int length = snprintf(line, sizeof line, "{\"t\": \"mark_end\", \"id\": %llu, \"host_ns\": %lld}\n",
                          (unsigned long long)id, now_ns());
    append(line, length);
}

void mstxMarkA(const char *message, aclrtStream stream) { mstxDomainMarkA(NULL, message, stream); }

mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream) {
    return mstxDomainRangeStartA(NULL, message, stream);
}

void mstxRangeEnd(mstxRangeId id) { mstxDomainRangeEnd(NULL, id); }
