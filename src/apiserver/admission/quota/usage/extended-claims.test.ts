import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../../machinery/object.ts'
import { pluginFixture } from '../../plugin.fixture.ts'
import { ExtendedClaims } from './extended-claims.ts'

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
const extended = new ExtendedClaims(fixture.sources, claims, {
  object: <T extends KubeObject>(_kind: unknown, _namespace: string, name: string) => pods.get(name) as T | undefined,
  *objects<T extends KubeObject>() {
    yield* others as readonly T[]
  },
})

test('devices of claims count as extended resources, except those already charged to their pod', async (t) => {
  for (const [name, extendedResourceName] of [
    ['gpu', explicit],
    ['tpu', undefined],
  ] as const) {
    await fixture.store('resource.k8s.io/v1/deviceclasses', { metadata: { name }, spec: { extendedResourceName } })
  }
  await extended.start()
  t.after(() => extended.stop())
  const usage = (gpus: string, implicits?: string, explicits?: string, more: object = {}) => ({
    'count/resourceclaims.resource.k8s.io': '1',
    'gpu.deviceclass.resource.k8s.io/devices': gpus,
    ...(implicits && { [`requests.${implicit}`]: implicits }),
    ...(explicits && { [`requests.${explicit}`]: explicits }),
    ...more,
  })
  const first = claim([exactly(1), exactly(1)], 'pod-nil-status')
  const cases: readonly (readonly [string, object, readonly object[], object])[] = [
    ['requested by the class', claim([exactly(1)], 'pod-implicit'), [], usage('1', undefined, '1')],
    ['requested by the resource', claim([exactly(1)], 'pod-explicit'), [], usage('1', '1')],
    ['requested by both', claim([exactly(1), exactly(1)], 'pod-hybrid'), [], usage('2', '1', '1')],
    ['of a pod without a claim in its status', first, [first], usage('2', '1', '1')],
    [
      'the second claim of such a pod',
      claim([exactly(1), exactly(1)], 'pod-nil-status', 'foo-copy'),
      [first],
      usage('2', '2', '2'),
    ],
    ['requested by init containers', claim([exactly(1), exactly(1)], 'pod-init'), [], usage('2', '1', '1')],
    ['of a pod with another claim', claim([exactly(1)], 'pod-other'), [], usage('1', '1', '1')],
    ['of a deleted pod', claim([exactly(1)], 'gone'), [], usage('1', '1', '1')],
    ['a claim without a pod', claim([exactly(1)]), [], usage('1', '1', '1')],
    ['several requests', claim([exactly(1), exactly(1), exactly(1)]), [], usage('3', '3', '3')],
    ['all devices', claim([exactly(1, { allocationMode: 'All' })]), [], usage('32', '32', '32')],
    ['an unknown allocation mode', claim([exactly(1, { allocationMode: 'future-mode' })]), [], usage('0')],
    ['admin access', claim([exactly(1, { adminAccess: true })]), [], usage('1', '1', '1')],
    [
      'the first available of two classes',
      claim([{ name: 'r', firstAvailable: [device('gpu', 2), device('gpu', 1), all('tpu')] }]),
      [],
      usage('2', '2', '2', {
        'tpu.deviceclass.resource.k8s.io/devices': '32',
        'requests.deviceclass.resource.kubernetes.io/tpu': '32',
      }),
    ],
  ]
  for (const [what, one, existing, expected] of cases) {
    others = existing.map((other) => object('resource.k8s.io/v1/resourceclaims', other))
    assert.deepEqual(extended.evaluator.usage(object('resource.k8s.io/v1/resourceclaims', one)), expected, what)
  }
})

test('the evaluator matches the quota resources that stand for devices', () => {
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
  assert.deepEqual(extended.evaluator.matching([...supported, ...others]), supported)
})
