// Runs requests in the page's engine, WebAssembly in a worker that can be stopped at any time.
//
// The engine exports its memory and four functions:
//
//     engine_alloc(length)          where to write a request of this many bytes
//     engine_run(at, length)        runs it; may trap after it has stored an answer
//     engine_answer()               where the answer is, UTF-8
//     engine_answer_length()        its length in bytes
//
// A request and its answer are JSON; run.js makes the one, run-result.js and run-exercise.js read
// the other. The engine needs no imports; if it calls one, its run has failed.
(function () {
    "use strict";

    // The worker. It gets {engine: base64} or {engine: a compiled module} and then {request},
    // and sends {module} once and {answer, broken} or {failure} for each request.
    function work() {
        let engine = null;

        async function open(packed) {
            let module = packed;
            if (typeof packed === "string") {
                module = await WebAssembly.compile(await unpack(packed));
                postMessage({ module: module });
            }
            const imports = {};
            for (const { module: from, name } of WebAssembly.Module.imports(module)) {
                imports[from] = imports[from] || {};
                imports[from][name] = function () { throw new Error("the engine has called " + name); };
            }
            engine = (await WebAssembly.instantiate(module, imports)).exports;
            if (engine._initialize) engine._initialize();
        }

        function run(request) {
            const text = new TextEncoder().encode(JSON.stringify(request)), at = engine.engine_alloc(text.length);
            let trap = null;
            new Uint8Array(engine.memory.buffer, at, text.length).set(text);
            try {
                engine.engine_run(at, text.length);
            } catch (error) {
                trap = error;
            }
            const length = engine.engine_answer_length();
            if (!length) throw trap || new Error("the engine gave no answer");
            const bytes = new Uint8Array(engine.memory.buffer, engine.engine_answer(), length);
            postMessage({ answer: JSON.parse(new TextDecoder().decode(bytes)), broken: trap !== null });
        }

        let ready = null;
        onmessage = async function (event) {
            try {
                if (event.data.engine) ready = open(event.data.engine);
                await ready;
                if (event.data.request) run(event.data.request);
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
                if (got.broken || got.failure) end();
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
