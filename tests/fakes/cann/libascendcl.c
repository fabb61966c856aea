/* As much of CANN's runtime library as programs without torch_npu ask: a time limit for operators. */
#include <stdint.h>

static uint32_t limit_s = 0;

int aclrtSetOpExecuteTimeOut(uint32_t timeout) {
    limit_s = timeout;
    return 0;
}

/* For the emulated device, which lives in the same process. */
uint32_t fake_op_timeout_s(void) { return limit_s; }
