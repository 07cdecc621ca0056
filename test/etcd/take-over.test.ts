/**
 * A server on the etcd of a kube-apiserver. Its values were written by kube-apiserver 1.36.2, which also answered with
 * the objects; one line of the file has the path and key of an object, its value in etcd, and the object.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { StorageMediaType } from '../../src/apiserver/storage-format/index.ts'
import type { Unstructured } from '../../src/machinery/object.ts'
import { isProtobuf } from '../../src/machinery/protobuf/index.ts'
import { openEtcdStore } from '../../src/storage/etcd/index.ts'
import type { Store } from '../../src/storage/store.ts'
import { type Client, clientOf, json } from '../support/api-client.ts'
import { serve } from '../support/api-server.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'

interface Recorded {
  readonly path: string
  readonly key: string
  /** Base64. */
  readonly value: string
  readonly object: Unstructured
}

const recorded: readonly Recorded[] = readFileSync(join(import.meta.dirname, 'kube-apiserver-values.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded)

/** The record of the node ports 30053 and 30080, as kube-apiserver wrote it. */
const portRecord = {
  key: '/registry/ranges/servicenodeports',
  value: 'azhzAAoVCgJ2MRIPUmFuZ2VBbGxvY2F0aW9uEiwKEAoAEgAaACIAKgAyADgAQgASCzMwMDAwLTMyNzY3GgsBAAAAIAAAAAAAABoAIgA=',
}

/** Kinds whose values are JSON whatever the flag says. */
const alwaysJson = ['CustomResourceDefinition', 'Toy']

/** An etcd with the recorded values, and a server on it. */
async function takeOver(t: TestContext) {
  const servers = startEtcd(t).map(({ url }) => url)
  const open = async (): Promise<Store> => {
    const store = await openEtcdStore({ servers })
    t.after(() => store.close())
    return store
  }
  const etcd = await open()
  const revisions = new Map<string, number>()
  for (const { key, value } of [portRecord, ...recorded]) {
    const result = await etcd.commit({ conditions: [], operations: [{ key, value: Buffer.from(value, 'base64') }] })
    assert.ok(result.committed)
    revisions.set(key, result.revision)
  }
  return {
    etcd,
    revisions,
    async start(storageMediaType: StorageMediaType): Promise<Client> {
      // Without quotas, whose use the server counts when it starts.
      const admission = { disabled: ['ServiceAccount', 'ResourceQuota'] }
      return clientOf(t, 'HTTP/2', await serve(t, await open(), { storageMediaType, admission }))
    },
  }
}

async function get(client: Client, path: string): Promise<Unstructured> {
  const answer = await client.request('GET', path)
  assert.equal(answer.status, 200, `${path}: ${answer.bytes.toString()}`)
  return json<Unstructured>(answer)
}

async function annotate(client: Client, path: string, by: string): Promise<Unstructured> {
  const answer = await client.request('PATCH', path, {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { metadata: { annotations: { by } } },
  })
  assert.equal(answer.status, 200, `${path}: ${answer.bytes.toString()}`)
  return json<Unstructured>(answer)
}

const withoutRevision = (object: Unstructured): unknown => {
  const { resourceVersion: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

test('a server takes over the etcd of a kube-apiserver, and gives it back', { skip: withoutEtcd }, async (t) => {
  const { etcd, revisions, start } = await takeOver(t)
  const first = await start('application/json')
  const toys = '/apis/example.com/v1/namespaces/shop/toys/ball'
  await waitFor('the custom resource', async () => (await first.request('GET', toys)).status === 200)

  await t.test('it shows each object as kube-apiserver did, at the same revision', async () => {
    for (const { path, key, object } of recorded) {
      const shown = await get(first, path)
      assert.deepEqual(withoutRevision(shown), object, path)
      assert.equal(shown.metadata.resourceVersion, String(revisions.get(key)), path)
    }
  })

  await t.test('it gives out no node port that is in use', async () => {
    const service = (nodePort: number) => ({
      metadata: { name: `port-${nodePort}` },
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] },
    })
    const services = '/api/v1/namespaces/shop/services'
    assert.equal((await first.request('POST', services, { body: service(30080) })).status, 422)
    assert.equal((await first.request('POST', services, { body: service(30081) })).status, 201)
    const { value } = (await etcd.get(portRecord.key))!
    const { data } = JSON.parse(value.toString()) as { data: string }
    assert.equal(Buffer.from(data, 'base64').toString('hex'), '0300000020000000000000')
  })

  await t.test('it writes JSON, which is the object that it shows', async () => {
    for (const { path, key } of recorded) {
      const changed = await annotate(first, path, 'first')
      const { value, revision } = (await etcd.get(key))!
      assert.equal(String(revision), changed.metadata.resourceVersion)
      assert.deepEqual(JSON.parse(value.toString()), withoutRevision(changed), path)
    }
  })

  const second = await start('application/vnd.kubernetes.protobuf')

  await t.test('a second server writes protobuf, and a watch of the first one continues', async () => {
    await waitFor('the custom resource', async () => (await second.request('GET', toys)).status === 200)
    const seen: Unstructured[] = []
    const pods = '/api/v1/namespaces/shop/pods'
    const from = (await get(first, pods)).metadata.resourceVersion
    const watch = first.lines(`${pods}?watch=true&resourceVersion=${from}`, (line) => {
      seen.push((JSON.parse(line) as { object: Unstructured }).object)
    })
    for (const { path, key, object } of recorded) {
      const changed = await annotate(second, path, 'second')
      const { value } = (await etcd.get(key))!
      assert.equal(isProtobuf(value), !alwaysJson.includes(object.kind), path)
      // The first server reads what the second one wrote.
      const { resourceVersion } = changed.metadata
      const isCurrent = async (): Promise<boolean> =>
        (await get(first, path)).metadata.resourceVersion === resourceVersion
      await waitFor(`${path} at ${resourceVersion}`, isCurrent)
      assert.deepEqual(await get(first, path), changed, path)
    }
    const expected = await get(second, `${pods}/web`)
    await waitFor('the event', () => seen.length > 0)
    assert.deepEqual(seen, [expected])
    watch.cancel()
    await watch.ended.catch(() => {})
  })

  await t.test("a value that cannot be read is an error with upstream's message; others can be read", async () => {
    const maps = '/api/v1/namespaces/shop/configmaps'
    const key = '/registry/configmaps/shop/bad'
    const put = { key, value: Buffer.from('{"kind":"ConfigMap","apiVersion":"v9","metadata":{"name":"bad"}}') }
    await etcd.commit({ conditions: [], operations: [put] })
    const message = 'no kind "ConfigMap" is registered for version "v9" in scheme "pkg/api/legacyscheme/scheme.go:30"'
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 }
    await waitFor('the error', async () => (await first.request('GET', maps)).status === 500)
    for (const [method, path] of [
      ['GET', maps],
      ['GET', `${maps}/bad`],
      ['DELETE', `${maps}/bad`],
      ['DELETE', `${maps}/bad?ignoreStoreReadErrorWithClusterBreakingPotential=true`],
    ] as const)
      assert.deepEqual(json(await first.request(method, path)), status, `${method} ${path}`)
    assert.equal((await annotate(first, `${maps}/settings`, 'third')).metadata.annotations?.by, 'third')
    await etcd.commit({ conditions: [], operations: [{ key, delete: true }] })
    assert.equal((await first.request('GET', maps)).status, 200)
  })
})
