// Runs requests in the page's engine, WebAssembly in a worker that can be stopped at any time.
//
// The engine exports its memory and four functions:
//
//     engine_alloc(bytes)           where to write a request of this many bytes
//     engine_answer(at, bytes)      answers it; may trap after it has stored a result
//     engine_result()               where the result is, UTF-8
//     engine_result_bytes()         its length
//
// A request and its result are JSON. run.js makes requests:
//
//     {"files": [{"name", "line", "text"}..],      the program in pieces; the reader's is "listing"
//      "stage": "block_sum_strided", "n": 100000, "block": 256, "check", "trace", "banks": true}
//     {"files": [..], "exercise": true, "solution": [..] if a requirement refers to it,
//      "demands": [{"text": "wrong == 0", "hints": [{"hint": 1, "if": "races > 0"}..], "words"}..]}
//
// Every result has "error": null or {"file", "line", "column", "message"}, and "hazards":
// [{"kind", "file", "line", "text", "advice", "count", "other": {"file", "line"} or null}..].
// A stage's result also has
//
//     "answer": "right", "wrong" or null, "said": "The sum is ..", "milliseconds",
//     "launches": [{"grid": [x, y, z], "block": [x, y, z], "shared_bytes": dynamic,
//                  "static_shared_bytes"}..],
//     "counters": {"shared_ld_conflicts": 0, ..}   of the stage's kernel, as in simt --csv
//     "banks": {"file", "line", "wavefronts", "lanes": [bank or -1, 32 of them], "words": [32]}
//                                                  of the worst access, null if none has conflicts
//     "steps": "0,5,store,ffffffff,0+1x32,..\n.."  rows of collect/steps.h, or null, and "no_steps":
//                                                  the reason
//
// and that of an exercise
//
//     "demands": [{"verdict": "holds", "fails", "unknown" or "time", "left": "64",
//                  "relation": "<=", "right": "8", "evidence": [{"file", "line", "text"}..]}..]
//     "hint": 1, or 0                              for the first requirement that fails
//     "stopped": why a kernel was stopped, "FILE:LINE: .." if the place is known, or null
//
// A run that ends early has an error too: without a line, the message may begin with one, as in
// "listing:6: global load ..", and an error of a launch that has executed nothing is the launch's.
// No result at all means that there was no memory for one.
//
// Each run has a new instance, so it does not matter how the last one ended.
(function () {
    "use strict";

    // The worker. It gets {engine: base64} or {engine: a compiled module} and then {request},
    // and sends {module} once and {answer} or {failure} for each request.
    function work() {
        const BAD_FILE = 8, NANOSECONDS = 1e6;
        const NO_MEMORY = "This needs more than 512 MB of memory. Use a smaller size, or less memory in the kernel.";
        const TOO_DEEP = "This is nested too deeply. Split it into smaller parts.";
        let module = null, memory = null;

        async function compile(packed) {
            if (typeof packed !== "string") return packed;
            const compiled = await WebAssembly.compile(await unpack(packed));
            postMessage({ module: compiled });
            return compiled;
        }

        // What the engine's C library calls: there is a clock, and no files.
        const host = {
            clock_time_get: function (clock, precision, at) {
                new DataView(memory.buffer).setBigUint64(at, BigInt(Math.round(performance.now() * NANOSECONDS)), true);
                return 0;
            },
            proc_exit: function (status) { throw new Error("the engine ended with status " + status); },
        };

        async function open() {
            const imports = {};
            for (const { module: from, name } of WebAssembly.Module.imports(await module)) {
                imports[from] = imports[from] || {};
                imports[from][name] = host[name] || function () { return BAD_FILE; };
            }
            const engine = (await WebAssembly.instantiate(await module, imports)).exports;
            memory = engine.memory;
            if (engine._initialize) engine._initialize();
            return engine;
        }

        function answer(engine, request) {
            const text = new TextEncoder().encode(JSON.stringify(request)), at = engine.engine_alloc(text.length);
            let trap = null;
            if (!at) throw new Error("there is no memory");
            new Uint8Array(memory.buffer, at, text.length).set(text);
            try {
                engine.engine_answer(at, text.length);
            } catch (error) {
                trap = error;
            }
            const length = engine.engine_result_bytes();
            if (!length) return { error: { file: "", line: 0, column: 0, message: trap instanceof RangeError ? TOO_DEEP : NO_MEMORY } };
            return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, engine.engine_result(), length)));
        }

        onmessage = async function (event) {
            try {
                if (event.data.engine) {
                    module = compile(event.data.engine);
                    module.catch(function () { return; }); // the request that waits for it reports the failure
                }
                if (event.data.request) postMessage({ answer: answer(await open(), event.data.request) });
            } catch (error) {
                postMessage({ failure: String(error.message || error) });
            }
        };
    }

    let worker = null, module = null, busy = null;

    function end() {
        if (worker) worker.terminate();
        worker = null;
        busy = null;
    }

    function start() {
        const source = "const unpack = " + pageRun.unpack + ";\n(" + work + ")();";
        const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
        worker = new Worker(url);
        URL.revokeObjectURL(url);
        worker.postMessage({ engine: module || document.getElementById("run-engine").textContent });
    }

    // Runs a request: {answer}, {failure: "why"} or, if stop() ended it, {stopped: true}. A request
    // that is still running is stopped first.
    pageRun.run = function (request) {
        pageRun.stop();
        return new Promise(function (resolve) {
            busy = resolve;
            if (!worker) start();
            worker.onerror = function (event) {
                end();
                resolve({ failure: event.message || "the worker did not start" });
            };
            worker.onmessage = function (event) {
                const got = event.data;
                if (got.module) {
                    module = got.module;
                    return;
                }
                if (got.failure) end();
                busy = null;
                resolve(got);
            };
            worker.postMessage({ request: request });
        });
    };

    pageRun.stop = function () {
        const stopped = busy;
        if (!stopped) return;
        end();
        stopped({ stopped: true });
    };
})();
