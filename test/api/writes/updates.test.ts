/** PUT and DELETE with special behaviour of some kinds, as in upstream's strategies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { http2Client, json } from '../../support/api-client.ts'
import { startTestServer } from '../../support/api-server.ts'
import { configMapsPath } from '../../support/objects.ts'

const object = (apiVersion: string, kind: string, rest: object = {}): object => ({
  apiVersion,
  kind,
  metadata: { name: 'a' },
  ...rest,
})
const rules = { resourceRules: [{ apiGroups: ['x'], apiVersions: ['v1'], resources: ['ys'], operations: ['CREATE'] }] }
const admission = 'admissionregistration.k8s.io/v1'
const storage = 'storage.k8s.io/v1'
const definition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
}

/** Kinds whose updates need a resourceVersion, with an object of each. */
const versioned: readonly [plural: string, body: object][] = [
  ['mutatingwebhookconfigurations', object(admission, 'MutatingWebhookConfiguration')],
  ['validatingwebhookconfigurations', object(admission, 'ValidatingWebhookConfiguration')],
  [
    'validatingadmissionpolicies',
    object(admission, 'ValidatingAdmissionPolicy', {
      spec: { matchConstraints: rules, validations: [{ expression: 'true' }] },
    }),
  ],
  [
    'validatingadmissionpolicybindings',
    object(admission, 'ValidatingAdmissionPolicyBinding', {
      spec: { policyName: 'none', validationActions: ['Deny'] },
    }),
  ],
  [
    'mutatingadmissionpolicybindings',
    object(admission, 'MutatingAdmissionPolicyBinding', { spec: { policyName: 'none' } }),
  ],
  ['csidrivers', object(storage, 'CSIDriver', { spec: {} })],
  ['csinodes', object(storage, 'CSINode', { spec: { drivers: [] } })],
  ['namespaces/default/csistoragecapacities', object(storage, 'CSIStorageCapacity', { storageClassName: 's' })],
  [
    'volumeattachments',
    object(storage, 'VolumeAttachment', {
      spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'p' } },
    }),
  ],
  ['runtimeclasses', object('node.k8s.io/v1', 'RuntimeClass', { handler: 'h' })],
  ['customresourcedefinitions', object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', definition)],
  [
    'apiservices',
    object('apiregistration.k8s.io/v1', 'APIService', {
      metadata: { name: 'v1.none.example' },
      spec: {
        group: 'none.example',
        version: 'v1',
        groupPriorityMinimum: 1,
        versionPriority: 1,
        service: { name: 's', namespace: 'default' },
      },
    }),
  ],
]

for (const [plural, body] of versioned)
  test(`an update needs a resourceVersion: ${plural}`, async (t) => {
    const client = http2Client(t, await startTestServer(t))
    const path = `/apis/${(body as { apiVersion: string }).apiVersion}/${plural}`
    const made = await client.request('POST', path, { body })
    assert.equal(made.status, 201, made.bytes.toString())
    const { resourceVersion: _, ...metadata } = json(made).metadata
    const refused = await client.request('PUT', `${path}/${metadata.name}`, { body: { ...body, metadata } })
    assert.equal(refused.status, 422)
    assert.match(
      json(refused).message ?? '',
      / is invalid: metadata\.resourceVersion: Invalid value: 0: must be specified for an update$/,
    )
  })

test('PUT may create a RuntimeClass, but not a StorageClass', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const put = async (path: string, body: object) => (await client.request('PUT', path, { body })).status
  assert.equal(
    await put('/apis/node.k8s.io/v1/runtimeclasses/a', object('node.k8s.io/v1', 'RuntimeClass', { handler: 'h' })),
    201,
  )
  assert.equal(
    await put('/apis/storage.k8s.io/v1/storageclasses/a', object(storage, 'StorageClass', { provisioner: 'p' })),
    404,
  )
})

test('a status write of a ServiceCIDR does not change its metadata', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const path = '/apis/networking.k8s.io/v1/servicecidrs'
  const made = await client.request('POST', path, {
    body: object('networking.k8s.io/v1', 'ServiceCIDR', { spec: { cidrs: ['10.9.0.0/16'] } }),
  })
  assert.equal(made.status, 201)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const labels = async (where: string) =>
    json(await client.request('PATCH', where, { headers, body: { metadata: { labels: { a: 'b' } } } })).metadata.labels
  assert.equal(await labels(`${path}/a/status`), undefined)
  assert.deepEqual(await labels(`${path}/a`), { a: 'b' })
})

test('propagation policies have no effect on events', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const event = { involvedObject: { namespace: 'default' }, message: 'm' }
  for (const [path, kind, rest, expected] of [
    ['/api/v1/namespaces/default/events', 'Event', event, ['example.com/held']],
    [configMapsPath, 'ConfigMap', {}, ['example.com/held', 'foregroundDeletion']],
  ] as const) {
    const body = { ...object('v1', kind, rest), metadata: { name: 'a', finalizers: ['example.com/held'] } }
    assert.equal((await client.request('POST', path, { body })).status, 201)
    assert.equal(
      (await client.request('DELETE', `${path}/a`, { body: { propagationPolicy: 'Foreground' } })).status,
      200,
    )
    const { metadata } = json<{ metadata: { finalizers: string[] } }>(await client.request('GET', `${path}/a`))
    assert.deepEqual(metadata.finalizers, expected)
  }
})

test('duplicate keys in YAML and unknown fields of JSON patches are reported', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  name: a\ncolour: red\ndata:\n  k: v\n  k: w\n'
  const post = (query: string) =>
    client.request('POST', `${configMapsPath}?${query}`, {
      body: yaml,
      headers: { 'content-type': 'application/yaml' },
    })
  const strict = await post('fieldValidation=Strict')
  assert.equal(strict.status, 400)
  assert.equal(
    json(strict).message,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal ' +
      'errors:\n  line 5: key "name" already set in map\n  line 9: key "k" already set in map, unknown field "colour"',
  )
  const warned = await post('')
  const warning = (...texts: string[]): string => texts.map((text) => `299 - ${JSON.stringify(text)}`).join(', ')
  assert.deepEqual(
    [warned.status, warned.headers.warning],
    [
      201,
      warning('line 5: key "name" already set in map', 'line 9: key "k" already set in map', 'unknown field "colour"'),
    ],
  )
  const patched = await client.request('PATCH', `${configMapsPath}/a`, {
    body: '[{"op":"add","path":"/data/z","path":"/data/x","value":"y","note":"?"}]',
    headers: { 'content-type': 'application/json-patch+json' },
  })
  assert.deepEqual(
    [patched.status, patched.headers.warning],
    [200, warning('json patch duplicate field "[0].path"', 'json patch unknown field "[0].note"')],
  )
})

test('DELETE of a resource.k8s.io object returns the object', async (t) => {
  const client = http2Client(t, await startTestServer(t))
  const group = 'resource.k8s.io/v1'
  const devices = { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] }
  for (const [plural, kind, rest] of [
    ['deviceclasses', 'DeviceClass', { spec: {} }],
    ['namespaces/default/resourceclaims', 'ResourceClaim', { spec: { devices } }],
    ['namespaces/default/resourceclaimtemplates', 'ResourceClaimTemplate', { spec: { spec: { devices } } }],
    [
      'resourceslices',
      'ResourceSlice',
      { spec: { driver: 'd.example.com', nodeName: 'n', pool: { name: 'p', generation: 1, resourceSliceCount: 1 } } },
    ],
  ] as const) {
    const path = `/apis/${group}/${plural}`
    assert.equal((await client.request('POST', path, { body: object(group, kind, rest) })).status, 201, kind)
    assert.equal(json(await client.request('DELETE', `${path}/a`)).kind, kind)
  }
})
