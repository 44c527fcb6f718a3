// Starts and stops what the interoperation tests run against: the farm's binary on free ports, and the SUT.
// Names resolve through libnss-wrapper, so that the SUT is an unmodified Node process and /etc/hosts stays as it is.

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const HERE = import.meta.dirname;
const START_DEADLINE_MS = 120_000;
const ANSWER_DEADLINE_MS = 60_000;
/** How many of a process's last lines a failing test shows. */
const LINES_SHOWN = 40;

/** The binary under test: PEERFARM_BIN, else the newest build. */
export const BINARY = process.env.PEERFARM_BIN ?? newestBuild();

function newestBuild() {
  const target = process.env.CARGO_TARGET_DIR ?? join(HERE, "../../target");
  const built = ["release", "debug"].map((profile) => join(target, profile, "peerfarm")).filter(existsSync);
  if (built.length === 0) throw new Error(`no peerfarm below ${target}; hint: cargo build`);
  return built.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs)[0];
}

/** A folder for one test file's farm, keys and certificates; removed by `remove`. */
export class Folder {
  constructor() {
    this.path = mkdtempSync(join(tmpdir(), "peerfarm-interop-"));
  }
  file(name) {
    return join(this.path, name);
  }
  remove() {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The SUT's own little CA and a certificate of it for `host`. */
export function makeSutCertificates(folder, host) {
  const ca = { key: folder.file("sut-ca.key"), cert: folder.file("sut-ca.pem") };
  const leaf = { key: folder.file("sut.key"), cert: folder.file("sut.pem"), request: folder.file("sut.csr") };
  const extensions = folder.file("sut.ext");
  writeFileSync(extensions, `subjectAltName=DNS:${host}\nbasicConstraints=critical,CA:FALSE\nextendedKeyUsage=serverAuth\n`);
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...curve, "-keyout", ca.key, "-out", ca.cert, "-days", "2", "-subj", "/CN=the SUT's CA",
    "-addext", "keyUsage=critical,keyCertSign");
  openssl("req", ...curve, "-keyout", leaf.key, "-out", leaf.request, "-subj", `/CN=${host}`);
  openssl("x509", "-req", "-in", leaf.request, "-CA", ca.cert, "-CAkey", ca.key, "-set_serial", "1", "-days", "2",
    "-extfile", extensions, "-out", leaf.cert);
  return { ca: ca.cert, key: leaf.key, cert: leaf.cert };
}

function openssl(...words) {
  execFileSync("openssl", words, { stdio: ["ignore", "ignore", "pipe"] });
}

/** A child process that says on a line of its standard output that it is ready, and whose last lines are kept. */
class Process {
  constructor(command, words, options = {}) {
    this.lines = [];
    this.child = spawn(command, words, { stdio: ["pipe", "pipe", "pipe"], ...options });
    this.exited = new Promise((resolve) => {
      this.child.once("exit", resolve);
      this.child.once("error", (error) => {
        this.keep(`${command}: ${error.message}`);
        resolve();
      });
    });
    createInterface({ input: this.child.stderr }).on("line", (line) => this.keep(line));
    this.output = createInterface({ input: this.child.stdout });
    this.output.on("line", (line) => this.keep(line));
  }

  keep(line) {
    this.lines.push(line);
    if (this.lines.length > LINES_SHOWN) this.lines.shift();
  }

  /** What `read` makes of the first line for which it gives anything. */
  line(read) {
    return new Promise((resolve, reject) => {
      const fail = (why) => reject(new Error(`${this.child.spawnfile} ${why}:\n${this.lines.join("\n")}`));
      const timer = setTimeout(() => fail("was not ready in time"), START_DEADLINE_MS);
      this.exited.then(() => {
        clearTimeout(timer);
        fail("ended before it was ready");
      });
      this.output.on("line", (line) => {
        const found = read(line);
        if (found == null) return;
        clearTimeout(timer);
        resolve(found);
      });
    });
  }

  async stop(signal) {
    this.child.stdin.end();
    if (signal != null) this.child.kill(signal);
    await this.exited;
  }
}

/** A running farm. */
export class Farm {
  /** Starts one in `folder` on free ports, reading the addresses from its `ready` line. */
  static async start(folder, ...flags) {
    const state = folder.file("farm");
    const words = ["serve", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--state", state, ...flags];
    const running = new Process(BINARY, words);
    const farm = new Farm();
    farm.process = running;
    farm.ca = join(state, "ca.pem");
    const { federation, control } = await running.line(addressesOf);
    farm.port = Number(new URL(federation).port);
    farm.control = control;
    const { peers } = await farm.get("/peers");
    farm.hosts = peers.map((peer) => peer.host);
    return farm;
  }

  /** One peer as `GET /peers/{host}` lists it. */
  async peer(host) {
    const { peers: [peer] } = await this.get(`/peers/${host}`);
    return peer;
  }

  /** One of its actors. */
  async actor(host, name = "alice") {
    return (await this.peer(host)).actors.find((actor) => actor.name === name);
  }

  /** The counters of a host's paths, by path. */
  async paths(host) {
    const stats = await this.get("/stats");
    return stats.hosts[host]?.paths ?? {};
  }

  async get(path) {
    return await this.call("GET", path);
  }
  async post(path, body) {
    return await this.call("POST", path, body);
  }

  async call(method, path, body) {
    const response = await fetch(new URL(path, this.control), {
      method,
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  async stop() {
    await this.process.stop("SIGTERM");
  }
}

/** `{federation, control}` from a line such as `ready federation=https://127.0.0.1:7443 control=http://127.0.0.1:7400`. */
function addressesOf(line) {
  if (!/^ready\b/.test(line)) return null;
  return Object.fromEntries([...line.matchAll(/(\w+)=(\S+)/g)].map(([, name, url]) => [name, url]));
}

/** A running SUT and its test-only listener. */
export class Sut {
  /** Starts it so that it resolves the farm's names and trusts the farm's CA. */
  static async start(folder, farm, certificates, ...flags) {
    const hosts = folder.file("hosts");
    writeFileSync(hosts, [...farm.hosts, "sut.test"].map((host) => `127.0.0.1 ${host}\n`).join(""));
    const words = [join(HERE, "sut.mjs"), "--cert", certificates.cert, "--key", certificates.key, ...flags];
    const sut = new Sut();
    sut.process = new Process(process.execPath, words, {
      env: {
        PATH: process.env.PATH,
        LD_PRELOAD: "libnss_wrapper.so",
        NSS_WRAPPER_HOSTS: hosts,
        NODE_EXTRA_CA_CERTS: farm.ca,
      },
    });
    Object.assign(sut, await sut.process.line((line) => line.startsWith("{") ? JSON.parse(line) : null));
    return sut;
  }

  /** Carries out one of the SUT's test commands. */
  async call(command, body = {}) {
    const response = await fetch(`${this.test}/${command}`, {
      method: "POST",
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the SUT's ${command}: ${text}`);
    return JSON.parse(text);
  }

  async stop() {
    await this.process.stop();
  }
}

/** After a failed test, what the processes said since the last one that failed. */
export function showLines(t, ...processes) {
  if (t.passed) return;
  for (const { process } of processes.filter((each) => each?.process.lines.length > 0)) {
    t.diagnostic(`${process.child.spawnfile} said last:\n${process.lines.splice(0).join("\n")}`);
  }
}
