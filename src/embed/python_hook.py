# The process of a Python hook: imports the module, makes the hook, answers requests. python_hook.h has the protocol,
# docs/hooks.md what a hook looks like. Run as `python3 -c <this file> module factory`, with the socket at descriptor 3.
import array
import fcntl
import importlib
import json
import os
import socket
import struct
import sys
import traceback

HEADER = struct.Struct("<IIQ")
MAGIC = 0x31484941  # "AIH1"


class Connection:
    def __init__(self, descriptor):
        os.set_inheritable(descriptor, False)
        self._socket = socket.socket(fileno=descriptor)

    def send(self, header, payload=b""):
        text = json.dumps(header).encode()
        self._socket.sendall(HEADER.pack(MAGIC, len(text), len(payload)) + text)
        self._socket.sendall(payload)

    def receive(self):
        _, n_header, n_payload = HEADER.unpack(self._exactly(HEADER.size))
        return json.loads(self._exactly(n_header)), self._exactly(n_payload)

    def _exactly(self, size):
        data = bytearray(size)
        view = memoryview(data)
        while view:
            n = self._socket.recv_into(view)
            if n == 0:
                sys.exit(0)  # the other side is done with us
            view = view[n:]
        return data


class Sample:
    """The request: id, question, chunk_text, image_path, image_paths, metadata; names of the sources wanted of it."""

    def __init__(self, connection, request):
        self._connection = connection
        self.names = request["names"]
        self.id = request["id"]
        self.question = request["question"]
        self.chunk_text = request["chunk_text"]
        self.image_paths = request["image_paths"]
        self.image_path = self.image_paths[0] if self.image_paths else None
        self.metadata = json.loads(request["metadata"]) if request["metadata"] else {}

    def encoder_output(self):
        """What the model's own vision encoder made of the pictures: a list of (name, array of 32-bit floats)."""
        header, payload = self._ask("encoder_output")
        return [(t["name"], part) for t, part in zip(header["tensors"], _parts(payload, "f", header["tensors"]))]

    def pictures(self):
        """The pixels of the pictures: a list of arrays of bytes, [height, width, 3]."""
        header, payload = self._ask("pictures")
        shapes = [{"shape": [p["height"], p["width"], 3]} for p in header["pictures"]]
        return _parts(payload, "B", shapes)

    def _ask(self, what):
        self._connection.send({"ask": what})
        header, payload = self._connection.receive()
        if "error" in header:
            raise RuntimeError(header["error"])
        return header, payload


def _parts(payload, code, tensors):
    """Arrays over the payload, one after the other: of numpy where it is installed, else memoryviews."""
    arrays = []
    start = 0
    for tensor in tensors:
        size = struct.calcsize(code)
        for side in tensor["shape"]:
            size *= side
        part = memoryview(payload)[start : start + size].cast(code, tensor["shape"])
        start += size
        try:
            import numpy

            part = numpy.asarray(part)
        except ImportError:
            pass
        arrays.append(part)
    return arrays


def floats(value):
    """The bytes of a vector: anything with a buffer of numbers (numpy, array), or anything to go through."""
    try:
        view = memoryview(value)
    except TypeError:
        return array.array("f", [float(x) for x in value]).tobytes()
    if view.format in ("f", "<f"):
        return view.tobytes()
    return array.array("f", [float(x) for (x,) in struct.iter_unpack(view.format, view.tobytes())]).tobytes()


def described(sources):
    return [
        {"name": str(name), "dim": int(s["dim"]), "modality": str(s["modality"]), "identity": str(s["identity"])}
        for name, s in sources.items()
    ]


def answer(hook, names, sample):
    made = hook(sample)
    missing = [name for name in names if made.get(name) is None]
    if missing:
        return {"nothing": "The hook returned nothing for: " + ", ".join(missing) + "."}, b""
    vectors = [floats(made[name]) for name in names]
    return {"vectors": [{"name": n, "dim": len(v) // 4} for n, v in zip(names, vectors)]}, b"".join(vectors)


def last_traceback():
    return traceback.format_exc()[-8000:].strip()


def main():
    # Standard input never has anything to read; when the other side is gone it ends, and the kernel then sends SIGIO to
    # our process group, which ends it, even from within a call that hangs. (PR_SET_PDEATHSIG would kill us when the
    # thread that started us ends.)
    fcntl.fcntl(0, fcntl.F_SETOWN, -os.getpgrp())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    sys.stdout = sys.stderr  # both end in the same pipe; this one is not held back
    connection = Connection(3)
    module, factory = sys.argv[1:3]
    sys.argv = [module]
    try:
        hook = getattr(importlib.import_module(module), factory)()
        sources = described(hook.sources)
    except Exception:
        connection.send({"error": last_traceback()})
        return
    connection.send({"sources": sources})
    while True:
        request, _ = connection.receive()
        try:
            header, payload = answer(hook, request["names"], Sample(connection, request))
        except Exception:
            header, payload = {"error": last_traceback()}, b""
        connection.send(header, payload)


main()
