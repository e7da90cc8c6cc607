"""Chromium without a window, driven over a pipe: what a page holds, says on its console and asks of the network."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

TIMEOUT_S = 120  # of one answer; a busy machine is slow to start a browser


class Browser:
    """One page at a time. Speaks the DevTools protocol: JSON messages, a zero byte behind each."""

    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise AssertionError("There is no chromium to look at pages with: run scripts/setup test.")
        self.folder = tempfile.TemporaryDirectory(prefix="afterimage-browser-")
        self.number = 0
        self.events = []
        self.pending = b""
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                 f"--user-data-dir={self.folder.name}"]
        # Chromium reads from descriptor 3 and writes to 4, whatever theirs were here.
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(["bash", "-c", shell, program, *flags], pass_fds=(to_browser, from_browser),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self.out)  # its cue to end
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.into)
        self.folder.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.pending:
            if not select.select([self.into], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError("The browser did not answer.")
            data = os.read(self.into, 1 << 20)
            if not data:
                raise AssertionError("The browser has ended.")
            self.pending += data
        message, self.pending = self.pending.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def resize(self, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)

    def open(self, path, width=1200, dark=False):
        """Loads a file, and waits until its figures are drawn."""
        self.events = []
        self.resize(width)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(time.monotonic() + TIMEOUT_S))
        self.settle()

    def settle(self):
        """Figures are drawn in the frame after the layout that made or changed their place."""
        frame = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
        for _ in range(3):
            self.evaluate(frame)

    def evaluate(self, expression):
        """What a JavaScript expression comes to on the page, awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def complaints(self):
        """What went to the console, was thrown, or was refused, since the page was opened."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event.get("method") in kinds]

    def requests(self):
        """What was asked for since the page was opened: addresses, without what lies in the page itself."""
        asked = [event["params"]["request"]["url"] for event in self.events
                 if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith("data:")]
