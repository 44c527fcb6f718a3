// Both dialects of HTTP signatures over TLS, either way round: a Fedify that knocks in RFC 9421 first and one that
// knocks in draft-cavage first, each against peers that read both, one or the other. What one side signed, the other
// side's record says it verified. A third Fedify gives the persona's document for a signed GET alone.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { Farm, Folder, makeSutCertificates, showLines, Sut } from "./processes.mjs";

const FIRST_KNOCKS = { rfc9421: "rfc9421", cavage: "draft-cavage-http-signatures-12" };
/** What the peers read, and in what they knock first. */
const PEERS = {
  "mastodon1.test": { reads: ["cavage", "rfc9421"], signs: "cavage" },
  "misskey1.test": { reads: ["cavage"], signs: "cavage" },
  "lemmy1.test": { reads: ["cavage"], signs: "cavage" },
  "modern1.test": { reads: ["rfc9421"], signs: "rfc9421" },
};
/** Whose documents want a signed GET. */
const GUARDED = { "mastodon2.test": ["cavage", "rfc9421"], "misskey2.test": ["cavage"], "modern2.test": ["rfc9421"] };
/** What `asking1.test` asks of whoever it refuses. Fedify adds the digest by itself. */
const ASKED = 'farm=("@method" "@target-uri" "@authority" "content-type");created;nonce="n-7";tag="t-7"';
/** What `demanding1.test` asks, which Fedify 2.3.6 answers with two digests. */
const DEMANDED = 'farm=("@method" "@target-uri" "content-digest");created';

const folder = new Folder();
const suts = {};
let farm;

before(async () => {
  const certificates = makeSutCertificates(folder, "sut.test");
  farm = await Farm.start(folder, "--roster", "mastodon=2,misskey=2,lemmy=1,modern=2,asking=1,demanding=1", "--actors", "1",
    "--peers-dir", profiles(), "--authorized-fetch", "*2.test", "--trust", certificates.ca,
    "--resolve", "sut.test=127.0.0.1");
  for (const [first, spec] of Object.entries(FIRST_KNOCKS)) {
    suts[first] = await Sut.start(folder, farm, certificates, "--first-knock", spec);
  }
  suts.guarded = await Sut.start(folder, farm, certificates, "--authorized-fetch");
});
afterEach((t) => showLines(t, farm, ...Object.values(suts)));
after(async () => {
  for (const sut of Object.values(suts)) await sut.stop();
  await farm?.stop();
  folder.remove();
});

/** Softwares that no release is like: one of RFC 9421 alone, and two that say besides what they want signed. */
function profiles() {
  const mastodon = readFileSync(join(import.meta.dirname, "../../peers/mastodon.toml"), "utf8");
  const cavage = mastodon.slice(mastodon.indexOf("[verifying.cavage]"), mastodon.indexOf("[verifying.rfc9421]"));
  const modern = replaced(replaced(replaced(mastodon, 'name = "mastodon"', 'name = "modern"'), cavage, ""),
    'dialects = ["cavage", "rfc9421"]', 'dialects = ["rfc9421", "cavage"]');
  const which = (name, asked) => replaced(replaced(modern, 'name = "modern"', `name = "${name}"`),
    "[verifying.rfc9421]", `[verifying.rfc9421]\naccept_signature = '${asked}'`);
  const asking = replaced(which("asking", ASKED), 'requires_post = ["@method", "@target-uri", "content-digest"]',
    'requires_post = ["@method", "@target-uri", "content-digest", "content-type"]');
  const path = folder.file("profiles");
  mkdirSync(path);
  const written = { modern, asking, demanding: which("demanding", DEMANDED) };
  for (const [name, profile] of Object.entries(written)) writeFileSync(join(path, `${name}.toml`), profile);
  return path;
}

function replaced(text, from, to) {
  assert.ok(text.includes(from), `${from} is not there`);
  return text.replace(from, () => to);
}

/** What the journal says of requests of that kind since the last reset, in short, the oldest first. */
async function seen(host, kind) {
  const { entries } = await farm.get(`/journal?host=${host}&kind=${kind}`);
  return entries.toReversed().map(({ status, outcome, verdict, notes = [] }) => ({
    verdict: [verdict.result, verdict.dialect, verdict.algorithm],
    status,
    outcome,
    // Behind the reason, where a refusal has one, stand its words.
    notes: notes.slice(0, 1),
  }));
}

const valid = (dialect) => ["valid", dialect, "rsa-v1_5-sha256"];
const refused = (dialect) => ({
  verdict: valid(dialect),
  status: 401,
  outcome: "refused",
  notes: ["refused: unsupported_dialect"],
});
const other = (dialect) => dialect === "cavage" ? "rfc9421" : "cavage";

for (const first of Object.keys(FIRST_KNOCKS)) {
  for (const [host, { reads, signs }] of Object.entries(PEERS)) {
    test(`${host} verifies fedify that knocks in ${first} first, and is verified`, async () => {
      const sut = suts[first];
      await farm.post("/reset");
      const alice = await farm.actor(host);
      const { id } = await sut.call("follow", { target: alice.id });
      await farm.get(`/wait?host=${host}&kind=inbox&unique=1&timeout=20s`);

      const taken = { outcome: "accepted", status: host.startsWith("lemmy") ? 200 : 202, notes: [] };
      const expected = reads.includes(first)
        ? [{ verdict: valid(first), ...taken }]
        : [refused(first), { verdict: valid(other(first)), ...taken }];
      assert.deepEqual(await seen(host, "inbox"), expected);

      const accept = await sut.call("received", { type: "Accept", actor: alice.id });
      assertVerified(accept, signs);
      assert.equal(accept.body.object?.id ?? accept.body.object, id);
      assert.ok((await sut.call("state")).following.includes(alice.id));
    });
  }

  for (const [host, reads] of Object.entries(GUARDED)) {
    test(`a guarded document of ${host} is given to fedify that knocks in ${first} first`, async () => {
      await farm.post("/reset");
      const alice = await farm.actor(host);
      assert.equal((await suts[first].call("fetch", { url: alice.id })).id, alice.id);
      const found = await seen(host, "actor");
      const knocks = reads.includes(first) ? [[first, 200]] : [[first, 401], [other(first), 200]];
      assert.deepEqual(found.map(({ verdict, status }) => ({ verdict, status })),
        knocks.map(([dialect, status]) => ({ verdict: valid(dialect), status })));
    });
  }
}

for (const dialect of ["cavage", "rfc9421"]) {
  for (const host of Object.keys(PEERS)) {
    test(`fedify verifies a follow and a note from ${host} in ${dialect}`, async () => {
      const sut = suts.rfc9421;
      const { id } = await farm.actor(host);
      const command = async (deed, body) => {
        const { deliveries } = await farm.post(`/peers/${host}/actors/alice/${deed}`, { ...body, dialect });
        assert.deepEqual(deliveries.map(({ status, dialect }) => [status, dialect]), [[202, dialect]]);
        const { received, followers } = await sut.call("state");
        assertVerified(received.findLast(({ body }) => body.actor === id), dialect);
        return followers;
      };
      assert.ok((await command("follow", { target: sut.handle })).includes(id));
      // To one alone: what is public Mastodon signs itself besides, and Fedify then asks for no other signature.
      const object = { type: "Note", attributedTo: id, content: `from ${host} in ${dialect}` };
      await command("send", { to: sut.handle, activity: { type: "Create", to: `${sut.url}/users/persona`, object } });
      assert.ok(!(await command("unfollow", { target: sut.handle })).includes(id));
    });
  }
}

test("fedify gives a guarded document to who signs in either dialect, and not unsigned", async () => {
  const { handle } = suts.guarded;
  for (const host of ["mastodon1.test", "misskey1.test", "modern1.test"]) {
    await farm.post(`/peers/${host}/actors/alice/follow`, { target: handle });
    assert.ok((await suts.guarded.call("state")).followers.includes((await farm.actor(host)).id));
  }
  // Its GETs go unsigned.
  await assert.rejects(farm.post("/peers/lemmy1.test/actors/alice/follow", { target: handle }), /answers 401/);
  const { fetched } = await suts.guarded.call("state");
  const found = new Set(fetched.map(({ from, dialect, status }) => `${from.split("/")[0]} ${dialect} ${status}`));
  assert.deepEqual([...found].sort(),
    ["Lemmy null 401", "Mastodon cavage 200", "Mastodon rfc9421 200", "Misskey cavage 200"]);
});

/** Has a Fedify that knocks in draft-cavage first follow alice; every knock at her host, the oldest first. */
async function knocksAt(host) {
  const alice = await farm.actor(host);
  await farm.post("/reset");
  await suts.cavage.call("follow", { target: alice.id });
  await farm.get(`/wait?host=${host}&kind=inbox&unique=1&timeout=20s`);
  assertVerified(await suts.cavage.call("received", { type: "Accept", actor: alice.id }), "rfc9421");
  return (await farm.get(`/journal?host=${host}&kind=inbox`)).entries.toReversed();
}

test("fedify signs what accept-signature asks for", async () => {
  const [first, second, ...more] = await knocksAt("asking1.test");
  assert.deepEqual([first.verdict.dialect, first.status, more.length], ["cavage", 401, 0]);
  assert.deepEqual([second.verdict.result, second.verdict.label, second.outcome], ["valid", "farm", "accepted"]);
  assert.deepEqual(second.verdict.covered,
    ["@method", "@target-uri", "@authority", "content-type", "content-digest"]);
  const { headers } = await farm.get(`/journal/${second.id}`);
  const [, input] = headers.find(([name]) => name.toLowerCase() === "signature-input");
  for (const asked of ['nonce="n-7"', 'tag="t-7"', "created="]) assert.ok(input.includes(asked), input);
});

test("fedify that is asked for a digest covers it twice, is refused, and knocks as it always does", async () => {
  const [first, second, third, ...more] = await knocksAt("demanding1.test");
  assert.deepEqual([first.verdict.dialect, first.status, more.length], ["cavage", 401, 0]);
  // RFC 9421 section 2: each component is covered once.
  assert.deepEqual([second.verdict.label, second.verdict.reason, second.status], ["farm", "malformed", 401]);
  assert.ok(second.verdict.detail.includes("`content-digest` is covered twice"), second.verdict.detail);
  assert.deepEqual([third.verdict.label, third.verdict.result, third.outcome], ["sig1", "valid", "accepted"]);
});

/** Fedify takes a document's own signature or proof instead of the request's, so that there must be none. */
function assertVerified(entry, dialect) {
  assert.equal(entry.verified, true, `${entry.status} ${entry.answer}`);
  assert.equal(entry.dialect, dialect);
  assert.ok(!("signature" in entry.body) && !("proof" in entry.body), "verified by the document, not by the request");
}
