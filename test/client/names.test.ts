/** The client library rejects names that are empty or would change the path, and sends nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Connection } from '../../src/client/connection/connection.ts'
import { DynamicClient } from '../../src/client/discovery/dynamic-client.ts'
import { LeaderElector } from '../../src/client/election/leader-election.ts'
import { configMaps, type Secret, secrets } from '../../src/client/kinds.ts'
import { createOrUpdate, updateStatus } from '../../src/client/objects/create-or-update.ts'
import { addFinalizer, removeFinalizer } from '../../src/client/objects/finalizers.ts'
import { controllerReference } from '../../src/client/objects/owners.ts'
import { isDeleted, waitFor } from '../../src/client/objects/wait-for.ts'
import { nameSelector } from '../../src/client/resource.ts'
import { getMetadata } from '../../src/client/rest/metadata.ts'
import { RestClient } from '../../src/client/rest/rest-client.ts'
import { type FakeClient, fakeClient } from '../../src/cluster/testing/index.ts'
import type { Unstructured } from '../../src/machinery/object.ts'

const secret = (name: string, more: object = {}): Secret & Unstructured => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'default', ...more },
})
const finalizer = 'example.com/f'

/** Every call that takes a name. */
const calls: Readonly<Record<string, (client: RestClient, name: string) => Promise<unknown>>> = {
  get: (client, name) => client.get(secrets, 'default', name),
  'get a subresource': (client, name) => client.get(secrets, 'default', name, 'status'),
  find: (client, name) => client.find(secrets, 'default', name),
  update: (client, name) => client.update(secrets, secret(name)),
  'update a subresource': (client, name) => client.update(secrets, secret(name), 'scale'),
  updateStatus: (client, name) => client.updateStatus(secrets, secret(name)),
  patch: (client, name) => client.patch(secrets, 'default', name, { data: null }, 'merge'),
  'patch a subresource': (client, name) => client.patch(secrets, 'default', name, {}, 'merge', 'status'),
  apply: (client, name) => client.apply(secrets, { metadata: { name, namespace: 'default' } }, 'm'),
  'apply a subresource': (client, name) =>
    client.apply(secrets, { metadata: { name, namespace: 'default' } }, { fieldManager: 'm', subresource: 'status' }),
  delete: (client, name) => client.delete(secrets, 'default', name),
  createUnder: (client, name) => client.createUnder(secrets, 'default', name, 'token', {}),
  getMetadata: (client, name) => getMetadata(client, secrets, 'default', name),
  createOrUpdate: (client, name) => createOrUpdate(client, secrets, { namespace: 'default', name }, (object) => object),
  'updateStatus with a change function': (client, name) =>
    updateStatus(client, secrets, { namespace: 'default', name }, (object) => object),
  waitFor: (client, name) => waitFor(client, secrets, { namespace: 'default', name }, isDeleted),
  addFinalizer: (client, name) => addFinalizer(client, secrets, secret(name), finalizer),
  removeFinalizer: (client, name) =>
    removeFinalizer(client, secrets, secret(name, { finalizers: [finalizer] }), finalizer),
  LeaderElector: async (client, name) =>
    new LeaderElector({ client, namespace: 'default', name, identity: 'i' }).run(async () => {}, AbortSignal.abort()),
  'DynamicClient.get': (client, name) =>
    new DynamicClient(client).get({ apiVersion: 'v1', kind: 'Secret', namespace: 'default', name }),
  'DynamicClient.update': (client, name) => new DynamicClient(client).update(secret(name)),
  'DynamicClient.patch': (client, name) =>
    new DynamicClient(client).patch({ apiVersion: 'v1', kind: 'Secret', namespace: 'default', name }, {}),
  'DynamicClient.apply': (client, name) =>
    new DynamicClient(client).apply(
      { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' } },
      'm',
    ),
  'DynamicClient.delete': (client, name) =>
    new DynamicClient(client).delete({ apiVersion: 'v1', kind: 'Secret', namespace: 'default', name }),
}
const faults: readonly (readonly [string, string])[] = [
  ['', 'resource name may not be empty'],
  ['.', `invalid resource name ".": may not be '.'`],
  ['..', `invalid resource name "..": may not be '..'`],
  ['a/b', `invalid resource name "a/b": may not contain '/'`],
  ['a%2fb', `invalid resource name "a%2fb": may not contain '%'`],
]

/** A client that records its requests and gets no response. */
function offlineClient(): { readonly client: RestClient; readonly sent: string[] } {
  const sent: string[] = []
  class Offline extends Connection {
    override async send(...[{ method, path }]: Parameters<Connection['send']>): ReturnType<Connection['send']> {
      sent.push(`${method} ${path}`)
      throw new Error('no server')
    }
  }
  return { client: new RestClient(new Offline({ url: 'http://127.0.0.1:1' })), sent }
}

for (const [name, message] of faults) {
  test(`the name ${JSON.stringify(name)} is rejected by every method, and nothing is sent`, async () => {
    const { client, sent } = offlineClient()
    for (const [call, run] of Object.entries(calls)) await assert.rejects(run(client, name), { message }, call)
    assert.deepEqual(sent, [])
  })
}

test('the table contains every method that takes a name', () => {
  const methods = [
    ...Object.getOwnPropertyNames(RestClient.prototype),
    ...Object.getOwnPropertyNames(DynamicClient.prototype).map((name) => `DynamicClient.${name}`),
  ]
  const nameless = [
    'constructor',
    'as',
    'list',
    'pages',
    'items',
    'watch',
    'create',
    'deleteCollection',
    'read',
    'request',
    'serverVersion',
  ]
  const missing = methods.filter(
    (method) => !nameless.includes(method.replace('DynamicClient.', '')) && !(method in calls),
  )
  assert.deepEqual(missing, [])
})

test('an undefined or null name is rejected', async () => {
  const { client, sent } = offlineClient()
  for (const name of [undefined, null] as unknown[])
    await assert.rejects(client.delete(secrets, 'default', name as string), /name may not be empty/)
  await assert.rejects(
    client.update(secrets, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'default' } }),
    /name may not be empty/,
  )
  assert.deepEqual(sent, [])
})

test('namespaces and subresources that would change the path are rejected', async () => {
  const { client, sent } = offlineClient()
  await assert.rejects(client.get(secrets, '..', 'a'), { message: `invalid namespace "..": may not be '..'` })
  await assert.rejects(client.list(secrets, { namespace: 'a/b' }), {
    message: `invalid namespace "a/b": may not contain '/'`,
  })
  await assert.rejects(client.deleteCollection(secrets, { namespace: '..' }), /invalid namespace/)
  await assert.rejects(client.create(secrets, secret('a', { namespace: '../..' })), /invalid namespace/)
  await assert.rejects(client.get(secrets, 'default', 'a', '../b'), {
    message: `invalid subresource "../b": may not contain '/'`,
  })
  assert.deepEqual(sent, [])
})

test('other characters are escaped', async () => {
  const { client, sent } = offlineClient()
  await assert.rejects(client.delete(secrets, 'a b', 'system:a?watch=1#x'), /no server/)
  assert.deepEqual(sent, ['DELETE /api/v1/namespaces/a%20b/secrets/system%3Aa%3Fwatch%3D1%23x'])
  assert.equal(nameSelector('a,b=c\\'), 'metadata.name=a\\,b\\=c\\\\')
})

test('an owner without name or uid is rejected', () => {
  assert.throws(() => controllerReference(secret('', { uid: 'u' })), /name may not be empty/)
  assert.throws(() => controllerReference(secret('a')), /Secret a has no uid/)
  assert.equal(controllerReference(secret('a', { uid: 'u' })).uid, 'u')
})

test('an empty name does not delete all Secrets of a namespace, also with the fake client', async (t) => {
  const client: FakeClient = await fakeClient({ objects: [secret('a'), secret('b')] })
  t.after(() => client.close())
  const rejection = { message: 'resource name may not be empty' }
  await assert.rejects(client.delete(secrets, 'default', ''), rejection)
  await assert.rejects(
    new DynamicClient(client).delete({ apiVersion: 'v1', kind: 'Secret', namespace: 'default', name: '' }),
    rejection,
  )
  await assert.rejects(client.get(secrets, 'default', ''), rejection)
  await assert.rejects(
    createOrUpdate(client, configMaps, { namespace: 'default', name: '' }, (object) => object),
    rejection,
  )
  assert.equal((await client.list(secrets, { namespace: 'default' })).items.length, 2)
})
