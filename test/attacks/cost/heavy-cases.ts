/** Requests of allowed size that once blocked the server for seconds or minutes, and similar ones. */
import type { HeavyRequest } from './heavy-requests.ts'

export interface HeavyCase extends HeavyRequest {
  readonly name: string
}

const pods = '/api/v1/namespaces/default/pods'
const configMaps = '/api/v1/namespaces/default/configmaps'
const json = 'application/json'
const patches = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

const items = <T>(count: number, item: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i))
const members = (count: number, member: (i: number) => readonly [string, unknown]): object =>
  Object.fromEntries(items(count, member))
const named = (i: number): object => ({ name: `n${i}` })

const manyKeys = (value: string): object => ({ data: members(49_000, (i) => [`k${i}`, value]) })

/** Creates the pod and the ConfigMaps that the cases patch. */
export const victims: readonly HeavyRequest[] = [
  {
    method: 'POST',
    path: pods,
    contentType: json,
    body: '{"metadata":{"name":"victim"},"spec":{"containers":[{"name":"c","image":"i"}]}}',
  },
  { method: 'POST', path: configMaps, contentType: json, body: '{"metadata":{"name":"victim"},"data":{"a":"b"}}' },
  {
    method: 'POST',
    path: configMaps,
    contentType: json,
    body: JSON.stringify({ metadata: { name: 'large' }, ...manyKeys('') }),
  },
]

const post = (name: string, path: string, body: object | string, contentType = json): HeavyCase => ({
  name,
  method: 'POST',
  path,
  contentType,
  body: typeof body === 'string' ? body : JSON.stringify({ metadata: { name: 'heavy' }, ...body }),
})
const patch = (
  name: string,
  path: string,
  type: keyof typeof patches,
  body: unknown,
  victim = 'victim',
): HeavyCase => ({
  name,
  method: 'PATCH',
  path: `${path}/${victim}${type === 'apply' ? '?fieldManager=heavy&force=true' : ''}`,
  contentType: patches[type],
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'victim' } }
const withManagedFields = (name: string, fields: object): HeavyCase => ({
  name,
  method: 'PUT',
  path: `${pods}/victim`,
  contentType: json,
  body: JSON.stringify({
    ...pod,
    metadata: {
      name: 'victim',
      managedFields: [
        { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': fields } },
      ],
    },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  }),
})
const signingRequest = (name: string, text: string): HeavyCase =>
  post(name, '/apis/certificates.k8s.io/v1/certificatesigningrequests', {
    spec: { request: Buffer.from(text).toString('base64'), signerName: 'example.com/s', usages: ['client auth'] },
  })

/** Pods with many containers, mounts or constraints. */
const newPods = (): HeavyCase[] => [
  post('700,000 empty containers', pods, { spec: { containers: items(700_000, () => ({})) } }),
  post('99,000 empty containers', pods, { spec: { containers: items(99_000, () => ({})) } }),
  post('49,000 named containers', pods, { spec: { containers: items(49_000, named) } }),
  post('imagePullSecrets of nulls', pods, {
    spec: { containers: [{ name: 'c', image: 'i' }], imagePullSecrets: items(99_000, () => null) },
  }),
  post('spread constraints', pods, {
    spec: {
      topologySpreadConstraints: items(24_000, (i) => ({
        maxSkew: 1,
        topologyKey: `k${i}`,
        whenUnsatisfiable: 'DoNotSchedule',
      })),
    },
  }),
  post('mounts and devices', pods, {
    spec: {
      containers: [
        {
          name: 'c',
          image: 'i',
          volumeMounts: items(16_000, (i) => ({ name: 'v', mountPath: `/m${i}` })),
          volumeDevices: items(16_000, (i) => ({ name: 'w', devicePath: `/d${i}` })),
        },
      ],
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'w', persistentVolumeClaim: { claimName: 'w' } },
      ],
    },
  }),
]

/** Patches of the victim's lists, whose items are found by their keys. */
const listPatches = (): HeavyCase[] => [
  patch('a strategic merge of 33,000 containers', pods, 'strategic', { spec: { containers: items(33_000, named) } }),
  patch('33,000 containers deleted by a strategic merge', pods, 'strategic', {
    spec: { containers: items(33_000, (i) => ({ ...named(i), $patch: 'delete' })) },
  }),
  patch('24,000 containers in an order', pods, 'strategic', {
    spec: { '$setElementOrder/containers': items(24_000, named), containers: items(24_000, named) },
  }),
  patch('49,000 finalizers deleted by a strategic merge', pods, 'strategic', {
    metadata: {
      '$deleteFromPrimitiveList/finalizers': items(49_000, (i) => `a/b${i}`),
      finalizers: items(49_000, (i) => `a/b${i}`),
    },
  }),
  patch('a merge of 33,000 containers', pods, 'merge', { spec: { containers: items(33_000, named) } }),
  patch('33,000 containers applied', pods, 'apply', { ...pod, spec: { containers: items(33_000, named) } }),
]

/** Writes of the ConfigMap with 49,000 keys. */
const writesOfManyKeys = (): HeavyCase[] => [
  patch('a label for an object of 49,000 keys', configMaps, 'merge', { metadata: { labels: { a: 'b' } } }, 'large'),
  patch(
    '49,000 keys applied over as many',
    configMaps,
    'apply',
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' }, ...manyKeys('a') },
    'large',
  ),
  {
    name: '49,000 keys put over as many',
    method: 'PUT',
    path: `${configMaps}/large`,
    contentType: json,
    body: JSON.stringify({ metadata: { name: 'large' }, ...manyKeys('b') }),
  },
]

/** JSON patches whose operations each copy or shift a large value. */
const jsonPatches = (): HeavyCase[] => [
  patch('10,000 insertions at the front', pods, 'json', [
    { op: 'add', path: '/metadata/finalizers', value: items(60_000, (i) => `a/b${i}`) },
    ...items(9999, () => ({ op: 'add', path: '/metadata/finalizers/0', value: 'a/b' })),
  ]),
  patch('10,000 copies of a megabyte', configMaps, 'json', [
    { op: 'add', path: '/data/a', value: 'x'.repeat(1_000_000) },
    ...items(9999, (i) => ({ op: 'copy', from: '/data/a', path: `/data/a${i}` })),
  ]),
  patch('copies that double', configMaps, 'json', [
    { op: 'add', path: '/metadata/annotations', value: { a: 'x' } },
    ...items(9999, () => ({ op: 'copy', from: '/metadata', path: '/metadata/annotations/b' })),
  ]),
  patch('a million steps of a pointer', configMaps, 'json', [
    { op: 'add', path: `/data${'/a'.repeat(1_000_000)}`, value: '' },
  ]),
]

/** Managed fields that must be sorted. */
const managedFields = (): HeavyCase[] => [
  withManagedFields(
    'managed fields in another order',
    members(49_000, (i) => [`k:{"name":"n${(i * 7919) % 100_003}"}`, {}]),
  ),
  withManagedFields(
    'managed values in another order',
    members(49_000, (i) => [`v:[1,"${(i * 7919) % 100_003}"]`, {}]),
  ),
]

/** ConfigMaps with much metadata or many invalid fields. */
const newConfigMaps = (): HeavyCase[] => [
  post('99,000 finalizers', configMaps, { metadata: { name: 'heavy', finalizers: items(90_000, (i) => `a/b${i}`) } }),
  post('owners that all control', configMaps, {
    metadata: {
      name: 'heavy',
      ownerReferences: items(15_000, (i) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        name: `n${i}`,
        uid: `u${i}`,
        controller: true,
      })),
    },
  }),
  post('99,000 wrong keys', configMaps, { data: members(99_000, (i) => [`-k!${i}`, '']) }),
  post(
    '99,000 unknown fields',
    `${configMaps}?fieldValidation=Strict`,
    members(99_000, (i) => [`x${i}`, 1]),
  ),
  post(
    '49,000 duplicate fields',
    `${configMaps}?fieldValidation=Strict`,
    `{"data":{${items(99_000, (i) => `"k${i % 49_000}":""`).join()}}}`,
  ),
  post('lists in lists', configMaps, `{"data":${'['.repeat(99_000)}${']'.repeat(99_000)}}`),
]

/** Objects with a long text or list to validate. */
const otherKinds = (): HeavyCase[] => [
  post('a quantity of digits', '/api/v1/namespaces/default/resourcequotas', {
    spec: { hard: { pods: `${'1'.repeat(3_000_000)}!` } },
  }),
  post('IP families', '/api/v1/namespaces/default/services', {
    spec: { ports: [{ port: 80 }], ipFamilies: items(99_000, (i) => `f${i}`) },
  }),
  post('versions of AdmissionReview', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    webhooks: [
      {
        name: 'w.example.com',
        clientConfig: { url: 'https://127.0.0.1/' },
        sideEffects: 'None',
        admissionReviewVersions: items(90_000, (i) => `v${i}`),
      },
    ],
  }),
  signingRequest('unterminated PEM blocks', '-----BEGIN A-----'.repeat(130_000)),
  signingRequest('unterminated PEM blocks of many types', items(100_000, (i) => `-----BEGIN ${i}-----`).join('')),
]

/** Long YAML. */
const yamlTexts = (): HeavyCase[] => [
  post('documents of YAML', configMaps, '---\n'.repeat(700_000), 'application/yaml'),
  post('a flow of YAML', configMaps, `data: [${'1,'.repeat(1_400_000)}]`, 'application/yaml'),
  post(
    'aliases of YAML',
    configMaps,
    `a: &a [${'x,'.repeat(999)}x]\n${items(100_000, (i) => `b${i}: *a`).join('\n')}`,
    'application/yaml',
  ),
]

export const heavyCases = (): readonly HeavyCase[] => [
  ...newPods(),
  ...listPatches(),
  ...writesOfManyKeys(),
  ...jsonPatches(),
  ...managedFields(),
  ...newConfigMaps(),
  ...otherKinds(),
  ...yamlTexts(),
]
