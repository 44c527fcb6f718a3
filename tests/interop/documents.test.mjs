// Every kind of document that a peer serves, read with curl over HTTP/2 and HTTP/1.1 from one peer of each software:
// its status, its media type, and what in it has to fit the others. Actors are expanded with a JSON-LD processor that
// is not the farm's.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, afterEach, before, describe, test } from "node:test";
import { promisify } from "node:util";

import { preloadedContexts } from "@fedify/vocab-runtime";
import jsonld from "jsonld";

import { Farm, Folder, showLines } from "./processes.mjs";

const ACTIVITY_JSON = "application/activity+json";
const ACTIVITY_TYPES = /^application\/(activity\+json|ld\+json; ?profile="https:\/\/www\.w3\.org\/ns\/activitystreams")/;
const VERSIONS = { "--http2": "2", "--http1.1": "1.1" };
/** What each software publishes besides, as its profile's sources have it. */
const SOFTWARES = {
  lemmy: { collections: ["outbox"], hostMeta: false, instance: (host) => host },
  mastodon: {
    collections: ["outbox", "followers", "following", "featured"],
    hostMeta: true,
    instance: () => "mastodon.internal",
  },
  misskey: {
    collections: ["outbox", "followers", "following", "featured"],
    hostMeta: true,
    instance: () => "instance.actor",
  },
};
/** What the vocabularies call the terms that have to survive an expansion. */
const EXPANDED = {
  id: "@id",
  inbox: "http://www.w3.org/ns/ldp#inbox",
  outbox: "https://www.w3.org/ns/activitystreams#outbox",
  name: "https://www.w3.org/ns/activitystreams#preferredUsername",
  key: "https://w3id.org/security#publicKey",
  pem: "https://w3id.org/security#publicKeyPem",
  owner: "https://w3id.org/security#owner",
};

const run = promisify(execFile);
const folder = new Folder();
const farm = await Farm.start(folder, "--actors", "2");
const { peers } = await farm.get("/peers");
/** The first peer of each software. */
const firsts = [...new Map(peers.map((peer) => [peer.software, peer]).reverse()).values()].reverse();

afterEach((t) => showLines(t, farm));
after(async () => {
  await farm.stop();
  folder.remove();
});

test("twenty peers wear the softwares that are known here", () => {
  assert.equal(peers.length, 20);
  assert.deepEqual(firsts.map((peer) => peer.software).sort(), Object.keys(SOFTWARES));
});

for (const peer of firsts) {
  for (const version of Object.keys(VERSIONS)) {
    describe(`${peer.software} by curl ${version}`, () => documents(peer, version));
  }
}

for (const version of Object.keys(VERSIONS)) {
  test(`a hook takes what is posted to it by curl ${version}`, async () => {
    await farm.post("/reset");
    for (const id of ["first", "second", "second"]) {
      const data = ["--json", JSON.stringify({ id })];
      const answer = await curl("hooks.test", `https://hooks.test:${farm.port}/hook/x`, "*/*", version, ...data);
      assertAnswer(answer, 200, /^application\/json/);
      assert.deepEqual(JSON.parse(answer.body), { ok: true });
    }
    const { requests, failures, unique, duplicates } = (await farm.get("/stats/hooks"))["/hook/x"];
    assert.deepEqual({ requests, failures, unique, duplicates }, { requests: 3, failures: 0, unique: 2, duplicates: 1 });
  });
}

function documents(peer, version) {
  const [alice] = peer.actors;
  const expected = SOFTWARES[peer.software];
  const read = (url, accept = ACTIVITY_JSON) => curl(peer.host, url, accept, version);
  const json = async (url) => {
    const answer = await read(url);
    assertAnswer(answer, 200, ACTIVITY_TYPES);
    return JSON.parse(answer.body);
  };
  let actor;

  before(async () => {
    actor = JSON.parse((await read(alice.id)).body);
  });

  test("webfinger leads from the handle to the actor", async () => {
    const account = `acct:alice@${peer.host}:${farm.port}`;
    const found = await read(`${peer.url}/.well-known/webfinger?resource=${account}`, "application/jrd+json");
    assertAnswer(found, 200, /^application\/(jrd\+)?json/);
    const { subject, links } = JSON.parse(found.body);
    assert.equal(subject, account);
    const self = links.find((link) => link.rel === "self" && ACTIVITY_TYPES.test(link.type));
    assert.equal(self?.href, alice.id);
  });

  test("webfinger knows nobody else", async () => {
    const found = await read(`${peer.url}/.well-known/webfinger?resource=acct:nobody@${peer.host}:${farm.port}`);
    assert.equal(found.status, 404, found.body);
  });

  test("nodeinfo names the software", async () => {
    const discovery = await read(`${peer.url}/.well-known/nodeinfo`, "application/json");
    assertAnswer(discovery, 200, /^application\/json/);
    const { links } = JSON.parse(discovery.body);
    assert.ok(links.length > 0);
    for (const link of links) {
      const document = await read(link.href, "application/json");
      assertAnswer(document, 200, /^application\/json/);
      const { version: schema, software } = JSON.parse(document.body);
      assert.ok(link.rel.endsWith(`/${schema}`), `${link.rel} leads to ${schema}`);
      assert.equal(software.version, peer.version);
    }
  });

  test("the actor is served to servers and a page to people", async () => {
    assertAnswer(await read(alice.id), 200, ACTIVITY_TYPES);
    assert.equal(actor.id, alice.id);
    assert.equal(actor.preferredUsername, "alice");
    const page = await read(typeof actor.url === "string" ? actor.url : alice.id, "text/html");
    assertAnswer(page, 200, /^text\/html/);
  });

  test("the actor's key survives a json-ld expansion", async () => {
    const [expanded] = await jsonld.expand(actor, { documentLoader: bundledContexts, safe: false });
    assert.equal(expanded[EXPANDED.id], alice.id);
    assert.equal(expanded[EXPANDED.inbox][0]["@id"], alice.inbox);
    assert.equal(expanded[EXPANDED.outbox][0]["@id"], actor.outbox);
    assert.equal(expanded[EXPANDED.name][0]["@value"], "alice");
    const [key] = expanded[EXPANDED.key];
    assert.equal(key[EXPANDED.owner][0]["@id"], alice.id);
    assert.match(key[EXPANDED.pem][0]["@value"], /^-----BEGIN (RSA )?PUBLIC KEY-----/);
  });

  test("the collections that the software publishes are there", async () => {
    const named = ["outbox", "followers", "following", "featured"].filter((name) => name in actor);
    assert.deepEqual(named, expected.collections);
    for (const name of named) {
      const collection = await json(actor[name]);
      assert.equal(collection.id, actor[name]);
      assert.match(collection.type, /^(Ordered)?Collection$/);
      if (typeof collection.first === "string") {
        const page = await json(collection.first);
        assert.match(page.type, /^(Ordered)?CollectionPage$/);
        assert.equal(page.partOf, collection.id);
      }
    }
  });

  test("the outbox leads to a note and to the activity that made it", async () => {
    const { first, totalItems } = await json(actor.outbox);
    assert.ok(totalItems > 0);
    const [create] = (await json(first)).orderedItems;
    assert.equal(create.type, "Create");
    const note = await json(create.object.id);
    assert.equal(note.id, create.object.id);
    assert.equal(note.attributedTo, alice.id);
    assert.ok(note.content.length > 0);
    const fetched = await json(create.id);
    assert.equal(fetched.id, create.id);
    assert.equal(fetched.object.id, note.id);
    const page = await read(note.id, "text/html");
    assertAnswer(page, 200, /^text\/html/);
  });

  test("host-meta points to webfinger where there is one", async () => {
    const url = `${peer.url}/.well-known/host-meta`;
    const [xml, asJson, dotJson] = [
      await read(url, "application/xrd+xml"),
      await read(url, "application/jrd+json"),
      await read(`${url}.json`, "application/json"),
    ];
    if (!expected.hostMeta) {
      assert.deepEqual([xml.status, asJson.status, dotJson.status], [404, 404, 404]);
      return;
    }
    assertAnswer(xml, 200, /^application\/xrd\+xml/);
    const template = `${peer.url}/.well-known/webfinger?resource={uri}`;
    assert.ok(xml.body.includes(`template="${template}"`), xml.body);
    for (const answer of peer.software === "mastodon" ? [asJson, dotJson] : [dotJson]) {
      assertAnswer(answer, 200, /^application\/(jrd\+)?json/);
      assert.equal(JSON.parse(answer.body).links.find((link) => link.rel === "lrdd").template, template);
    }
  });

  test("the server's own actor is found and served", async () => {
    const account = `acct:${expected.instance(peer.host)}@${peer.host}:${farm.port}`;
    const found = await read(`${peer.url}/.well-known/webfinger?resource=${account}`, "application/jrd+json");
    assertAnswer(found, 200, /^application\/(jrd\+)?json/);
    const self = JSON.parse(found.body).links.find((link) => link.rel === "self");
    const instance = await json(self.href);
    assert.equal(instance.id, self.href);
    assert.equal(instance.type, "Application");
    assert.equal(instance.publicKey.owner, instance.id);
    assert.match(instance.inbox, /^https:/);
  });

  test("what is not there is answered 404", async () => {
    assert.equal((await read(`${peer.url}/nothing/here`)).status, 404);
  });
}

/** One request by curl, a GET unless data follows: `{status, type, body}`. It fails where another HTTP version was spoken than was asked for. */
async function curl(host, url, accept, version, ...data) {
  const { stdout } = await run("curl", [
    "--silent", "--show-error", "--max-time", "30", version,
    "--cacert", farm.ca, "--resolve", `${host}:${farm.port}:127.0.0.1`,
    "--header", `accept: ${accept}`, ...data,
    "--write-out", "\n%{http_code} %{http_version} %{content_type}", url,
  ]);
  const end = stdout.lastIndexOf("\n");
  const [status, spoken, ...type] = stdout.slice(end + 1).split(" ");
  assert.equal(spoken, VERSIONS[version], url);
  return { url, status: Number(status), type: type.join(" "), body: stdout.slice(0, end) };
}

function assertAnswer({ url, status, type, body }, expected, types) {
  assert.equal(status, expected, `${url}: ${body}`);
  assert.match(type, types, url);
}

/** Contexts as Fedify ships them; another one would need the network that a test does not have. */
async function bundledContexts(url) {
  const document = preloadedContexts[url];
  assert.ok(document, `the context ${url} is none that servers have built in`);
  return { contextUrl: null, documentUrl: url, document };
}
