import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { resources as policy } from '../policy/index.ts'
import type { Cell, ResourceDefinition } from '../resource.ts'
import { resources as apps } from './index.ts'

const resources = [...apps, ...policy]
const kind = (plural: string): ResourceDefinition =>
  resources.find((one) => one.plural === plural) as ResourceDefinition
const labels = { app: 'x' }
const template = (spec: object = {}): object => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'app:1' }], ...spec },
})
const workload = (spec: object = {}, status: object = {}): object => ({
  spec: { selector: { matchLabels: labels }, template: template(), ...spec },
  status,
})
const of = (plural: string, rest: object, metadata: object = {}): KubeObject =>
  structuredClone({
    apiVersion: 'apps/v1',
    kind: kind(plural).kind,
    metadata: { name: 'x', ...metadata },
    ...rest,
  }) as KubeObject
const withDefaults = (plural: string, rest: object): KubeObject & Record<string, unknown> => {
  const object = of(plural, rest)
  for (const defaults of kind(plural).defaults ?? []) if (typeof defaults === 'function') defaults(object)
  kind(plural).prepare?.create?.(object, { name: 'me', groups: [] })
  return object as KubeObject & Record<string, unknown>
}
const errorMessages = (errors: readonly { field: string; message: string }[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
const validationErrors = (plural: string, rest: object): string[] =>
  errorMessages(kind(plural).validate?.object?.(withDefaults(plural, rest)))
const createErrors = (plural: string, rest: object): string[] =>
  errorMessages(kind(plural).validate?.create?.(withDefaults(plural, rest)))
const updateErrors = (plural: string, now: object, before: object): string[] =>
  errorMessages(kind(plural).validate?.update?.(withDefaults(plural, now), withDefaults(plural, before)))

test('table rows match kubectl get', () => {
  const cases: readonly (readonly [string, object, readonly Cell[]])[] = [
    [
      'deployments',
      workload({ replicas: 3 }, { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 2 }),
      ['x', '2/3', 3, 2, { since: undefined }, 'c', 'app:1', 'app=x'],
    ],
    [
      'replicasets',
      workload({
        replicas: 2,
        selector: {
          matchExpressions: [
            { key: 'x', operator: 'NotIn', values: ['2', '1'] },
            { key: 'app', operator: 'Exists' },
          ],
        },
      }),
      ['x', 2, 0, 0, { since: undefined }, 'c', 'app:1', 'app,x notin (1,2)'],
    ],
    ['statefulsets', workload({ replicas: 2 }, { readyReplicas: 1 }), ['x', '1/2', { since: undefined }, 'c', 'app:1']],
    [
      'daemonsets',
      workload(
        { template: template({ nodeSelector: { b: 'c', a: 'd' } }) },
        { desiredNumberScheduled: 2, numberReady: 1 },
      ),
      ['x', 2, 0, 1, 0, 0, 'a=d,b=c', { since: undefined }, 'c', 'app:1', 'app=x'],
    ],
    ['controllerrevisions', { revision: 7 }, ['x', '<none>', 7, { since: undefined }]],
    [
      'poddisruptionbudgets',
      { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 4 } },
      ['x', '50%', 'N/A', 4, { since: undefined }],
    ],
    ['poddisruptionbudgets', { spec: { maxUnavailable: 0 } }, ['x', 'N/A', '0', 0, { since: undefined }]],
  ]
  for (const [plural, rest, expected] of cases)
    assert.deepEqual(
      (kind(plural).columns ?? []).map((column) => column.cell(of(plural, rest))),
      expected,
      plural,
    )
  const owned = of(
    'controllerrevisions',
    { revision: 1 },
    { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'shop', uid: 'u', controller: true }] },
  )
  assert.equal(kind('controllerrevisions').columns?.[1]?.cell(owned), 'statefulset.apps/shop')
})

test('workloads get the defaults of upstream', () => {
  const spec = (plural: string, rest = workload()): Record<string, unknown> => {
    const {
      selector: _selector,
      template: _template,
      ...others
    } = withDefaults(plural, rest).spec as Record<string, unknown>
    return others
  }
  assert.deepEqual(spec('deployments'), {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
  })
  assert.deepEqual(spec('deployments', workload({ strategy: { type: 'Recreate' } })).strategy, { type: 'Recreate' })
  assert.deepEqual(spec('daemonsets'), {
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  })
  assert.deepEqual(
    spec(
      'statefulsets',
      workload({ volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: { accessModes: ['ReadWriteOnce'] } }] }),
    ),
    {
      podManagementPolicy: 'OrderedReady',
      replicas: 1,
      revisionHistoryLimit: 10,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'd' },
          spec: { accessModes: ['ReadWriteOnce'], resources: {}, volumeMode: 'Filesystem' },
          status: { phase: 'Pending' },
        },
      ],
    },
  )
  assert.deepEqual(
    ['deployments', 'replicasets', 'statefulsets', 'daemonsets'].map(
      (plural) => withDefaults(plural, workload({}, { replicas: 9 })).status,
    ),
    [
      {},
      { replicas: 0 },
      { replicas: 0, availableReplicas: 0 },
      { currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 },
    ],
  )
  assert.deepEqual(withDefaults('daemonsets', workload()).metadata.annotations, {
    'deprecated.daemonset.template.generation': '1',
  })
})

test('invalid workloads are rejected with the messages of upstream', () => {
  const mismatch =
    'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`'
  const cases: readonly (readonly [string, object, readonly string[]])[] = [
    ['deployments', {}, []],
    ['deployments', { selector: undefined }, ['spec.selector: Required value', mismatch]],
    ['deployments', { selector: {} }, ['spec.selector: Invalid value: {}: empty selector is invalid for deployment']],
    ['deployments', { selector: { matchLabels: { app: 'y' } } }, [mismatch]],
    [
      'deployments',
      { template: template({ restartPolicy: 'Never' }) },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
    [
      'deployments',
      { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'deployments',
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: '0%' } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0'],
    ],
    [
      'deployments',
      { minReadySeconds: 30, progressDeadlineSeconds: 30 },
      ['spec.progressDeadlineSeconds: Invalid value: 30: must be greater than minReadySeconds'],
    ],
    [
      'replicasets',
      { replicas: -2, minReadySeconds: -3 },
      [
        'spec.replicas: Invalid value: -2: must be greater than or equal to 0',
        'spec.minReadySeconds: Invalid value: -3: must be greater than or equal to 0',
      ],
    ],
    [
      'statefulsets',
      { podManagementPolicy: 'Eventually' },
      [`spec.podManagementPolicy: Invalid value: "Eventually": must be 'OrderedReady' or 'Parallel'`],
    ],
    [
      'statefulsets',
      { template: template({ activeDeadlineSeconds: 5 }) },
      ['spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported'],
    ],
    [
      'daemonsets',
      { updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
      ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
    ],
  ]
  for (const [plural, spec, expected] of cases)
    assert.deepEqual(validationErrors(plural, workload(spec)), expected, plural)
  assert.match(
    createErrors('statefulsets', workload({ serviceName: 'None' }))[0] ?? '',
    /^spec\.serviceName: Invalid value: "None": a lowercase RFC 1123 label/,
  )
  const retention = { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Keep', whenScaled: 'Retain' } }
  assert.deepEqual(validationErrors('statefulsets', workload(retention)), [
    'spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: ' +
      '"Retain", "Delete"',
  ])
  assert.deepEqual(validationErrors('poddisruptionbudgets', { spec: { minAvailable: -1 } }), [
    'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0',
  ])
  assert.match(
    validationErrors('poddisruptionbudgets', { spec: { minAvailable: 1, maxUnavailable: 1 } })[0] ?? '',
    /^spec: Invalid value: .*cannot be both set$/,
  )
  assert.deepEqual(validationErrors('controllerrevisions', { revision: -1, data: {} }), [
    'revision: Invalid value: -1: must be greater than or equal to 0',
  ])
})

test('selectors, and the identity of StatefulSet pods, are immutable', () => {
  const other = {
    selector: { matchLabels: { app: 'x', b: 'c' } },
    template: { ...template(), metadata: { labels: { app: 'x', b: 'c' } } },
  }
  for (const plural of ['deployments', 'replicasets', 'daemonsets'])
    assert.match(
      updateErrors(plural, workload(other), workload())[0] ?? '',
      /^spec\.selector: Invalid value: .*: field is immutable$/,
    )
  assert.match(
    updateErrors('statefulsets', workload({ serviceName: 'other' }), workload())[0] ?? '',
    /^spec: Forbidden: updates to statefulset spec/,
  )
  assert.deepEqual(updateErrors('statefulsets', workload({ replicas: 5, minReadySeconds: 2 }), workload()), [])
})

test("a Deployment's generation counts annotation changes, a DaemonSet counts template changes", () => {
  const { generation } = kind('deployments')
  assert.ok(typeof generation === 'function')
  const old = withDefaults('deployments', workload())
  assert.equal(generation({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }, old), false)
  assert.equal(generation({ ...old, metadata: { ...old.metadata, annotations: { a: 'b' } } }, old), true)
  const before = withDefaults('daemonsets', workload())
  const after = withDefaults('daemonsets', workload({ template: template({ hostname: 'h' }) }))
  kind('daemonsets').prepare?.update?.(after, before)
  assert.equal(after.metadata.annotations?.['deprecated.daemonset.template.generation'], '2')
})

test('the defaults of a DaemonSet set its template generation, so that its creator owns the field', () => {
  const note = 'deprecated.daemonset.template.generation'
  const { defaults = [], prepare } = kind('daemonsets')
  const complete = (object: KubeObject): KubeObject => {
    for (const one of defaults) if (typeof one === 'function') one(object)
    return object
  }
  const set = complete(of('daemonsets', workload()))
  assert.equal(set.metadata.annotations?.[note], '0')
  prepare?.create?.(set, { name: 'me', groups: [] })
  assert.equal(set.metadata.annotations?.[note], '1')
  // Clients cannot set the template generation.
  const sent = complete(of('daemonsets', workload(), { annotations: { [note]: '9' } }))
  prepare?.status?.(sent, set, '2026-01-01T00:00:00Z')
  assert.equal(sent.metadata.annotations?.[note], '1')
})
