/** Validation that depends on feature gates. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../machinery/object.ts'
import { allResources } from '../registry.ts'
import { resourceKey } from '../resource.ts'
import { isFeatureOn, withFeatures } from './current.ts'
import { FeatureGates } from './feature-gates.ts'

const kind = (key: string) => allResources.find((definition) => resourceKey(definition) === key)!
const faults = (key: string, object: object, old: object, gate: string, isOn: boolean): string[] =>
  withFeatures(new FeatureGates({ [gate]: isOn }), () =>
    (kind(key).validate?.update?.(object as KubeObject, old as KubeObject) ?? []).map(({ field }) => field),
  )

test('withFeatures restores the features after the call, also if it throws', () => {
  const features = new FeatureGates({ ContainerStopSignals: true })
  assert.equal(isFeatureOn('ContainerStopSignals'), false)
  assert.equal(
    withFeatures(features, () => isFeatureOn('ContainerStopSignals')),
    true,
  )
  assert.throws(() =>
    withFeatures(features, () => {
      throw new Error('no')
    }),
  )
  assert.equal(isFeatureOn('ContainerStopSignals'), false)
})

test('MutablePVNodeAffinity: the node affinity of a volume may change', () => {
  const volume = (value: string) => ({
    metadata: { name: 'v' },
    spec: {
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: [value] }] }] },
      },
    },
  })
  assert.deepEqual(faults('v1/persistentvolumes', volume('x'), volume('y'), 'MutablePVNodeAffinity', false), [
    'nodeAffinity',
  ])
  assert.deepEqual(faults('v1/persistentvolumes', volume('x'), volume('y'), 'MutablePVNodeAffinity', true), [])
})

const job = (pod: object, cpu: string, startTime?: string) => ({
  metadata: { name: 'j' },
  spec: {
    suspend: true,
    parallelism: 1,
    completions: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'c', image: 'a:1', resources: { requests: { cpu } } }],
        ...pod,
      },
    },
  },
  status: startTime ? { startTime, conditions: [{ type: 'Suspended', status: 'True' }] } : {},
})
const templateFaults = (object: object, old: object, gate: string, isOn: boolean): string[] =>
  faults('batch/v1/jobs', object, old, gate, isOn).filter(
    (field) => field === 'spec.template' || field === 'spec.template.spec',
  )

test('MutablePodResourcesForSuspendedJobs: resources of a suspended Job may change', () => {
  const gate = 'MutablePodResourcesForSuspendedJobs'
  assert.deepEqual(templateFaults(job({}, '2'), job({}, '1'), gate, true), [])
  assert.deepEqual(templateFaults(job({}, '2'), job({}, '1'), gate, false).length, 1)
})

test('MutableSchedulingDirectivesForSuspendedJobs: scheduling fields may change after a Job has run', () => {
  const gate = 'MutableSchedulingDirectivesForSuspendedJobs'
  const [now, old] = [
    job({ nodeSelector: { zone: 'a' } }, '1', '2026-01-01T00:00:00Z'),
    job({}, '1', '2026-01-01T00:00:00Z'),
  ]
  assert.deepEqual(templateFaults(now, old, gate, true), [])
  assert.deepEqual(templateFaults(now, old, gate, false).length, 1)
  assert.deepEqual(
    templateFaults(job({ nodeSelector: { zone: 'a' } }, '1'), job({}, '1'), gate, false),
    [],
    'one that has not',
  )
})

test('MatchLabelKeysInPodTopologySpreadSelectorMerge: label keys are merged into selectors', () => {
  const created = (isOn: boolean): unknown => {
    const pod = {
      metadata: { name: 'p', labels: { v: '1' } },
      spec: { containers: [], topologySpreadConstraints: [{ labelSelector: {}, matchLabelKeys: ['v'] }] },
    }
    withFeatures(new FeatureGates({ MatchLabelKeysInPodTopologySpreadSelectorMerge: isOn }), () =>
      kind('v1/pods').prepare?.create?.(pod as unknown as KubeObject, { name: 'a', groups: [] }),
    )
    return pod.spec.topologySpreadConstraints[0]?.labelSelector
  }
  assert.deepEqual(created(true), { matchExpressions: [{ key: 'v', operator: 'In', values: ['1'] }] })
  assert.deepEqual(created(false), {})
})
