"""A headless Chromium, driven by its DevTools protocol over two pipes: nothing but Python's standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find():
    """The path of a browser, or None: CHROMIUM of the environment, or one of the usual names."""
    given = os.environ.get("CHROMIUM")
    return given or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page in one browser. What the page complains about is in `complaints`, what it asks of a network in `requests`."""

    def __init__(self, path, deadline):
        self.deadline = deadline
        self.profile = tempfile.mkdtemp(prefix="warpmat-browser-")
        reads_commands, self.commands = os.pipe()
        self.answers, writes_answers = os.pipe()
        arguments = [path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--no-first-run", "--disable-extensions", "--disable-background-networking", f"--user-data-dir={self.profile}",
                     "--window-size=1400,1000", "about:blank"]

        def pipes_as_3_and_4():
            first, second = os.dup(reads_commands), os.dup(writes_answers)  # so that neither is 3 or 4 itself
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(arguments, preexec_fn=pipes_as_3_and_4, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(reads_commands)
        os.close(writes_answers)
        self.rest, self.number, self.session = b"", 0, None
        self.complaints, self.requests, self.loaded = [], [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        """The result of a method of the protocol; meanwhile events are noted."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _read(self):
        while b"\0" not in self.rest:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise TimeoutError("the browser did not answer in time")
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        method, data = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and data["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([a.get("value") for a in data["args"]]))
        elif method == "Log.entryAdded" and data["entry"]["level"] in ("error", "warning"):
            self.complaints.append(data["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not data["request"]["url"].startswith(("file:", "data:")):
            self.requests.append(data["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def open(self, url):
        """Loads a page anew, also where only the part behind # differs."""
        for place in ("about:blank", url):
            self.loaded = False
            self.call("Page.navigate", url=place)
            while not self.loaded:
                self._note(self._read())

    def evaluate(self, expression):
        """The value of an expression in the page. An exception in it is raised here."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def hover(self, selector):
        """Moves the mouse to the middle of the element. Returns where that is."""
        x, y = self.evaluate(f"""(() => {{
            const element = document.querySelector({json.dumps(selector)});
            if (!element) throw Error("nothing is " + {json.dumps(selector)});
            element.scrollIntoView({{block: "center", inline: "center"}});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector):
        x, y = self.hover(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        """A key such as ArrowRight, Tab or End on whatever has the focus."""
        codes = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
