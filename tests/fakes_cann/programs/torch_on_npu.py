"""What operators and msprun's worker do with torch, on device npu; every result is compared with the host's."""

import copy
import io

import torch
import torch_npu
from torch import nn
from torch.nn import functional

torch.manual_seed(0)


def alike(one, other, **limits):
    torch.testing.assert_close(one.cpu(), other, **limits)


def views_and_writes():
    host = torch.randn(6, 8)
    x = host.npu()
    assert (x.device, x.dtype, x.stride()) == (torch.device("npu", 0), torch.float32, (8, 1))
    torch_npu.fake_note("views begin")
    part = x.t()[1:5, ::2]
    assert part.stride() == (1, 16) and not part.is_contiguous() and part.data_ptr() == x.data_ptr() + 4
    x.view(2, 24).reshape(4, 12).unsqueeze(0).expand(3, 4, 12).detach().narrow(1, 0, 2)
    x.as_strided((2, 2), (1, 3), 5), x.view(torch.int32), x.unfold(0, 2, 1), x.chunk(2)
    torch_npu.fake_note("views end")
    part.add_(1)
    host.t()[1:5, ::2].add_(1)
    alike(x, host)
    x[0, 1:3] = 7.0
    host[0, 1:3] = 7.0
    alike(x.clone(), host)
    alike(torch.empty(0, device="npu").resize_(0), torch.empty(0))
    out = torch.empty(0, device="npu")
    torch.add(x, x, out=out)
    alike(out, host + host)
    kept = x.untyped_storage()
    x.set_(kept, 3, (2, 2), (4, 1))
    alike(x, host.as_strided((2, 2), (4, 1), 3))


def copies():
    x = torch.ones(1024)
    torch_npu.fake_note("host and back")
    there = x.to("npu")
    there.clone().cpu()
    torch_npu.fake_note("end")
    alike(there.to(torch.float16), x.to(torch.float16))
    assert torch.equal(there, there.clone()) and bool(torch.isfinite(there).all()) and there.sum().item() == 1024
    assert torch.allclose(there, there + 1e-9)
    alike(torch.arange(1.0, 9.0, device="npu"), torch.arange(1.0, 9.0))
    alike(torch.full((2,), 7, device="npu"), torch.full((2,), 7))
    assert "device='npu:0'" in repr(there)
    waves = torch.randn(3, dtype=torch.complex64)
    alike(waves.npu().conj(), waves.conj().resolve_conj())
    twin = copy.deepcopy(there)
    twin.zero_()
    alike(there, x)
    file = io.BytesIO()
    torch.save({"x": there}, file)
    file.seek(0)
    assert torch.load(file, map_location="npu:0")["x"].device.type == "npu"


def models():
    host = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8))
    model = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)).to("npu")
    model.load_state_dict(host.state_dict())
    x = torch.randn(4, 8)
    for mode in (torch.no_grad(), torch.inference_mode(), torch.enable_grad()):
        with mode:
            alike(model(x.npu()).detach(), host(x).detach())
    model(x.npu()).pow(2).sum().backward()
    host(x).pow(2).sum().backward()
    alike(model[0].weight.grad, host[0].weight.grad)
    with torch.inference_mode():
        assert isinstance(nn.Linear(2, 2).to("npu").weight, nn.Parameter)
    image = torch.randn(1, 3, 8, 8, requires_grad=True)
    there = image.detach().npu().requires_grad_()
    layer = nn.Conv2d(3, 4, 3)
    layer(image).sum().backward()
    layer.npu()(there).sum().backward()
    alike(there.grad, image.grad)


def operators():
    q = torch.randn(2, 4, 16, 8)
    with torch.no_grad():
        fused = functional.scaled_dot_product_attention(q.npu(), q.npu(), q.npu(), is_causal=True)
    alike(fused, functional.scaled_dot_product_attention(q, q, q, is_causal=True))
    x = torch.randn(5, 7)
    for function in (
        lambda t: torch.topk(t, 2)[0], lambda t: torch.cat([t, t]), lambda t: torch.sort(t)[1], torch.softmax,
        lambda t: t @ t.t(), lambda t: t.double().var(), lambda t: t[t > 0], lambda t: torch.where(t > 0, t, 0.0),
        lambda t: functional.rms_norm(t, (7,)), lambda t: t[torch.tensor([0, 3])],
        lambda t: torch.einsum("ij,kj->ik", t, t),
    ):  # fmt: skip
        arguments = (-1,) if function is torch.softmax else ()
        alike(function(x.npu(), *arguments), function(x, *arguments))
    try:
        x.npu() + x
        raise SystemExit("tensors of two devices were added")
    except RuntimeError as error:
        assert "Expected all tensors to be on the same device" in str(error)
    torch.dropout(x.npu(), 0.5, True), torch.randn(3, device="npu"), torch.randperm(4, device="npu")


def the_device():
    assert torch.npu.device_count() == 1 and torch.npu.current_device() == 0 and torch.npu.is_available()
    assert torch.npu.get_device_name() == "Ascend910B2"
    before = torch.npu.memory_allocated()
    x = torch.empty(1000, device="npu")
    assert torch.npu.memory_allocated() == before + 4096
    del x
    assert torch.npu.memory_allocated() == before
    assert torch.npu.mem_get_info()[1] == 64 << 30
    assert torch.npu.current_stream().npu_stream > 1 << 32
    begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    begin.record()
    torch_npu.launch("long", torch.neg, torch.ones(4, device="npu"), duration_us=1000.0)
    end.record()
    torch.npu.synchronize()
    assert begin.elapsed_time(end) > 5  # milliseconds: a first launch is five times as slow
    torch.npu.empty_cache(), torch.npu.manual_seed(3)
    try:
        torch.npu.set_device(1)
        raise SystemExit("there is a second device")
    except RuntimeError as error:
        assert "error code is 107001" in str(error)


for act in (views_and_writes, copies, models, operators, the_device):
    act()
print("all is well")
