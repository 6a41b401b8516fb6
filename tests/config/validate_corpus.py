"""Checks a JSON Schema with the module jsonschema against tests/config/corpus.

Usage: validate_corpus.py SCHEMA CORPUS. Every file of valid/ must pass and every file of invalid/
must fail; reader_only/ holds what no schema can see. Exit 77 where the module is missing.
"""
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)


def main() -> int:
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    wrong = 0
    for folder, expected in (("valid", True), ("invalid", False)):
        for path in sorted((pathlib.Path(sys.argv[2]) / folder).glob("*.json")):
            errors = list(validator.iter_errors(json.loads(path.read_text(encoding="utf-8"))))
            if (not errors) != expected:
                wrong += 1
                print(f"{path}: the schema {'accepts' if not errors else 'refuses'} it", *errors)
    return 1 if wrong else 0


sys.exit(main())
