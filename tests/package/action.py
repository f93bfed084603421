"""Runs the steps of a composite action, as the runner of GitHub does.

usage: action.py ACTION_DIRECTORY ACTION_JSON [INPUT=VALUE]...

ACTION_JSON is the action.yml of the directory as JSON, which is read in a third
of the time. The log goes to standard output, the outputs of the action to
./outputs, a line each, the summaries of all steps to ./summary, and what they
add to PATH to ./path. Exits with 1 if a step has failed, and with 2 at anything
that it does not know, so that the action has nothing which is not tested.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = {"name", "description", "branding", "inputs", "outputs", "runs"}
STEP = {"id", "if", "shell", "run", "env", "continue-on-error"}
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")
SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"]}


def refuse(text):
    print("action.py:", text, file=sys.stderr)
    sys.exit(2)


def known(mapping, names, where):
    for name in mapping:
        if name not in names:
            refuse(f"{where}: unknown key {name}")


class Job:
    def __init__(self, directory, path, inputs):
        self.directory = directory
        with open(path) as file:
            self.action = json.load(file)
        known(self.action, ROOT, "action")
        known(self.action["runs"], {"using", "steps"}, "runs")
        if self.action["runs"]["using"] != "composite":
            refuse("not a composite action")
        for name, declared in self.action["inputs"].items():
            known(declared, {"description", "required"}, name)
        known(inputs, self.action["inputs"], "inputs")
        self.inputs = {name: "" for name in self.action["inputs"]} | inputs
        self.outputs = {}  # of each step, by its id
        self.failed = False

    def value(self, expression):
        match = re.fullmatch(r"inputs\.([\w-]+)( == 'true')?", expression)
        if match and match[1] in self.inputs:
            value = self.inputs[match[1]]
            return str(value.lower() == "true").lower() if match[2] else value
        match = re.fullmatch(r"steps\.(\w+)\.outputs\.(\w+)", expression)
        if match:
            return self.outputs.get(match[1], {}).get(match[2], "")
        return refuse(f"unknown expression {expression}")

    def filled(self, text):
        """What has been filled in is not looked at again."""
        return EXPRESSION.sub(lambda match: self.value(match[1]), text)

    def step(self, step, scratch):
        known(step, STEP, "step")
        if EXPRESSION.search(step["run"]):
            refuse("a line of run contains an expression")
        script = os.path.join(scratch, "script.sh")
        with open(script, "w") as file:
            file.write(step["run"])
        files = {}
        for name in ("OUTPUT", "ENV", "STEP_SUMMARY", "PATH"):
            files["GITHUB_" + name] = os.path.join(scratch, name)
            open(files["GITHUB_" + name], "w").close()
        env = {name: self.filled(value) for name, value in step.get("env", {}).items()}
        status = subprocess.call(
            SHELLS[step["shell"]] + [script],
            env=os.environ | {"GITHUB_ACTION_PATH": self.directory} | env | files,
        )
        outputs = self.outputs[step["id"]] = {}
        with open(files["GITHUB_OUTPUT"]) as file:
            for line in file:
                match = re.fullmatch(r"([\w-]+)=(.*)\n", line)
                if not match:
                    refuse(f"not an output: {line}")
                outputs[match[1]] = match[2]
        for name, target in (("STEP_SUMMARY", "summary"), ("PATH", "path")):
            with open(files["GITHUB_" + name]) as file, open(target, "a") as to:
                to.write(file.read())
        if status != 0:
            print(f"::error::Process completed with exit code {status % 256}.")
            if self.filled(str(step.get("continue-on-error", "false"))) != "true":
                self.failed = True

    def run(self):
        for step in self.action["runs"]["steps"]:
            if step.get("if", "success()") not in ("success()", "always()"):
                refuse("unknown condition " + step["if"])
            if not self.failed or step.get("if") == "always()":
                with tempfile.TemporaryDirectory() as scratch:
                    self.step(step, scratch)
                    sys.stdout.flush()
        with open("outputs", "w") as file:
            for name, output in self.action["outputs"].items():
                known(output, {"description", "value"}, name)
                file.write(f"{name}={self.filled(output['value'])}\n")
        return 1 if self.failed else 0


for path in ("summary", "path"):
    open(path, "w").close()
inputs = dict(word.split("=", 1) for word in sys.argv[3:])
sys.exit(Job(sys.argv[1], sys.argv[2], inputs).run())
