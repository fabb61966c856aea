"""kernel_details of torch_npu: line ends, quotes and columns of three years."""

from __future__ import annotations

import pandas as pd
import pytest

from msprun.reader.kernel_details import read


def test_level0_knows_times_and_names_alone(session, capture) -> None:
    capture("kernel_details", "level0.csv")
    reading = read(session)
    kernels = reading.frame
    assert reading.complaints == ()
    assert list(kernels["kind"]) == ["unknown", "unknown", "communication"]
    assert list(kernels["op_type"]) == [None, None, "hcom_allReduce_"]
    assert list(kernels["start_ns"]) == [1790000000000001320, 1790000000000101663, 1790000000000501085]
    assert list(kernels["duration_ns"]) == [50621, 315746, 99000]
    assert kernels["stream"].isna().all() and list(kernels["block_num"]) == [0, 0, 0]
    assert list(kernels["Step Id"].fillna(-1)) == [50, 50, -1]


def test_level1_has_shapes_in_three_quotes(session, capture) -> None:
    capture("kernel_details", "level1-crlf.csv")
    kernels = read(session).frame
    assert list(kernels["Input Shapes"]) == ["32,3,224,224", "32,1,224,224,8;121,4,16,8;64", None]
    assert list(kernels["Output Formats"]) == ["NC1HWC0", "NC1HWC0", None]
    assert list(kernels["HF32 Eligible"]) == ["NO", "YES", None]
    assert list(kernels["kind"]) == ["compute", "compute", "communication"]
    assert kernels["task"].tolist() == [11051, 11053, pd.NA]


def test_level2_has_the_device_and_absent_inputs(session, capture) -> None:
    capture("kernel_details", "level2-device-id.csv")
    kernels = read(session).frame
    assert set(kernels["device"]) == {3}
    assert list(kernels["kind"]) == ["compute", "compute", "communication"]
    assert kernels["Input Shapes"][1] == "4096,1,1024;4096,1,1024;;;2048,2048;;;"
    assert list(kernels["mix_block_num"][:2]) == [0, 40]
    assert list(kernels["Task Wait Time(us)"]) == [42.52, 18.52, 833.42]


def test_times_in_quotes_and_rows_out_of_order(session, capture) -> None:
    capture("kernel_details", "quoted-times.csv")
    kernels = read(session).frame
    assert list(kernels["start_ns"]) == [1790000000411629128, 1790000000558972912]
    assert list(kernels["op_type"]) == ["Add", "MatMulV2"]
    assert list(kernels["line"]) == [3, 2]


def test_whole_microseconds_of_2023(session, capture) -> None:
    capture("kernel_details", "2023-integers.csv")
    kernels = read(session).frame
    assert list(kernels["start_ns"]) == [1790000000710248000, 1790000000711707000, 1790000000722104500]
    assert list(kernels["duration_ns"]) == [498400, 8665280, 9000]
    assert list(kernels["kind"]) == ["compute", "communication", "compute"]
    assert list(kernels["block_num"]) == [48, 0, 1639]


@pytest.mark.parametrize("inner", ["", "host_4711_20260605161708478_ascend_pt"])
def test_the_folder_around_it_or_its_own(session, capture, inner: str) -> None:
    capture("kernel_details", "level0.csv")
    assert len(read(session / inner).frame) == 3
