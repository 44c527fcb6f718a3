// A small federated server of its own, built on Fedify: the SUT of the interoperation tests. It serves one person,
// `persona`, over HTTPS, keeps everything in memory, and has a plain HTTP listener through which the tests tell it
// what to do and ask what it saw. It knows nothing of the farm: names and trust come from its environment, as they
// would for any server under test.
//
//   node sut.mjs --cert sut.pem --key sut.key [--host sut.test] [--first-knock draft-cavage-http-signatures-12]
//     [--authorized-fetch]
//
// It prints one line of JSON, {"url", "handle", "test"}, once it listens; it ends when its standard input does.

import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { parseArgs } from "node:util";

import {
  createFederation,
  detachSignature,
  exportJwk,
  generateCryptoKeyPair,
  importJwk,
  MemoryKvStore,
  signRequest,
  verifyJsonLd,
  verifyObject,
} from "@fedify/fedify";
import {
  Accept,
  Activity,
  Create,
  Endpoints,
  Follow,
  Note,
  Person,
  PUBLIC_COLLECTION,
  Undo,
  isActor,
} from "@fedify/vocab";
import { Temporal } from "@js-temporal/polyfill";
import { configure } from "@logtape/logtape";

const NAME = "persona";
const LONGEST_WAIT_MS = 30_000;

const { values: options } = parseArgs({
  options: {
    cert: { type: "string" },
    key: { type: "string" },
    host: { type: "string", default: "sut.test" },
    "first-knock": { type: "string", default: "rfc9421" },
    "authorized-fetch": { type: "boolean", default: false },
  },
});

await configure({
  contextLocalStorage: new AsyncLocalStorage(),
  sinks: { stderr: (record) => process.stderr.write(`${record.level}: ${record.message.join("")}\n`) },
  loggers: [
    { category: "fedify", sinks: ["stderr"], lowestLevel: "warning" },
    { category: ["logtape", "meta"], sinks: ["stderr"], lowestLevel: "warning" },
  ],
});

// ---- what it knows ----

/** Keys as JSON Web Keys, as a server with a database would keep them. */
const keys = await Promise.all(
  ["RSASSA-PKCS1-v1_5", "Ed25519"].map(async (algorithm) => {
    const { publicKey, privateKey } = await generateCryptoKeyPair(algorithm);
    return { public: await exportJwk(publicKey), private: await exportJwk(privateKey) };
  }),
);
/** Who follows the persona, by actor URL: what Fedify needs to deliver to them. */
const followers = new Map();
/** Whom the persona follows: the actor's URL by the Follow's, once it is accepted. */
const following = new Map();
/** Follows sent and not answered: the actor's URL by the Follow's. */
const pending = new Map();
/** What can be fetched from it by id. */
const objects = new Map();
/** Every POST to an inbox, in order of its answer. */
const received = [];
/** Every GET of the persona, in order of its answer. */
const fetched = [];
/** The activities that Fedify handed to a listener, that is: verified. By id. */
const verified = new Set();
/** Those that wait for something to be received. */
const waiting = new Set();
let serial = 0;

// ---- the federated server ----

const federation = createFederation({
  kv: new MemoryKvStore(),
  allowPrivateAddress: true,
  firstKnock: options["first-knock"],
});

const persona = federation
  .setActorDispatcher("/users/{identifier}", async (ctx, identifier) => {
    if (identifier !== NAME) return null;
    const pairs = await ctx.getActorKeyPairs(identifier);
    return new Person({
      id: ctx.getActorUri(identifier),
      preferredUsername: identifier,
      name: "The persona",
      url: ctx.getActorUri(identifier),
      inbox: ctx.getInboxUri(identifier),
      outbox: ctx.getOutboxUri(identifier),
      followers: ctx.getFollowersUri(identifier),
      endpoints: new Endpoints({ sharedInbox: ctx.getInboxUri() }),
      publicKey: pairs[0].cryptographicKey,
      assertionMethods: pairs.map((pair) => pair.multikey),
    });
  })
  .setKeyPairsDispatcher(async (_ctx, identifier) => {
    if (identifier !== NAME) return [];
    return await Promise.all(keys.map(importPair));
  })
  .mapHandle((_ctx, name) => name === NAME ? NAME : null);
if (options["authorized-fetch"]) persona.authorize(async (ctx) => (await ctx.getSignedKeyOwner()) != null);

federation.setFollowersDispatcher("/users/{identifier}/followers", (_ctx, _identifier, _cursor, base) => ({
  items: [...followers.values()].filter((follower) => base == null || follower.id.origin === base.origin),
}));
federation.setOutboxDispatcher("/users/{identifier}/outbox", () => ({ items: [] }));
federation.setObjectDispatcher(Note, "/notes/{id}", (ctx, { id }) =>
  objects.get(ctx.getObjectUri(Note, { id }).href) ?? null);
federation.setObjectDispatcher(Follow, "/follows/{id}", (ctx, { id }) =>
  objects.get(ctx.getObjectUri(Follow, { id }).href) ?? null);

federation
  .setInboxListeners("/users/{identifier}/inbox", "/inbox")
  .setSharedKeyDispatcher(() => ({ identifier: NAME }))
  .on(Follow, async (ctx, follow) => {
    verified.add(follow.id?.href);
    if (follow.objectId?.href !== ctx.getActorUri(NAME).href) return;
    const follower = await follow.getActor(ctx);
    followers.set(follower.id.href, {
      id: follower.id,
      inboxId: follower.inboxId,
      endpoints: { sharedInbox: follower.endpoints?.sharedInbox ?? null },
    });
    const accept = new Accept({ id: newId(ctx, "accepts"), actor: ctx.getActorUri(NAME), object: follow });
    await ctx.sendActivity({ identifier: NAME }, follower, accept, { immediate: true });
  })
  .on(Accept, (_ctx, accept) => {
    verified.add(accept.id?.href);
    const target = pending.get(accept.objectId?.href);
    if (target == null || target !== accept.actorId?.href) return;
    pending.delete(accept.objectId.href);
    following.set(accept.objectId.href, target);
  })
  .on(Undo, async (ctx, undo) => {
    verified.add(undo.id?.href);
    const undone = await undo.getObject({ ...ctx, crossOrigin: "trust" });
    if (undone instanceof Follow && undone.actorId?.href === undo.actorId?.href) followers.delete(undo.actorId.href);
  })
  .on(Activity, (_ctx, activity) => {
    verified.add(activity.id?.href);
  })
  .onError((_ctx, error) => {
    process.stderr.write(`inbox: ${error.stack}\n`);
  });

async function importPair(pair) {
  return {
    publicKey: await importJwk(pair.public, "public"),
    privateKey: await importJwk(pair.private, "private"),
  };
}

function newId(ctx, kind) {
  serial += 1;
  return new URL(`/${kind}/${serial}`, ctx.origin);
}

// ---- what the tests can tell it ----

const commands = {
  /** What a handle or URL leads to, as Fedify reads it. */
  async lookup(ctx, { what }) {
    const found = await ctx.lookupObject(what);
    if (found == null) return null;
    if (!isActor(found)) return await found.toJsonLd({ contextLoader: ctx.contextLoader });
    const key = await found.getPublicKey(ctx);
    return {
      type: found.constructor.name,
      id: found.id?.href,
      name: found.preferredUsername?.toString(),
      inbox: found.inboxId?.href,
      outbox: found.outboxId?.href,
      shared_inbox: found.endpoints?.sharedInbox?.href ?? null,
      key: key && { id: key.id.href, owner: key.ownerId?.href, usable: key.publicKey != null },
    };
  },

  /** Follows an actor; answers with the Follow's id. */
  async follow(ctx, { target }) {
    const actor = await ctx.lookupObject(target);
    const id = newId(ctx, "follows");
    const follow = new Follow({ id, actor: ctx.getActorUri(NAME), object: actor.id, to: actor.id });
    objects.set(id.href, follow);
    pending.set(id.href, actor.id.href);
    await ctx.sendActivity({ identifier: NAME }, actor, follow, { immediate: true });
    return { id: id.href };
  },

  /** Takes a Follow back. */
  async unfollow(ctx, { id }) {
    const follow = objects.get(id);
    const actor = await ctx.lookupObject(following.get(id));
    following.delete(id);
    const undo = new Undo({ id: newId(ctx, "undos"), actor: ctx.getActorUri(NAME), object: follow });
    await ctx.sendActivity({ identifier: NAME }, actor, undo, { immediate: true });
    return { id: undo.id.href };
  },

  /** Posts a note to all followers, through shared inboxes where there are any. */
  async post(ctx, { note }) {
    const create = newCreate(ctx, note);
    await ctx.sendActivity({ identifier: NAME }, "followers", create, { immediate: true, preferSharedInbox: true });
    return { id: create.id.href };
  },

  /** Sends one signed request of its own to an inbox, spoilt in a named way; answers with the status. */
  async forge(ctx, { inbox, spoil }) {
    const create = newCreate(ctx, "forged");
    const body = JSON.stringify(await create.toJsonLd({ contextLoader: ctx.contextLoader }));
    const headers = { "content-type": "application/activity+json" };
    let request = new Request(inbox, { method: "POST", headers, body });
    if (spoil !== "unsigned") {
      const { privateKey } = await importPair(keys[0]);
      const keyId = new URL("#main-key", ctx.getActorUri(NAME));
      request = await signRequest(request, privateKey, keyId, { spec: "draft-cavage-http-signatures-12" });
    }
    const sent = spoil === "body" ? body.replace("forged", "spoilt") : body;
    if (spoil === "date") request.headers.set("date", new Date(Date.now() + 1000).toUTCString());
    const response = await fetch(inbox, { method: "POST", headers: request.headers, body: sent });
    return { id: create.id.href, status: response.status, body: await response.text() };
  },

  /** The document at a URL, fetched with a signature of the persona's. */
  async fetch(ctx, { url }) {
    const load = await ctx.getDocumentLoader({ identifier: NAME });
    return (await load(url)).document;
  },

  /** Whether Fedify finds a document's own signature valid, and each of its proofs, as its inbox looks at them. */
  async prove(ctx, { document }) {
    const loaders = { documentLoader: ctx.documentLoader, contextLoader: ctx.contextLoader };
    return {
      signature: await verifyJsonLd(document, loaders),
      proof: "proof" in document && await verifyObject(Activity, detachSignature(document), loaders) != null,
    };
  },

  /** Everything it knows. */
  async state() {
    return { followers: [...followers.keys()], following: [...following.values()], received, fetched };
  },

  /** The first thing received that fits, as soon as it is there: `{type, actor, content}`, each optional. */
  async received(_ctx, wanted) {
    const fitting = () => received.find((entry) => fits(entry, wanted));
    return fitting() ?? await new Promise((resolve, reject) => {
      const waiter = () => {
        if (fitting() == null) return;
        waiting.delete(waiter);
        clearTimeout(timer);
        resolve(fitting());
      };
      const timer = setTimeout(() => {
        waiting.delete(waiter);
        reject(new Error(`nothing fits ${JSON.stringify(wanted)} in ${JSON.stringify(received)}`));
      }, LONGEST_WAIT_MS);
      waiting.add(waiter);
    });
  },
};

function newCreate(ctx, content) {
  const id = newId(ctx, "notes");
  const actor = ctx.getActorUri(NAME);
  const audience = { to: PUBLIC_COLLECTION, cc: ctx.getFollowersUri(NAME), published: Temporal.Now.instant() };
  const note = new Note({ id, attribution: actor, content, ...audience });
  objects.set(id.href, note);
  return new Create({ id: new URL(`${id.href}/activity`), actor, object: note, ...audience });
}

function fits(entry, { type, actor, content }) {
  return (type == null || entry.body?.type === type) && (actor == null || entry.body?.actor === actor) &&
    (content == null || (entry.body?.object?.content ?? "").includes(content));
}

// ---- listeners ----

const secure = createSecureServer({ cert: readFileSync(options.cert), key: readFileSync(options.key) });
secure.on("request", (incoming, outgoing) => {
  serve(incoming, outgoing).catch((error) => {
    process.stderr.write(`serve: ${error.stack}\n`);
    outgoing.writeHead(500).end();
  });
});
secure.listen(0, "127.0.0.1");
await once(secure, "listening");
const authority = `${options.host}:${secure.address().port}`;
const origin = `https://${authority}`;

async function serve(incoming, outgoing) {
  const body = await bodyOf(incoming);
  const request = new Request(new URL(incoming.url, origin), {
    method: incoming.method,
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, `${value}`]),
    body: body.length > 0 ? body : undefined,
  });
  const response = await federation.fetch(request, { contextData: undefined });
  const answer = Buffer.from(await response.arrayBuffer());
  if (incoming.method === "POST") record(incoming, body, response.status, answer.toString());
  if (incoming.method === "GET" && incoming.url === `/users/${NAME}`) {
    fetched.push({ from: incoming.headers["user-agent"], status: response.status, dialect: dialectOf(incoming) });
  }
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(answer);
}

function record(incoming, body, status, answer) {
  let activity = null;
  try {
    activity = JSON.parse(body);
  } catch {
    // what is no JSON has no activity
  }
  received.push({
    path: incoming.url,
    status,
    answer,
    verified: verified.has(activity?.id),
    dialect: dialectOf(incoming),
    content_type: incoming.headers["content-type"],
    body: activity,
  });
  for (const waiter of [...waiting]) waiter();
}

function dialectOf({ headers }) {
  return headers["signature-input"] ? "rfc9421" : headers.signature ? "cavage" : null;
}

async function bodyOf(incoming) {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const control = createServer(async (incoming, outgoing) => {
  const command = commands[incoming.url.slice(1)];
  try {
    const ctx = federation.createContext(new URL(origin), undefined);
    const answer = await command(ctx, JSON.parse((await bodyOf(incoming)).toString() || "{}"));
    outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  } catch (error) {
    outgoing.writeHead(500).end(`${error.stack}\n${(error.errors ?? []).map((each) => each.stack).join("\n")}`);
  }
});
control.listen(0, "127.0.0.1");
await once(control, "listening");

const ready = { url: origin, handle: `@${NAME}@${authority}`, test: `http://127.0.0.1:${control.address().port}` };
process.stdout.write(`${JSON.stringify(ready)}\n`);
process.stdin.resume().on("end", () => process.exit(0));
