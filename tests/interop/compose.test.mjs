// Holds the compose file against the farm: it is YAML, it names every host the farm answers to, and its settings are
// flags that `serve` has.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { parse } from "yaml";

import { BINARY } from "./processes.mjs";

const { services, networks, volumes } = parse(readFileSync(join(import.meta.dirname, "../../compose/farm.yml"), "utf8"));
const peerfarm = (...words) => execFileSync(BINARY, words, { encoding: "utf8" });

test("every host of the default roster is an alias", () => {
  assert.deepEqual(services.farm.networks.fediverse.aliases, parse(peerfarm("hosts", "--compose")));
  assert.ok("fediverse" in networks);
});

test("every setting is a flag of serve", () => {
  const help = peerfarm("serve", "--help");
  for (const name of Object.keys(services.farm.environment)) {
    const flag = name.replace("PEERFARM_", "--").toLowerCase().replaceAll("_", "-");
    assert.match(help, new RegExp(`${flag}\\b`), name);
  }
});

test("the volume of the state is declared", () => {
  const [volume, path] = services.farm.volumes[0].split(":");
  assert.ok(volume in volumes);
  assert.equal(path, services.farm.environment.PEERFARM_STATE);
});

test("the health check is a command that the farm has", () => {
  const [how, binary, ...words] = services.farm.healthcheck.test;
  assert.deepEqual([how, binary], ["CMD", "/peerfarm"]);
  assert.match(peerfarm(...words, "--help"), /--farm/);
});
