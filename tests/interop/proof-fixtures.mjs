// Makes tests/fixtures/proof/*.json, which the unit tests of src/proof read: proofs that Fedify makes, and Linked Data
// signatures that jsonld.js and Node's crypto make where Fedify has no way to: `expires`, `nonce`, and documents of
// which RDF drops something or whose nodes look too much alike, which Fedify does not sign. Both kinds of signatures are deterministic, so the files
// change only with the documents below. Run by hand:
//
//     cd tests/interop && npm ci && npx node proof-fixtures.mjs

import assert from "node:assert/strict";
import { createHash, createPrivateKey, sign, webcrypto } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createSignature, signObject } from "@fedify/fedify/sig";
import { Create, Note, Person, Place, Update } from "@fedify/vocab";
import { preloadedContexts } from "@fedify/vocab-runtime";
import { Temporal } from "@js-temporal/polyfill";
import jsonld from "jsonld";

const fixtures = new URL("../fixtures/", import.meta.url);
const pem = (name) => readFileSync(new URL(`signature/${name}.pem`, fixtures), "utf8");
const rsa = createPrivateKey(pem("rsa2048"));
const ed25519 = createPrivateKey(pem("ed25519"));
const webKey = (key, algorithm) =>
  webcrypto.subtle.importKey("pkcs8", key.export({ type: "pkcs8", format: "der" }), algorithm, true, ["sign"]);
const rsaKey = await webKey(rsa, { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" });
const ed25519Key = await webKey(ed25519, "Ed25519");

const alice = "https://mastodon1.test/users/alice";
const rsaKeyId = `${alice}#main-key`;
const ed25519KeyId = `${alice}#ed25519-key`;
const created = Temporal.Instant.from("2023-11-14T22:13:20Z");

// Only what is built in is loaded.
const load = async (url) => {
  assert.ok(preloadedContexts[url], `${url} would be fetched`);
  return { documentUrl: url, document: preloadedContexts[url], contextUrl: null };
};

const AS = "https://www.w3.org/ns/activitystreams";
const PUBLIC = `${AS}#Public`;
const SECURITY = "https://w3id.org/security/v1";
const INTEGRITY = "https://w3id.org/security/data-integrity/v1";
const mastodon = [AS, SECURITY, {
  ostatus: "http://ostatus.org#", atomUri: "ostatus:atomUri", conversation: "ostatus:conversation",
  sensitive: "as:sensitive", toot: "http://joinmastodon.org/ns#", votersCount: "toot:votersCount",
  blurhash: "toot:blurhash", focalPoint: { "@container": "@list", "@id": "toot:focalPoint" },
  Hashtag: "as:Hashtag", Emoji: "toot:Emoji",
}];
const note = {
  id: `${alice}/statuses/1`, type: "Note", summary: null, inReplyTo: null, published: "2023-11-14T22:13:20Z",
  url: "https://mastodon1.test/@alice/1", attributedTo: alice, to: [PUBLIC],
  cc: [`${alice}/followers`, "https://sut.test/users/bob"], sensitive: false,
  atomUri: `${alice}/statuses/1`, conversation: "tag:mastodon1.test,2023-11-14:objectId=1:objectType=Conversation",
  content: "<p>\"Grüße\" 😀\\\n</p>", contentMap: { de: "<p>Grüße</p>", en: "<p>Hello</p>" },
  attachment: [], tag: [],
  replies: {
    id: `${alice}/statuses/1/replies`, type: "Collection",
    first: { type: "CollectionPage", next: `${alice}/statuses/1/replies?page=true`, partOf: `${alice}/statuses/1/replies`, items: [] },
  },
};
const create = (object, context = mastodon) => ({
  "@context": context, id: `${object.id}/activity`, type: "Create", actor: alice,
  published: "2023-11-14T22:13:20Z", to: [PUBLIC], cc: [`${alice}/followers`], object,
});
const follow = { "@context": AS, id: "https://mastodon1.test/f/1", type: "Follow", actor: alice, object: "https://sut.test/users/bob" };
const option = (name, totalItems) => ({ type: "Note", name, replies: { type: "Collection", totalItems } });

const documents = {
  "a note of Mastodon": create(note),
  "a mention, a hashtag, an emoji and two pictures": create({
    ...note,
    tag: [
      { type: "Mention", href: "https://sut.test/users/bob", name: "@bob@sut.test" },
      { type: "Hashtag", href: "https://mastodon1.test/tags/x", name: "#x" },
      { id: "https://mastodon1.test/emojis/1", type: "Emoji", name: ":blob:", updated: "2020-01-01T00:00:00Z",
        icon: { type: "Image", mediaType: "image/png", url: "https://mastodon1.test/e.png" } },
    ],
    attachment: [
      { type: "Document", mediaType: "image/png", url: "https://mastodon1.test/1.png", name: null, blurhash: "UEF$%",
        focalPoint: [0, -0.5], width: 800, height: 600 },
      { type: "Document", mediaType: "image/png", url: "https://mastodon1.test/2.png", name: "b", focalPoint: [0.25, 1] },
    ],
  }),
  "a follow and its undo": { "@context": AS, id: "https://mastodon1.test/u/1", type: "Undo", actor: alice, object: { ...follow, "@context": undefined } },
  "a video of PeerTube": {
    "@context": [AS, SECURITY, { RsaSignature2017: "https://w3id.org/security#RsaSignature2017" }, {
      pt: "https://joinpeertube.org/ns#", sc: "http://schema.org/", Hashtag: "as:Hashtag", category: "sc:category",
      views: { "@type": "sc:Number", "@id": "pt:views" }, waitTranscoding: "sc:Boolean", uuid: "sc:identifier", identifier: "sc:identifier", Infohash: "pt:Infohash",
      size: { "@type": "sc:Number", "@id": "pt:size" }, aspectRatio: { "@type": "sc:Float", "@id": "pt:aspectRatio" },
    }],
    id: "https://peertube1.test/v/1/activity", type: "Create", actor: "https://peertube1.test/accounts/a", to: [PUBLIC],
    object: {
      id: "https://peertube1.test/v/1", type: "Video", name: "v", duration: "PT10S", uuid: "9c9de5e8", views: 12,
      size: 1234567890123, aspectRatio: 1.7778, waitTranscoding: true, category: { identifier: "1", name: "Music" },
      tag: [{ type: "Hashtag", name: "a" }], preview: [],
      url: [
        { type: "Link", mediaType: "text/html", href: "https://peertube1.test/w/1" },
        { type: "Link", mediaType: "application/x-mpegURL", href: "https://peertube1.test/m.m3u8", tag: [{ type: "Infohash", name: "abc" }] },
      ],
    },
  },
  "numbers": {
    "@context": AS, id: "https://a.test/1", type: "Place", longitude: -71.184902, latitude: 25.273962, radius: 1e21,
    altitude: 5, accuracy: 0.1,
    "https://x.test/n": [1, 1.5, -1, 0, 100, 3e2, 1234567890123456, 1.5e-7, 1.7976931348623157e308],
  },
  "nothing but nodes without ids": {
    "@context": AS, type: "Create", actor: alice,
    object: { type: "Note", content: "x", tag: [{ type: "Link", href: "https://a.test" }, { type: "Link", href: "https://a.test" }] },
  },
};

const notByFedify = {
  "a collection of notes without ids": {
    "@context": AS, id: "https://a.test/c", type: "OrderedCollection",
    orderedItems: ["a", "b", "c", "d"].map((content) => ({ type: "Note", content })),
  },
  "a poll with options that look alike": create({
    ...note, type: "Question", endTime: "2023-11-15T22:13:20Z", votersCount: 3,
    oneOf: [option("yes", 2), option("no", 1), option("no", 1)],
  }),
  "the document of Mastodon's own tests": { "@context": AS, id: "http://example.com/hello-world" },
  "relative addresses": { "@context": AS, id: "rel", type: "Note", to: "as:Public", url: "bar", content: "x" },
  "a term that no context defines": { "@context": AS, id: "https://a.test/1", type: "Note", content: "x", unknown: { a: 1 } },
};

const hash = async (document) => {
  const text = await jsonld.canonize(document, { format: "application/n-quads", documentLoader: load, safe: false, canonizeOptions: { maxWorkFactor: 3 } });
  return { text, sha256: createHash("sha256").update(text).digest("hex") };
};
const IDENTITY = "https://w3id.org/identity/v1";

const rsaSignatures = [];
const keep = async (name, by, document, { type, id, signatureValue, ...options }) => {
  const signed = { ...document, signature: { type, ...options, signatureValue } };
  const hashes = [await hash({ ...options, "@context": IDENTITY }), await hash(document)];
  rsaSignatures.push({ name, by, document: signed, options_nquads: hashes[0].text, document_nquads: hashes[1].text });
};
for (const [name, made] of Object.entries(documents)) {
  const document = JSON.parse(JSON.stringify(made));
  const { "@context": _, ...signature } = await createSignature(document, rsaKey, new URL(rsaKeyId), { contextLoader: load, created });
  await keep(name, "Fedify 2.3.6", document, signature);
}
const byHand = async (name, document, extra = {}) => {
  const options = { creator: rsaKeyId, created: "2023-11-14T22:13:20Z", ...extra };
  const text = (await hash({ ...options, "@context": IDENTITY })).sha256 + (await hash(document)).sha256;
  const signatureValue = sign("sha256", Buffer.from(text), rsa).toString("base64");
  await keep(name, "jsonld.js 9.0.0 and Node's crypto", document, { type: "RsaSignature2017", ...options, signatureValue });
};
for (const [name, document] of Object.entries(notByFedify)) await byHand(name, document);
await byHand("an expiry", follow, { expires: "2023-11-15T22:13:20Z" });
await byHand("a nonce, as Friendica adds", follow, { nonce: "0a1b2c3d" });

const integrityProofs = [];
const objects = {
  "the activity of FEP-8b32": new Create({
    id: new URL(`${alice}/activities/1`), actor: new URL(alice),
    object: new Note({
      id: new URL(`${alice}/objects/1`), attribution: new URL(alice), content: "Grüße\n\u2028😀\u007f",
      location: new Place({ longitude: -71.184902, latitude: 25.273962, radius: 1e21, altitude: 1e-7 }),
    }),
  }),
  "an actor": new Update({
    id: new URL(`${alice}#update`), actor: new URL(alice),
    object: new Person({ id: new URL(alice), preferredUsername: "alice", name: "Ålice \"A\" \\", inbox: new URL(`${alice}/inbox`) }),
  }),
};
for (const [name, object] of Object.entries(objects)) {
  const options = { contextLoader: load, documentLoader: load, context: [AS, INTEGRITY], format: "compact" };
  const signed = await signObject(object, ed25519Key, new URL(ed25519KeyId), { ...options, created });
  integrityProofs.push({ name, by: "Fedify 2.3.6", document: await signed.toJsonLd(options) });
}

const write = (name, value) => writeFileSync(new URL(`proof/${name}`, fixtures), `${JSON.stringify(value, null, 2)}\n`);
write("rsa_signature_2017.json", rsaSignatures);
write("eddsa_jcs_2022.json", integrityProofs);
