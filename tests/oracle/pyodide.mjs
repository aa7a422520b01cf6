// Runs a program in the CPython of an npm package `pyodide`, with the files of this machine under /host:
//     node pyodide.mjs PACKAGE -c CODE
//     node pyodide.mjs PACKAGE /host/PROGRAM.py ARGUMENT...
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...argv] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(path.join(folder, "pyodide.mjs")));
const python = await loadPyodide({ indexURL: folder });
const input = fs.openSync("/dev/stdin"); // blocks; descriptor 0 does not, and would be asked again and again
python.setStdin({ read: (buffer) => fs.readSync(input, buffer), isatty: false });
python.setStdout({ write: (buffer) => fs.writeSync(1, buffer), isatty: false });
python.setStderr({ write: (buffer) => fs.writeSync(2, buffer), isatty: false });
python.FS.mkdirTree("/host");
python.mountNodeFS("/host", "/");
python.globals.set("argv", python.toPy(argv));
python.runPython(`
import os, runpy, sys
if argv[0] == "-c":
    exec(argv[1], {"__name__": "__main__"})
else:
    sys.argv[:] = argv
    sys.path.insert(0, os.path.dirname(argv[0]))
    runpy.run_path(argv[0], run_name="__main__")
sys.stdout.flush()
`);
