// A real Fedify server against the farm: each finds, follows, writes to and leaves the other, and what either
// verified is held against what the other sent. The farm's counters are part of what is tested.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Farm, Folder, makeSutCertificates, showLines, Sut } from "./processes.mjs";

const PEERS = ["mastodon1.test", "misskey1.test", "lemmy1.test"];
const READS_RFC9421 = ["mastodon1.test"];

const folder = new Folder();
let farm, sut;
/** The id of the persona's Follow of alice, by host. */
const follows = {};

before(async () => {
  const certificates = makeSutCertificates(folder, "sut.test");
  farm = await Farm.start(folder, "--roster", "mastodon=2,misskey=1,lemmy=1", "--actors", "2",
    "--trust", certificates.ca, "--resolve", "sut.test=127.0.0.1");
  sut = await Sut.start(folder, farm, certificates);
});
afterEach((t) => showLines(t, farm, sut));
after(async () => {
  await sut?.stop();
  await farm?.stop();
  folder.remove();
});

/** How alice of a peer is called, with the port. */
const handleOf = (host) => `@alice@${host}:${farm.port}`;

for (const host of PEERS) {
  test(`fedify finds alice of ${host} by handle and by url`, async () => {
    const listed = await farm.actor(host);
    for (const what of [handleOf(host), listed.id]) {
      const found = await sut.call("lookup", { what });
      assert.ok(found, `${what} leads nowhere`);
      assert.equal(found.id, listed.id);
      assert.equal(found.inbox, listed.inbox);
      assert.equal(found.name, "alice");
      assert.equal(new URL(found.id).host, `${host}:${farm.port}`);
      assert.ok(["Person", "Group"].includes(found.type), found.type);
      assert.equal(found.key.owner, listed.id);
      assert.equal(found.key.usable, true);
    }
  });

  test(`fedify follows alice of ${host} and verifies the accept`, async () => {
    const alice = await farm.actor(host);
    assert.equal(alice.followers, 0);
    const { id } = await sut.call("follow", { target: handleOf(host) });
    follows[host] = id;

    const accept = await sut.call("received", { type: "Accept", actor: alice.id });
    assertVerifiedByHttpSignature(accept);
    assert.equal(accept.body.object?.id ?? accept.body.object, id);
    assert.equal((await farm.actor(host)).followers, 1);
    assert.ok((await sut.call("state")).following.includes(alice.id));
  });

  const refused = READS_RFC9421.includes(host) ? 0 : 1;
  test(`fedify's first knock at ${host}, in RFC 9421, is ${refused ? "refused, the second " : ""}accepted`, async () => {
    const { inbox } = await farm.actor(host);
    const counted = (await farm.paths(host))[new URL(inbox).pathname];
    assertCounts(counted, { requests: 1 + refused, accepted: 1, refused, unique: 1, duplicates: 0 });
    // The verdict is the specification's, also of what the software does not read.
    assert.equal(counted.verdicts.valid, 1 + refused);
  });

  test(`alice of ${host} follows the persona, who accepts`, async () => {
    const answer = await farm.post(`/peers/${host}/actors/alice/follow`, { target: sut.handle });
    const alice = await farm.actor(host);
    const follow = await sut.call("received", { type: "Follow", actor: alice.id });
    assertVerifiedByHttpSignature(follow);
    assert.ok((await sut.call("state")).followers.includes(alice.id), JSON.stringify(answer));
    assert.equal(alice.following, 1);
  });
}

test("a post reaches each followed peer once", async () => {
  await farm.post("/reset");
  const { id } = await sut.call("post", { note: "to all who follow" });
  const stats = await farm.get("/wait?kind=inbox&unique=3&timeout=20s");
  assertCounts(stats.totals, { requests: 3, accepted: 3, refused: 0, faulted: 0, aborted: 0, unique: 3, duplicates: 0 });
  assert.deepEqual(stats.totals.verdicts, { valid: 3, invalid: 0, unsigned: 0 });
  for (const host of PEERS) {
    const paths = Object.entries(await farm.paths(host)).filter(([, counted]) => counted.requests > 0);
    assert.equal(paths.length, 1, `${host}: ${JSON.stringify(paths)}`);
    assertCounts(paths[0][1], { requests: 1, accepted: 1, unique: 1, duplicates: 0 });
  }
  const { entries } = await farm.get("/journal?kind=inbox");
  assert.deepEqual(entries.map((entry) => entry.delivery_id), [id, id, id]);
  assert.deepEqual(entries.map((entry) => entry.activity), ["Create", "Create", "Create"]);
});

test("followers of one peer share one delivery", async () => {
  const host = "mastodon2.test";
  for (const name of ["alice", "bob"]) {
    await farm.post(`/peers/${host}/actors/${name}/follow`, { target: sut.handle });
  }
  await farm.post("/reset");
  await sut.call("post", { note: "through the shared inbox" });
  await farm.get(`/wait?host=${host}&unique=1&timeout=20s`);
  const paths = await farm.paths(host);
  const shared = new URL((await farm.peer(host)).shared_inbox).pathname;
  assertCounts(paths[shared], { requests: 1, accepted: 1, unique: 1, duplicates: 0 });
  assert.equal(Object.values(paths).reduce((sum, counted) => sum + counted.requests, 0), 1);
});

for (const host of PEERS) {
  test(`a note from alice of ${host} arrives verified`, async () => {
    const note = `a note from ${host}`;
    await farm.post(`/peers/${host}/actors/alice/send`, { to: sut.handle, note });
    const create = await sut.call("received", { type: "Create", content: note });
    // Mastodon signs a public activity itself, too; proofs.test.mjs looks at that.
    if (host.startsWith("mastodon")) assert.equal(create.verified, true, `${create.status} ${create.answer}`);
    else assertVerifiedByHttpSignature(create);
    const alice = await farm.actor(host);
    assert.equal(create.body.actor, alice.id);
    assert.equal(create.body.object.attributedTo, alice.id);
    const found = await sut.call("lookup", { what: create.body.object.id });
    assert.ok(found?.content.includes(note), "the note can be fetched at its id");
  });

  test(`an undo takes the persona off the followers of ${host}`, async () => {
    assert.equal((await farm.actor(host)).followers, 1);
    await sut.call("unfollow", { id: follows[host] });
    assert.equal((await farm.actor(host)).followers, 0);
  });

  test(`alice of ${host} unfollows the persona`, async () => {
    const { id } = await farm.actor(host);
    await farm.post(`/peers/${host}/actors/alice/unfollow`, { target: sut.handle });
    assertVerifiedByHttpSignature(await sut.call("received", { type: "Undo", actor: id }));
    assert.ok(!(await sut.call("state")).followers.includes(id));
    assert.equal((await farm.actor(host)).following, 0);
  });
}

for (const [spoil, verdict, reason] of [
  ["unsigned", "unsigned", null],
  ["body", "invalid", "digest_mismatch"],
  ["date", "invalid", "signature_mismatch"],
]) {
  test(`a post spoilt by ${spoil} is answered 401 and counted as ${verdict}`, async () => {
    await farm.post("/reset");
    const { inbox } = await farm.actor("mastodon1.test");
    const { status, id } = await sut.call("forge", { inbox, spoil });
    assert.equal(status, 401);

    const counted = (await farm.paths("mastodon1.test"))[new URL(inbox).pathname];
    assertCounts(counted, { requests: 1, accepted: 0, refused: 1, unique: 0 });
    assert.deepEqual(counted.verdicts, { valid: 0, invalid: 0, unsigned: 0, [verdict]: 1 });
    assert.deepEqual(counted.status, { 401: 1 });

    const { entries } = await farm.get("/journal?host=mastodon1.test&kind=inbox");
    assert.equal(entries.length, 1);
    assert.equal(entries[0].delivery_id, id);
    assert.equal(entries[0].verdict.result, verdict);
    assert.equal(entries[0].verdict.reason ?? null, reason);
  });
}

test("the same request unspoilt is accepted", async () => {
  await farm.post("/reset");
  const { inbox } = await farm.actor("mastodon1.test");
  const { status } = await sut.call("forge", { inbox, spoil: "nothing" });
  assert.equal(status, 202);
  assertCounts((await farm.paths("mastodon1.test"))[new URL(inbox).pathname], { requests: 1, accepted: 1, unique: 1 });
});

/** Fedify takes a document's own signature or proof instead of the request's, so that there must be none. */
function assertVerifiedByHttpSignature(entry) {
  assert.equal(entry.verified, true, `${entry.status} ${entry.answer}`);
  assert.equal(entry.dialect, "cavage");
  assert.ok(!("signature" in entry.body) && !("proof" in entry.body), "verified by the document, not by the request");
}

function assertCounts(counted, expected) {
  assert.ok(counted, "nothing was counted there");
  const found = Object.fromEntries(Object.keys(expected).map((key) => [key, counted[key]]));
  assert.deepEqual(found, expected);
}
