// What a real Fedify server lets in of what is wrong on purpose. It is told nothing: each delivery comes as any other.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Farm, Folder, makeSutCertificates, showLines, Sut } from "./processes.mjs";

const SENDER = "misskey1.test";
const DIALECTS = ["cavage", "rfc9421"];
const NAMES = ["unsigned", "corrupt", "wrong-key", "bad-digest", "no-digest", "uncovered-digest", "stale", "future",
  "expired", "foreign-key-id", "foreign-owner", "replay", "foreign-actor", "foreign-object"];
/**
 * What Fedify 2.3.6 takes. In RFC 9421 it looks at a digest only where it is covered, and not at `expires`; a replay it
 * knows again by its id, and whose an object is it leaves to the listener.
 */
const TAKEN = {
  cavage: ["replay", "foreign-object"],
  rfc9421: ["no-digest", "uncovered-digest", "expired", "replay", "foreign-object"],
};

const folder = new Folder();
let farm, sut;

before(async () => {
  const certificates = makeSutCertificates(folder, "sut.test");
  farm = await Farm.start(folder, "--roster", "misskey=2", "--actors", "1", "--trust", certificates.ca,
    "--resolve", "sut.test=127.0.0.1");
  sut = await Sut.start(folder, farm, certificates);
});
afterEach((t) => showLines(t, farm, sut));
after(async () => {
  await sut?.stop();
  await farm?.stop();
  folder.remove();
});

/** Sends a note of that text; answers with what the farm tells. */
async function send(note, how) {
  return await farm.post(`/peers/${SENDER}/actors/alice/send`, { to: sut.handle, note, ...how });
}

for (const dialect of DIALECTS) {
  test(`fedify takes an honest note in ${dialect}`, async () => {
    const note = `honest in ${dialect}`;
    const { deliveries: [delivery] } = await send(note, { dialect });
    assert.equal(delivery.status, 202);
    const arrived = await sut.call("received", { type: "Create", content: note });
    assert.equal(arrived.verified, true, JSON.stringify(arrived));
    assert.equal(arrived.dialect, dialect);
  });

  for (const misbehave of NAMES) {
    const taken = TAKEN[dialect].includes(misbehave);
    test(`fedify ${taken ? "takes" : "refuses"} ${misbehave} in ${dialect}`, async () => {
      await (taken ? takes : refuses)(misbehave, dialect);
    });
  }
}

async function takes(misbehave, dialect) {
  const note = `${misbehave} in ${dialect}`;
  const sent = await send(note, { dialect, misbehave });
  assert.equal(sent.finding, true, JSON.stringify(sent.deliveries));
  const arrived = await sut.call("received", { type: "Create", content: note });
  assert.equal(arrived.verified, true, "a listener heard of it");
}

async function refuses(misbehave, dialect) {
  const note = `${misbehave} in ${dialect}`;
  const sent = await send(note, { dialect, misbehave });
  assert.deepEqual([sent.misbehaviour, sent.expected, sent.finding], [misbehave, "refused", false],
    JSON.stringify(sent.deliveries));
  const arrived = await sut.call("received", { type: "Create", content: note });
  assert.equal(arrived.verified, false, "no listener heard of it");
}
