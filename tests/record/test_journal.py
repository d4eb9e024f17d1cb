"""The folder: lines that are whole, files for each process, and a disk that is full."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import workbench as wb
from workbench.record.journal import Recording, as_recording


def test_one_folder_is_one_recording_of_a_process(tmp_path):
    made = as_recording(tmp_path / "rec")
    assert as_recording(str(tmp_path / "rec")) is made
    assert as_recording(made) is made


def test_nothing_is_written_before_there_is_something(tmp_path):
    made = Recording(tmp_path / "rec")
    journal = made.journal("agui")
    assert list((tmp_path / "rec").iterdir()) == []
    journal.write({"kind": "x"})
    (file,) = (tmp_path / "rec").iterdir()
    header, line = map(json.loads, file.read_text().splitlines())
    assert header["recording"] == "agui"
    assert line == {"kind": "x"}
    assert file.stat().st_mode & 0o777 == 0o600


def test_threads_do_not_mix_their_lines(tmp_path):
    made = Recording(tmp_path)

    def write(name):
        for number in range(500):
            made.journal("otlp").write({"name": name, "number": number, "filling": "x" * 200})

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (file,) = tmp_path.iterdir()
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for name in "abcd":
        assert [line["number"] for line in lines if line["name"] == name] == list(range(500))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_worker_has_files_of_its_own(tmp_path):
    code = f"""
import os
from workbench.record.journal import Recording
made = Recording({str(tmp_path)!r})
made.journal("agui").write({{"kind": "parent"}})
if os.fork() == 0:
    made.journal("agui").write({{"kind": "child"}})
    os._exit(0)
os.wait()
made.journal("agui").write({{"kind": "parent"}})
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    kinds = sorted([json.loads(x)["kind"] for x in f.read_text().splitlines()] for f in tmp_path.iterdir())
    assert kinds == [["header", "child"], ["header", "parent", "parent"]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path, capsys, monkeypatch):
    made = Recording(tmp_path)
    journal = made.journal("agui")
    journal.write({"kind": "first"})
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._file)
    os.close(full)
    journal.write({"kind": "second"})
    journal.write({"kind": "third"})
    said = capsys.readouterr().err
    assert said.count("recording stopped") == 1
    assert "No space left on device" in said


def test_closed_and_written_again(tmp_path):
    made = Recording(tmp_path)
    made.journal("agui").write({"kind": "keepalive"})
    made.close()
    made.journal("agui").write({"kind": "keepalive"})
    assert len(list(tmp_path.iterdir())) == 2
    assert wb.load(tmp_path).sources.complete.all()
