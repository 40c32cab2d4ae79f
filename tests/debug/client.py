"""A client of the Debug Adapter Protocol, and the terminal's sessions, for the tests beside it."""

import json
import pathlib
import socket
import subprocess


class Adapter:
    """`warpmat debug --dap` on pipes, or on a free port. `talk` has all messages in their order, without their numbers."""

    def __init__(self, command, *options, port=False):
        if port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                number = free.getsockname()[1]
            self.process = subprocess.Popen([command, "debug", "--port", str(number), *options], stderr=subprocess.PIPE, text=True)
            assert str(number) in self.process.stderr.readline()  # it listens
            with socket.create_connection(("127.0.0.1", number)) as connection:
                self.to, self.answers = connection.makefile("wb"), connection.makefile("rb")
        else:
            self.process = subprocess.Popen([command, "debug", "--dap", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            self.to, self.answers = self.process.stdin, self.process.stdout
        self.sent = 0
        self.events = []
        self.talk = []

    def send(self, command, **arguments):
        self.sent += 1
        message = {"seq": self.sent, "type": "request", "command": command, "arguments": arguments}
        self.write(message)
        self.talk.append(("request", command, arguments))
        return self.sent

    def write(self, message):
        body = json.dumps(message).encode()
        self.to.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.to.flush()

    def read(self):
        length = None
        while True:
            line = self.answers.readline()
            assert line, "the adapter has ended"
            if line == b"\r\n":
                break
            name, value = line.split(b":")
            assert name == b"Content-Length"
            length = int(value)
        message = json.loads(self.answers.read(length))
        self.talk.append((message["type"], message.get("command") or message.get("event"), message.get("body")))
        return message

    def request(self, command, **arguments):
        """The body of the answer; fails where it is an error."""
        answer = self.answer(command, **arguments)
        assert answer["success"], answer
        return answer.get("body")

    def answer(self, command, **arguments):
        number = self.send(command, **arguments)
        while True:
            message = self.read()
            if message["type"] == "response" and message["request_seq"] == number:
                return message
            self.events.append(message)

    def event(self, name):
        """The next event of that name."""
        while True:
            for i, message in enumerate(self.events):
                if message["event"] == name:
                    return self.events.pop(i)["body"]
            self.events.append(self.read())

    def inside(self, holder):
        """The variables within a scope or a variable, by name."""
        answer = self.request("variables", variablesReference=holder["variablesReference"])
        return {each["name"]: each for each in answer["variables"]}

    def scopes(self, thread):
        frame = self.request("stackTrace", threadId=thread)["stackFrames"][0]
        return {each["name"]: each for each in self.request("scopes", frameId=frame["id"])["scopes"]}

    def end(self):
        self.request("disconnect")
        self.to.close()
        assert self.process.wait(20) == 0


def session(command, words, commands, folder=None):
    """What `warpmat debug` says to some commands: its output, which must have no error."""
    script = [part for each in commands for part in ("-ex", each)]
    head = ["cuda"] if words[0] == "cuda" else []
    arguments = [command, "debug", "--batch", *script, *words] if head else [command, "debug", *words, "--batch", *script]
    run = subprocess.run(arguments, capture_output=True, text=True, cwd=folder, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def write_cases(source, folder, kernels):
    """The folders of planted bugs: KERNEL_N/launch.json."""
    run = pathlib.Path(source, "tests/planted/run")
    subprocess.run([run, "--cases", folder, *kernels], check=True, capture_output=True)
