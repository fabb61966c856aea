"""torch_npu.profiler."""
