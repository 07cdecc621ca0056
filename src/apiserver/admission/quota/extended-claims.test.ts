import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../machinery/object.ts'
import { pluginFixture } from '../plugin-fixture.ts'
import { extendedClaims } from './extended-claims.ts'

const implicit = 'deviceclass.resource.kubernetes.io/gpu'
const explicit = 'example.com/gpu'

const container = (...resources: readonly string[]) => ({
  name: 'c',
  image: 'i',
  resources: { requests: Object.fromEntries(resources.map((name) => [name, '1'])) },
})
const pod = (name: string, spec: object, claimName?: string) => ({
  metadata: { name, namespace: 'ns', uid: 'uid' },
  spec: { containers: [container()], ...spec },
  status: claimName && { extendedResourceClaimStatus: { resourceClaimName: claimName } },
})

const device = (deviceClassName: string, count: number) => ({ deviceClassName, allocationMode: 'ExactCount', count })
const exactly = (count: number, wanted: object = {}) => ({ name: 'r', exactly: { ...device('gpu', count), ...wanted } })
const all = (deviceClassName: string) => ({ deviceClassName, allocationMode: 'All' })
const claim = (requests: readonly object[], podName?: string, name = 'foo') => ({
  metadata: {
    name,
    namespace: 'ns',
    ...(podName && {
      annotations: { 'resource.kubernetes.io/extended-resource-claim': 'true' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: podName, uid: 'uid', controller: true }],
    }),
  },
  spec: { devices: { requests } },
})

const fixture = pluginFixture()
const claims = fixture.sources.find('resource.k8s.io/v1/resourceclaims')
const object = (kind: string, given: object): KubeObject => fixture.write(kind, given).object!
const pods = new Map(
  [
    pod('pod-implicit', { containers: [container(implicit)] }, 'foo'),
    pod('pod-explicit', { initContainers: [container(explicit)] }, 'foo'),
    pod(
      'pod-hybrid',
      { initContainers: [container(explicit, implicit)], containers: [container(explicit, implicit)] },
      'foo',
    ),
    pod('pod-nil-status', { initContainers: [container(explicit)], containers: [container(implicit)] }),
    pod(
      'pod-init',
      {
        initContainers: [container(explicit, implicit), container(explicit, implicit)],
        containers: [container(explicit, implicit)],
      },
      'foo',
    ),
    pod('pod-other', { containers: [container(explicit)] }, 'another'),
  ].map((one) => [one.metadata.name, object('v1/pods', one)]),
)
let others: readonly KubeObject[] = []
const { evaluator, start, stop } = extendedClaims(fixture.sources, claims, {
  object: <T extends KubeObject>(_kind: unknown, _namespace: string, name: string) => pods.get(name) as T | undefined,
  *objects<T extends KubeObject>() {
    yield* others as readonly T[]
  },
})

test('devices of claims are counted as extended resources, but for what their pod has paid', async (t) => {
  for (const [name, extendedResourceName] of [
    ['gpu', explicit],
    ['tpu', undefined],
  ] as const) {
    await fixture.store('resource.k8s.io/v1/deviceclasses', { metadata: { name }, spec: { extendedResourceName } })
  }
  await start()
  t.after(stop)
  const usage = (gpus: string, implicits?: string, explicits?: string, more: object = {}) => ({
    'count/resourceclaims.resource.k8s.io': '1',
    'gpu.deviceclass.resource.k8s.io/devices': gpus,
    ...(implicits && { [`requests.${implicit}`]: implicits }),
    ...(explicits && { [`requests.${explicit}`]: explicits }),
    ...more,
  })
  const first = claim([exactly(1), exactly(1)], 'pod-nil-status')
  const cases: readonly (readonly [string, object, readonly object[], object])[] = [
    ['asked for by the class', claim([exactly(1)], 'pod-implicit'), [], usage('1', undefined, '1')],
    ['asked for by the resource', claim([exactly(1)], 'pod-explicit'), [], usage('1', '1')],
    ['asked for by both', claim([exactly(1), exactly(1)], 'pod-hybrid'), [], usage('2', '1', '1')],
    ['by a pod that does not know its claim yet', first, [first], usage('2', '1', '1')],
    [
      'a second claim of such a pod',
      claim([exactly(1), exactly(1)], 'pod-nil-status', 'foo-copy'),
      [first],
      usage('2', '2', '2'),
    ],
    ['by init containers', claim([exactly(1), exactly(1)], 'pod-init'), [], usage('2', '1', '1')],
    ['by a pod that has another claim', claim([exactly(1)], 'pod-other'), [], usage('1', '1', '1')],
    ['by a pod that has gone', claim([exactly(1)], 'gone'), [], usage('1', '1', '1')],
    ['a claim of its own', claim([exactly(1)]), [], usage('1', '1', '1')],
    ['several requests', claim([exactly(1), exactly(1), exactly(1)]), [], usage('3', '3', '3')],
    ['all devices', claim([exactly(1, { allocationMode: 'All' })]), [], usage('32', '32', '32')],
    ['a mode that nobody knows', claim([exactly(1, { allocationMode: 'future-mode' })]), [], usage('0')],
    ['for administrators', claim([exactly(1, { adminAccess: true })]), [], usage('1', '1', '1')],
    [
      'one of several, of one class and another',
      claim([{ name: 'r', firstAvailable: [device('gpu', 2), device('gpu', 1), all('tpu')] }]),
      [],
      usage('2', '2', '2', {
        'tpu.deviceclass.resource.k8s.io/devices': '32',
        'requests.deviceclass.resource.kubernetes.io/tpu': '32',
      }),
    ],
  ]
  for (const [what, one, there, expected] of cases) {
    others = there.map((other) => object('resource.k8s.io/v1/resourceclaims', other))
    assert.deepEqual(evaluator.usage(object('resource.k8s.io/v1/resourceclaims', one)), expected, what)
  }
})

test('claims are about the resources of quotas that stand for devices', () => {
  const supported = [
    'count/resourceclaims.resource.k8s.io',
    'gpu.deviceclass.resource.k8s.io/devices',
    `requests.${explicit}`,
    `requests.${implicit}`,
  ]
  const others = [
    'resourceclaims',
    'storage',
    'ephemeral-storage',
    'bronze.deviceclass.resource.k8s.io/storage',
    'gpu.storage.k8s.io/requests.storage',
    'requests.cpu',
    'requests.example.com/other',
    'requests.deviceclass.resource.kubernetes.io/other',
  ]
  assert.deepEqual(evaluator.matching([...supported, ...others]), supported)
})
