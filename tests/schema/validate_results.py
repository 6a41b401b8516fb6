"""Checks a results folder against the JSON Schemas of results/schema, as strict JSON.

Usage: validate_results.py SCHEMA_FOLDER RESULTS_FOLDER. Exit 0: all is valid; 1: something is not;
77: the module jsonschema is missing.
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)


def refuse(token):
    raise ValueError(f"{token} is no JSON")


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"a member appears twice in {names}")
    return dict(pairs)


def strict(text):
    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


class Checker:
    def __init__(self, schemas):
        self.validators = {}
        for path in schemas.glob("*.schema.json"):
            schema = strict(path.read_text(encoding="utf-8"))
            jsonschema.Draft7Validator.check_schema(schema)
            name = path.name.removesuffix(".schema.json")
            self.validators[name] = jsonschema.Draft7Validator(schema)
        self.documents = 0
        self.faults = []

    def check(self, kind, text, place):
        self.documents += 1
        try:
            document = strict(text)
        except ValueError as error:
            self.faults.append(f"{place}: {error}")
            return None
        for error in self.validators[kind].iter_errors(document):
            where = "/".join(str(part) for part in error.absolute_path)
            self.faults.append(f"{place}: /{where}: {error.message[:200]}")
        return document

    def check_curve(self, path):
        curve = self.check("curve", path.read_text(encoding="utf-8"), path)
        for name in ("train", "test", "epochs"):
            lengths = {len(array) for array in curve[name].values()} if curve else {0}
            if len(lengths) != 1:
                self.faults.append(f"{path}: the arrays of {name} have lengths {sorted(lengths)}")
        if curve and "diagnostics" in curve:
            self.check_diagnostics(curve["diagnostics"], path)
        if curve:
            for entry in curve["nonfinite"]:
                if curve[entry["series"]][entry["field"]][entry["index"]] is not None:
                    self.faults.append(f"{path}: {entry} is not null")

    def check_diagnostics(self, diagnostics, path):
        for name in ("norms", "layers"):
            layers = len(diagnostics[name]["layer"])
            for quantity, steps in diagnostics[name].items():
                if quantity == "layer":
                    continue
                if [len(step) for step in steps] != [layers] * len(diagnostics["step"]):
                    self.faults.append(f"{path}: {quantity} is not a number per step and layer")

    def check_folder(self, folder):
        self.check("sweep", (folder / "sweep.json").read_text(encoding="utf-8"), "sweep.json")
        for cell in sorted((folder / "cells").iterdir()):
            self.check("cell", (cell / "cell.json").read_text(encoding="utf-8"), cell)
            if (cell / "curve.json").exists():
                self.check_curve(cell / "curve.json")
            if (cell / "curve.jsonl").exists():
                lines = (cell / "curve.jsonl").read_text(encoding="utf-8").splitlines()
                for number, line in enumerate(lines, 1):
                    self.check("curve-line", line, f"{cell}/curve.jsonl:{number}")


def main():
    checker = Checker(pathlib.Path(sys.argv[1]))
    checker.check_folder(pathlib.Path(sys.argv[2]))
    for fault in checker.faults:
        print(fault)
    print(f"{checker.documents} documents, {len(checker.faults)} faults")
    return 1 if checker.faults else 0


sys.exit(main())
