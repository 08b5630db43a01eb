// engine.mjs WASM: makes runs of the page's engine, one in a new instance for each line of standard
// input, "COMMANDS PTX RESULT": the names of two files to read and of one to write. A run that traps
// has its result, too.
import { readFileSync, writeFileSync } from "fs";

const BAD_FILE = 8; // of WASI: the engine has no files
const module = await WebAssembly.compile(readFileSync(process.argv[2]));

async function instantiate() {
    let memory;
    const given = {
        clock_time_get(id, precision, at) {
            new DataView(memory.buffer).setBigUint64(at, process.hrtime.bigint(), true);
            return 0;
        },
        proc_exit(status) { throw new Error("exit " + status); },
    };
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module))
        (imports[from] ||= {})[name] = given[name] || (() => BAD_FILE);
    const { exports } = await WebAssembly.instantiate(module, imports);
    memory = exports.memory;
    exports._initialize();
    return exports;
}

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const names = line.split(" "), result = names.pop();
    const engine = await instantiate();
    const give = function (file) {
        const bytes = readFileSync(file), at = engine.engine_alloc(bytes.length);
        new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
        return [at, bytes.length];
    };
    const begin = performance.now();
    let trap = "";
    try {
        (names.length === 1 ? engine.engine_answer : engine.engine_run)(...names.flatMap(give));
    } catch (error) {
        trap = " " + error.message;
    }
    const text = Buffer.from(engine.memory.buffer, engine.engine_result(), engine.engine_result_bytes());
    writeFileSync(result, text);
    console.log(Math.round(performance.now() - begin) + " ms, " + (engine.memory.buffer.byteLength >> 20) + " MB" + trap);
}
