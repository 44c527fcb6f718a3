// Proofs inside activities between the farm and a real Fedify server: each verifies what the other made.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { Farm, Folder, makeSutCertificates, showLines, Sut } from "./processes.mjs";

const PEERS = new URL("../../peers/", import.meta.url);

const folder = new Folder();
let farm, sut;

before(async () => {
  const certificates = makeSutCertificates(folder, "sut.test");
  const profiles = folder.file("peers");
  mkdirSync(profiles);
  writeFileSync(join(profiles, "proving.toml"), proving());
  farm = await Farm.start(folder, "--peers-dir", profiles, "--roster", "mastodon=1,misskey=1,lemmy=1,proving=1",
    "--actors", "1", "--trust", certificates.ca, "--resolve", "sut.test=127.0.0.1");
  sut = await Sut.start(folder, farm, certificates);
});
afterEach((t) => showLines(t, farm, sut));
after(async () => {
  await sut?.stop();
  await farm?.stop();
  folder.remove();
});

/** A Mastodon that puts `eddsa-jcs-2022` on everything besides, and publishes the key. */
function proving() {
  const multikey = `{"id": "{ed25519_key}", "type": "Multikey", "controller": "{actor}",
    "publicKeyMultibase": "{ed25519_multibase}"}`;
  const contexts = `"https://w3id.org/security/multikey/v1",
    {"assertionMethod": {"@id": "https://w3id.org/security#assertionMethod", "@type": "@id", "@container": "@set"}},`;
  const changes = [
    ['name = "mastodon"', 'name = "proving"'],
    ['key = "{actor}#main-key"\n', 'key = "{actor}#main-key"\ned25519_key = "{actor}#ed25519-key"\n'],
    ['"https://w3id.org/security/v1",', `"https://w3id.org/security/v1", ${contexts}`],
    ['  "tag": [],\n', `  "assertionMethod": [${multikey}],\n  "tag": [],\n`],
    ["[proofs.rsa_signature_2017]", '[proofs.eddsa_jcs_2022]\nmakes = "all"\n\n[proofs.rsa_signature_2017]'],
  ];
  return changes.reduce((profile, [from, to]) => {
    assert.ok(profile.includes(from), `the profile has no ${from}`);
    return profile.replace(from, to);
  }, readFileSync(new URL("mastodon.toml", PEERS), "utf8"));
}

/** Has alice of a peer send a note; what arrived. */
async function noteFrom(host, note) {
  const { notes, deliveries: [delivery] } = await farm.post(`/peers/${host}/actors/alice/send`, { to: sut.handle, note });
  assert.equal(delivery.status, 202, delivery.body);
  assert.equal(notes, undefined);
  const arrived = await sut.call("received", { type: "Create", content: note });
  assert.equal(arrived.verified, true);
  return arrived.body;
}

for (const [host, made] of [
  ["mastodon1.test", { signature: true, proof: false }],
  ["proving1.test", { signature: true, proof: true }],
  ["misskey1.test", { signature: false, proof: false }],
  ["lemmy1.test", { signature: false, proof: false }],
]) {
  test(`fedify verifies what ${host} puts into a note`, async () => {
    const create = await noteFrom(host, `a note from ${host}`);
    assert.deepEqual(await sut.call("prove", { document: create }), made);
    assert.deepEqual({ signature: "signature" in create, proof: "proof" in create }, made);

    const tampered = { ...create, object: { ...create.object, content: "another" } };
    assert.deepEqual(await sut.call("prove", { document: tampered }), { signature: false, proof: false });
  });
}

test("fedify verifies the proof alone, where the document has no signature besides", async () => {
  const { signature, ...create } = await noteFrom("proving1.test", "a proof alone");
  assert.ok(signature);
  assert.deepEqual(await sut.call("prove", { document: create }), { signature: false, proof: true });
});

for (const host of ["mastodon1.test", "misskey1.test", "lemmy1.test"]) {
  test(`${host} finds the signature and the proof of fedify valid`, async () => {
    await farm.post(`/peers/${host}/actors/alice/follow`, { target: sut.handle });
    await farm.get(`/wait?host=${host}&unique=1&timeout=20s`);
    await farm.post("/reset");
    await sut.call("post", { note: `to ${host}` });
    await farm.get(`/wait?host=${host}&unique=1&timeout=20s`);
    const { entries } = await farm.get(`/journal?host=${host}&kind=inbox`);
    const { proofs } = entries.find((entry) => entry.outcome === "accepted");
    const found = proofs.map(({ kind, result, reason }) => ({ kind, result, reason }));
    assert.deepEqual(found, [
      { kind: "eddsa-jcs-2022", result: "valid", reason: null },
      { kind: "RsaSignature2017", result: "valid", reason: null },
    ], JSON.stringify(proofs));
  });
}
