"""Memory is flat in the size of a file, which is made up while it is read."""

import subprocess
import sys

import pytest

READ = """
import io, resource, sys
from collections.abc import Iterator
from nous.transcript import read_transcript

class MadeUp(io.RawIOBase):
    def __init__(self, pieces):
        self.pieces, self.rest = pieces, b""
    def readable(self):
        return True
    def readinto(self, buffer):
        self.rest = self.rest or next(self.pieces, b"")
        given, self.rest = self.rest[:len(buffer)], self.rest[len(buffer):]
        buffer[:len(given)] = given
        return len(given)

def session():
    yield b'{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}\\n'
    for number in range(2_000):
        yield b'{"type":"user","uuid":"%d","sessionId":"s","message":{"role":"user","content":[' % number
        yield b'{"type":"tool_result","tool_use_id":"t","content":"' + b"x" * 100_000 + b'"}]}}\\n'

def one_line():
    yield b'{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}\\n'
    for _ in range(200):
        yield b"x" * 1_000_000

def peak():
    try:
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return int(status["VmHWM"].split()[0]) >> 10
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10

def forget_the_peak():
    # Where that is possible: what importing took is not what reading takes.
    try:
        open("/proc/self/clear_refs", "w").write("5")
    except OSError:
        pass

read_transcript(io.BytesIO(b"User: warm up"))
forget_the_peak()
before = peak()
transcript = read_transcript(io.BufferedReader(MadeUp(globals()[sys.argv[1]]())))
print(peak() - before, transcript.bytes // 1_000_000, len(transcript.entries))
"""


@pytest.mark.parametrize(("shape", "entries", "most"), [("session", 2_001, 60), ("one_line", 1, 80)])
def test_two_hundred_megabytes_take_little_memory(shape: str, entries: int, most: int) -> None:
    done = subprocess.run([sys.executable, "-c", READ, shape], capture_output=True, text=True, check=True)

    added, megabytes, found = map(int, done.stdout.split())
    print(f"{megabytes} MB of one {shape}: {added} MiB of memory added")
    assert megabytes == 200
    assert found == entries
    assert added <= most, f"{added} MiB were added"
