# SPDX-License-Identifier: MIT
"""A headless Chromium for tests of the HTML report, by the DevTools protocol over two pipes: nothing has to be installed
besides the browser, and no port is opened. https://chromedevtools.github.io/devtools-protocol/ describes the messages.
"""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The path of a Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One browser with one page. Use it with `with`."""

    def __init__(self, path, limit_s=120):
        self.folder = tempfile.TemporaryDirectory(prefix="syscost-report-browser.")
        to_browser, self.to = os.pipe()
        self.source, from_browser = os.pipe()
        self.deadline = time.monotonic() + limit_s
        self.number = 0
        self.bytes = b""
        self.events = []
        # The protocol asks for the descriptors 3 and 4. Both ends are moved out of their way first.
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (to_browser, from_browser)]
        os.close(to_browser)
        os.close(from_browser)
        command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
                   "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=self.folder.name),
                                        preexec_fn=lambda: [os.dup2(fd, number) for fd, number in zip(high, (3, 4))])
        for fd in high:
            os.close(fd)
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = None
        self.session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    session = None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        os.close(self.to)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.source)
        try:
            self.folder.cleanup()
        except OSError:
            pass  # a process of the browser may still write there

    def message(self):
        """The next message of the browser."""
        while b"\0" not in self.bytes:
            left = self.deadline - time.monotonic()
            if left <= 0 or not select.select([self.source], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.source, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self.bytes += more
        one, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(one)

    def send(self, method, **parameters):
        """Calls `method`, and returns its result. Events that come meanwhile are kept in `events`."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def wait_for(self, method):
        while True:
            for event in self.events:
                if event["method"] == method:
                    return event["params"]
            message = self.message()
            if "method" in message:
                self.events.append(message)

    def open(self, path):
        """Opens a file and waits until it is loaded."""
        self.events.clear()
        self.send("Page.navigate", url="about:blank")
        self.wait_for("Page.loadEventFired")
        self.events.clear()
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")

    def run(self, script):
        """The value of an expression; of a promise what it becomes."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    def click(self, element):
        """Clicks with the mouse on an element, an expression of JavaScript. It has to be in sight, and nothing before it."""
        place = self.run(f"""(() => {{
            const element = {element};
            const box = element.getClientRects()[0];
            const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
            const there = document.elementFromPoint(x, y);
            return {{x, y, isReachable: !!there && (there === element || element.contains(there))}};
        }})()""")
        if not place["isReachable"]:
            raise AssertionError(f"a person cannot click on {element}: {place}")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=place["x"], y=place["y"], button="left", clickCount=1)

    def key(self, key, text=None):
        """Presses and releases a key: `j`, `Enter`."""
        parameters = {"key": key, "code": key, "windowsVirtualKeyCode": {"Enter": 13, "Escape": 27}.get(key, 0)}
        if text is not None or len(key) == 1:
            parameters["text"] = text or key
        self.send("Input.dispatchKeyEvent", type="keyDown", **parameters)
        self.send("Input.dispatchKeyEvent", type="keyUp", **parameters)

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def scheme(self, name):
        """`light` or `dark`."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def scripting(self, is_on):
        self.send("Emulation.setScriptExecutionDisabled", value=not is_on)

    def screenshot(self, path, whole=False):
        parameters = {"captureBeyondViewport": whole}
        if whole:
            box = self.send("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {"x": 0, "y": 0, "width": box["width"], "height": min(box["height"], 12000), "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", **parameters)["data"]))

    def pdf(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]))

    def complaints(self):
        """What the browser logged as wrong since open(): errors of scripts, what the page's policy stopped."""
        found = [event["params"]["exceptionDetails"].get("exception", {}).get("description", "exception")
                 for event in self.events if event["method"] == "Runtime.exceptionThrown"]
        found += [event["params"]["entry"]["text"] for event in self.events if event["method"] == "Log.entryAdded"]
        found += [json.dumps(event["params"]["args"]) for event in self.events
                  if event["method"] == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning")]
        return found

    def requests(self):
        """The addresses that the page asked for since open(), but for itself."""
        urls = [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return urls[1:]
