"""How an operator of torch runs on the emulated chip: on which cores, under what name and for how long."""

import random
from typing import NamedTuple

VECTOR, CUBE, MIX_CUBE, MIX_VECTOR = "AI_VECTOR_CORE", "AI_CORE", "MIX_AIC", "MIX_AIV"
PROCESSOR, RANDOM = "AI_CPU", "DSA_SQE"
KINDS = dict.fromkeys(
    "mm addmm addmm_ bmm baddbmm addmv mv addr dot convolution_overrideable convolution_backward_overrideable "
    "_convolution convolution mkldnn_convolution slow_conv2d_forward thnn_conv2d".split(),
    CUBE,
)
KINDS["scaled_dot_product_attention"] = MIX_CUBE
KINDS.update(dict.fromkeys("native_layer_norm native_layer_norm_backward native_group_norm".split(), MIX_VECTOR))
KINDS.update(
    dict.fromkeys("sort msort unique_dim _unique _unique2 unique_consecutive nonzero histc kthvalue".split(), PROCESSOR)
)
KINDS.update(dict.fromkeys("bernoulli_ bernoulli native_dropout normal_ uniform_ random_ exponential_".split(), RANDOM))
TYPES = {
    "mm": "MatMulV2", "addmm": "MatMulV2", "bmm": "BatchMatMulV2", "baddbmm": "BatchMatMulV2", "_softmax": "SoftmaxV2",
    "_log_softmax": "LogSoftmaxV2", "native_layer_norm": "LayerNormV4", "sum": "ReduceSum", "mean": "ReduceMean",
    "amax": "ReduceMax", "amin": "ReduceMin", "max": "ReduceMax", "min": "ReduceMin", "fill_": "Fill",
    "zero_": "ZerosLike", "rsqrt": "Rsqrt", "sqrt": "Sqrt", "convolution_overrideable": "Conv2D", "div": "RealDiv",
    "scaled_dot_product_attention": "FlashAttentionScore", "bernoulli_": "DSARandomUniform",
    "normal_": "DSARandomNormal", "uniform_": "DSARandomUniform", "cat": "ConcatD", "embedding": "GatherV2",
}  # fmt: skip
# Microseconds that a kernel of the kind takes without data; the factor by which AI-core counters slow it down.
BASE_US = {VECTOR: 2.0, CUBE: 5.0, MIX_CUBE: 9.0, MIX_VECTOR: 3.2, PROCESSOR: 80.0, RANDOM: 2.6}
PMU_FACTOR = {VECTOR: 1.6, CUBE: 1.3, MIX_CUBE: 2.2, MIX_VECTOR: 3.75, PROCESSOR: 1.0, RANDOM: 1.0}
PROCESSOR_IS_SLOWER = 100
COLD = (5.0, 3.0, 1.5)
TICK_NS = 20
DTYPES = {
    "float32": "FLOAT", "float16": "FLOAT16", "bfloat16": "DT_BF16", "float64": "DOUBLE", "int64": "INT64",
    "int32": "INT32", "int16": "INT16", "int8": "INT8", "uint8": "UINT8", "bool": "BOOL", "complex64": "COMPLEX64",
    "complex128": "COMPLEX128",
}  # fmt: skip


class Kernel(NamedTuple):
    """One launch. `duration_us` is that at rated clock, warm, without noise."""

    name: str
    op_type: str
    kind: str
    duration_us: float
    block_num: int
    mix_block_num: int
    inputs: tuple
    outputs: tuple


class Model:
    """Durations on one chip; `settings` also names seed, noise and clock."""

    def __init__(self, settings, sessions):
        self.chip = settings.chip
        self.settings = settings
        self.random = random.Random("%d/%d" % (settings.seed, sessions))
        self.launches = {}
        self.kernels = {}

    def kind(self, op, tensors):
        """The task type of an operator by its name without namespace."""
        if any(str(tensor.dtype) in ("torch.float64", "torch.complex128") for tensor in tensors):
            return PROCESSOR
        return self.on_chip(KINDS.get(op, VECTOR))

    def on_chip(self, kind):
        """Chips whose AI cores are not split know no vector cores and no mixed kernels."""
        return kind if self.chip.is_split or kind == PROCESSOR else CUBE

    def of_operator(self, op, inputs, outputs):
        """The kernel of an operator on tensors."""
        shown = described(inputs), described(outputs)
        key = op, shown
        if key not in self.kernels:
            self.kernels[key] = self.made(op, inputs, outputs)._replace(inputs=shown[0], outputs=shown[1])
        return self.kernels[key]

    def made(self, op, inputs, outputs):
        """The same without its shapes."""
        kind = self.kind(op, inputs + outputs)
        size = sum(tensor.numel() * tensor.element_size() for tensor in inputs + outputs)
        us = BASE_US[kind] + size / self.chip.bandwidth + products(op, inputs, outputs) / self.chip.peak
        us = us * PROCESSOR_IS_SLOWER if kind == PROCESSOR and op not in KINDS else us
        word = op.strip("_")
        kernel_type = TYPES.get(op) or TYPES.get(word) or "".join(part.capitalize() for part in word.split("_"))
        core = "AiCpu" if kind == PROCESSOR else "AiCore"
        name = "aclnn%s_%s%s_%s" % (kernel_type, kernel_type, core, kernel_type)
        blocks = self.blocks(kind, max([tensor.numel() for tensor in outputs or inputs] or [1]))
        return Kernel(name, kernel_type, kind, us, blocks[0], blocks[1], (), ())

    def blocks(self, kind, elements):
        """(blocks, blocks of the other side)."""
        if kind in (MIX_CUBE, MIX_VECTOR):
            return self.chip.cube_cores, 2 * self.chip.cube_cores
        if kind == CUBE:
            return self.chip.cube_cores, 0
        return (1, 0) if kind in (PROCESSOR, RANDOM) else (max(1, min(self.chip.vector_cores, elements // 512)), 0)

    def real_ns(self, kernel, has_pmu):
        """Nanoseconds of this launch: first ones are slow, counters and a low clock slow down, noise on all."""
        key = kernel.name, kernel.inputs
        count = self.launches[key] = self.launches.get(key, 0) + 1
        us = kernel.duration_us * (COLD[count - 1] if count <= len(COLD) else 1.0)
        us *= PMU_FACTOR[kernel.kind] if has_pmu else 1.0
        if kernel.kind not in (PROCESSOR, RANDOM):
            us *= self.chip.mhz / self.settings.mhz
        us *= 2.718281828459045 ** self.random.gauss(0.0, self.settings.noise)
        return max(1, round(us * 1000 / TICK_NS)) * TICK_NS


def products(op, inputs, outputs):
    """Operations of a matrix product."""
    if KINDS.get(op) != CUBE or not outputs or len(inputs) < 2:
        return 0
    shape = inputs[-2].shape
    return 2 * outputs[0].numel() * (shape[-1] if shape else 1)


def shapes(tensors):
    """`"2,3;4"`, quotes included, as the tables have it."""
    return '"%s"' % ";".join(",".join(map(str, tensor.shape)) for tensor in tensors)


def dtypes(tensors):
    """`FLOAT;FLOAT16`."""
    return ";".join(DTYPES.get(str(tensor.dtype).replace("torch.", ""), "UNDEFINED") for tensor in tensors)


def described(tensors):
    """(shapes, dtypes) of tensors."""
    return shapes(tensors), dtypes(tensors)
