#!/usr/bin/env python3
"""The Debug Adapter Protocol as a client sees it: dap_test.py COMMAND SOURCE [--record]

A live session with steps in both directions, then the session of dap_session.json, message by message. --record writes that file anew.
"""

import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from client import Adapter  # noqa: E402

FOLDER = pathlib.Path(__file__).resolve().parent
RECORDED = FOLDER / "dap_session.json"


def begin(command, port=False, **more):
    adapter = Adapter(command, "--grid", "2", "--block", "64", "--buffer", "x=zeros:512", "--param", "x", port=port)
    abilities = adapter.request("initialize", adapterID="warpmat", linesStartAt1=True)
    assert abilities["supportsStepBack"] and abilities["supportsDataBreakpoints"] and abilities["supportsDisassembleRequest"]
    adapter.event("initialized")
    adapter.request("launch", program=str(FOLDER / "steps.ptx"), **more)
    return adapter


def top(adapter, thread):
    return adapter.request("stackTrace", threadId=thread)["stackFrames"]


def value(adapter, frame, expression):
    return int(adapter.request("evaluate", expression=expression, frameId=frame["id"], context="watch")["result"].split(" = ")[-1].split(" ")[0], 0)


def live(command):
    adapter = begin(command)
    answer = adapter.request(
        "setBreakpoints", source={"path": "/home/me/steps.cu"}, breakpoints=[{"line": 15, "condition": "blockIdx.x == 1 && threadIdx.x == 35"}]
    )
    assert answer["breakpoints"][0]["verified"], answer
    adapter.request("configurationDone")
    stop = adapter.event("stopped")
    assert stop["reason"] == "breakpoint", stop
    thread = stop["threadId"]
    names = {each["id"]: each["name"] for each in adapter.request("threads")["threads"]}
    assert names[thread] == "block (1,0,0) warp 1", names
    frame = top(adapter, thread)[0]
    assert (frame["name"], frame["line"]) == ("steps", 15), frame
    assert value(adapter, frame, "%r29") == 135 and value(adapter, frame, "threadIdx.x") == 35 and value(adapter, frame, "tile[35]") == 135

    adapter.request("stepIn", threadId=thread)
    assert adapter.event("stopped")["reason"] == "step"
    frames = top(adapter, thread)
    assert [(f["name"], f["line"]) for f in frames] == [("mix", 4), ("steps", 15)], frames
    adapter.request("stepOut", threadId=thread)
    adapter.event("stopped")
    assert top(adapter, thread)[0]["line"] == 14
    adapter.request("stepBack", threadId=thread)
    adapter.event("stopped")
    assert top(adapter, thread)[-1]["line"] == 15
    adapter.request("stepBack", threadId=thread, granularity="instruction")
    adapter.event("stopped")

    scopes = adapter.scopes(thread)
    registers = adapter.inside(scopes["Registers"])
    assert "%r29" in registers and "%p1" in registers, registers
    special = {name: each["value"] for name, each in adapter.inside(scopes["Special registers"]).items()}
    assert special["blockIdx.x"] == "1" and special["%laneid"] == "3", special
    memory = adapter.inside(scopes["Parameters and memory"])
    tile = next(each for name, each in memory.items() if name.endswith("tile"))
    elements = list(adapter.inside(tile).values())
    assert len(elements) == 64 and "163" in elements[63]["value"], elements[63]
    data = adapter.request("readMemory", memoryReference=tile["memoryReference"], count=8)["data"]
    import base64

    assert base64.b64decode(data) == bytes([100, 0, 0, 0, 101, 0, 0, 0]), data

    # The value of %r29 in the loop, forwards and backwards.
    frame = top(adapter, thread)[0]
    adapter.request("setBreakpoints", source={"path": "/home/me/steps.cu"}, breakpoints=[])
    information = adapter.request("dataBreakpointInfo", name="%r29", frameId=frame["id"])
    adapter.request("setDataBreakpoints", breakpoints=[{"dataId": information["dataId"], "accessType": "write"}])
    seen = []
    for _ in range(3):
        adapter.request("continue", threadId=thread)
        stop = adapter.event("stopped")
        assert stop["reason"] == "data breakpoint", stop
        seen.append(value(adapter, top(adapter, thread)[0], "%r29"))
    back = []
    for _ in range(3):
        adapter.request("reverseContinue", threadId=thread)
        assert adapter.event("stopped")["reason"] == "data breakpoint"
        back.append(value(adapter, top(adapter, thread)[0], "%r29"))
    expected, tile_value = [135], lambda i: 100 + (35 + i) % 64
    for i in range(3):
        turned = expected[-1] * 3 + tile_value(i)
        expected.append(turned ^ turned >> 5)
    assert seen == expected[:3] and back == [expected[1], expected[0], 0], (seen, back, expected)

    reference = top(adapter, thread)[0]["instructionPointerReference"]
    instructions = adapter.request("disassemble", memoryReference=reference, instructionOffset=-2, instructionCount=5)["instructions"]
    assert len(instructions) == 5 and instructions[2]["instruction"].startswith("mov.u32 %r29"), instructions
    said = adapter.request("evaluate", expression="info warps", context="repl")["result"]
    assert "warp  1" in said, said
    wrong = adapter.answer("evaluate", expression="%r99", context="watch")
    assert not wrong["success"] and "%r29" in wrong["message"], wrong
    assert not adapter.answer("noSuchRequest")["success"]
    adapter.request("setDataBreakpoints", breakpoints=[])
    adapter.request("continue", threadId=thread)
    adapter.event("stopped")
    adapter.request("stepBack", threadId=thread)  # from behind the end
    adapter.event("stopped")
    adapter.end()


ENDLESS = """.version 7.8
.target sm_80
.address_size 64
.visible .entry endless() {
  .reg .b32 %r<2>;
  .reg .pred %p1;
again:
  add.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra again;
  ret;
}
"""


def pauses(command):
    """On a port; the kernel runs until the client asks it to stop, and goes on from there."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = pathlib.Path(folder, "endless.ptx")
        kernel.write_text(ENDLESS)
        adapter = Adapter(command, "--grid", "1", "--block", "1", port=True)
        adapter.request("initialize", adapterID="warpmat")
        adapter.request("launch", program=str(kernel), stopOnEntry=True)
        adapter.request("configurationDone")
        assert adapter.event("stopped")["reason"] == "entry"
        counted = [0]
        for _ in range(2):
            adapter.request("continue", threadId=1)
            adapter.request("pause", threadId=1)
            stop = adapter.event("stopped")
            assert stop["reason"] == "pause", stop
            counted.append(value(adapter, top(adapter, stop["threadId"])[0], "%r1"))
        assert counted == sorted(set(counted)), counted
        adapter.send("continue", threadId=1)
        adapter.end()  # while it runs


def replay(command, record):
    """Sends the recorded requests, and compares what comes, but for paths."""
    talk = json.loads(RECORDED.read_text()) if not record else [
        ["request", "setBreakpoints", {"source": {"path": "steps.cu"}, "breakpoints": [{"line": 18}]}],
        ["request", "configurationDone", {}],
        ["request", "threads", {}],
        ["request", "stackTrace", {"threadId": 1}],
        ["request", "stepBack", {"threadId": 1}],
        ["request", "stackTrace", {"threadId": 1}],
        ["request", "continue", {"threadId": 1}],
        ["request", "stackTrace", {"threadId": 1}],
    ]
    adapter = begin(command)
    first = len(adapter.talk)
    going = {"configurationDone", "stepBack", "continue"}
    for kind, name, arguments in [tuple(each) for each in talk]:
        if kind == "request":
            adapter.request(name, **arguments)
            if name in going:
                adapter.event("stopped")
    got = json.loads(json.dumps(adapter.talk[first:]).replace(str(pathlib.Path.cwd()), "."))
    adapter.end()
    if record:
        RECORDED.write_text("[\n" + ",\n".join(" " + json.dumps(each) for each in got) + "\n]\n")
    else:
        assert got == talk, "\n".join(f"{a}\n{b}" for a, b in zip(got, talk) if a != b)


live(sys.argv[1])
pauses(sys.argv[1])
replay(sys.argv[1], "--record" in sys.argv)
