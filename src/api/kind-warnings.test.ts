import assert from 'node:assert/strict'
import test from 'node:test'
import type { KubeObject } from '../machinery/object.ts'
import { resources as apps } from './apps/index.ts'
import { resources as batch } from './batch/index.ts'
import { resources as core } from './core/index.ts'
import { resources as networking } from './networking/index.ts'
import { resources as node } from './node/index.ts'
import type { ResourceDefinition } from './resource.ts'
import { resources as storage } from './storage/index.ts'

const all: readonly ResourceDefinition[] = [...core, ...apps, ...batch, ...networking, ...node, ...storage]
const warningsOf = (plural: string, rest: object, metadata: object = {}, old?: object): readonly string[] => {
  const definition = all.find((one) => one.plural === plural)
  const of = (part: object, meta: object): KubeObject => ({
    apiVersion: 'v1',
    kind: definition?.kind ?? '',
    metadata: { name: 'x', ...meta },
    ...part,
  })
  return definition?.warnings?.(of(rest, metadata), old && of(old, { generation: 1 })) ?? []
}
const template = {
  spec: { containers: [{ name: 'c', image: 'i' }], nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
}
const label = 'deprecated since v1.14; use "kubernetes.io/os" instead'
const expression = { key: 'beta.kubernetes.io/os', operator: 'In', values: ['linux'] }
const dotted =
  'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label ' +
  'is recommended: [must not contain dots]'

test('every kind with a pod template warns with the path of the template', () => {
  for (const plural of ['deployments', 'replicasets', 'statefulsets', 'daemonsets', 'replicationcontrollers', 'jobs'])
    assert.deepEqual(
      warningsOf(plural, { spec: { template } }),
      [`spec.template.spec.nodeSelector[beta.kubernetes.io/os]: ${label}`],
      plural,
    )
  assert.deepEqual(warningsOf('cronjobs', { spec: { jobTemplate: { spec: { template } } } }), [
    `spec.jobTemplate.spec.template.spec.nodeSelector[beta.kubernetes.io/os]: ${label}`,
  ])
  assert.deepEqual(warningsOf('podtemplates', { template }), [
    `template.spec.nodeSelector[beta.kubernetes.io/os]: ${label}`,
  ])
})

test('an update repeats warnings about the template only if the generation changes', () => {
  const spec = { spec: { template } }
  assert.deepEqual(warningsOf('deployments', spec, { generation: 1 }, spec), [])
  assert.equal(warningsOf('deployments', spec, { generation: 2 }, spec).length, 1)
})

test('names that are no DNS labels cause a warning on create only', () => {
  for (const plural of ['deployments', 'replicasets', 'replicationcontrollers', 'jobs', 'cronjobs'])
    assert.deepEqual(warningsOf(plural, { spec: { jobTemplate: {} } }, { name: 'a.b' }), [dotted], plural)
  assert.deepEqual(warningsOf('deployments', {}, { name: 'a.b', generation: 1 }, {}), [])
})

test('jobs, StatefulSets and nodes have warnings of their own', () => {
  assert.match(
    warningsOf('jobs', { spec: { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 } })[0] ?? '',
    /^spec: In Indexed Jobs with a number of completions higher than 10\^5 and a parallelism higher than 10\^4, /,
  )
  const claim = { metadata: { name: 'd' }, spec: { resources: { requests: { storage: '1500m' } } } }
  assert.deepEqual(warningsOf('statefulsets', { spec: { revisionHistoryLimit: -1, volumeClaimTemplates: [claim] } }), [
    'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be ' +
      'an integer',
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
  ])
  assert.deepEqual(warningsOf('nodes', { spec: { externalID: 'e', configSource: {}, podCIDRs: ['10.0.0.1/24'] } }), [
    'spec.configSource: the feature is removed',
    'spec.externalID: this field is deprecated, and is unused by Kubernetes',
    'spec.podCIDRs[0]: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or ' +
      '"10.0.0.1/32"?)',
  ])
})

test('storage kinds warn of deprecated annotations, volumes and labels', () => {
  const beta = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } }
  const words =
    'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use ' +
    '"storageClassName" attribute instead'
  assert.deepEqual(warningsOf('persistentvolumeclaims', { spec: {} }, beta), [words])
  const spec = {
    glusterfs: {},
    persistentVolumeReclaimPolicy: 'Recycle',
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } },
  }
  assert.deepEqual(warningsOf('persistentvolumes', { spec }, beta), [
    words,
    'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended ' +
      'approach is to use dynamic provisioning.',
    `spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is ${label}`,
    'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+',
  ])
  assert.deepEqual(warningsOf('storageclasses', { allowedTopologies: [{ matchLabelExpressions: [expression] }] }), [
    `allowedTopologies[0].matchLabelExpressions[0].key: beta.kubernetes.io/os is ${label}`,
  ])
  assert.deepEqual(
    warningsOf('csistoragecapacities', { nodeTopology: { matchLabels: { 'beta.kubernetes.io/os': 'linux' } } }),
    [`nodeTopology.matchLabels.beta.kubernetes.io/os: ${label}`],
  )
  assert.deepEqual(
    warningsOf('runtimeclasses', { scheduling: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } } }),
    [`scheduling.nodeSelector: ${label}`],
  )
})

test('a ServiceAccount warns when enforce-mountable-secrets is added', () => {
  const enforcing = { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'false' } }
  const words =
    'metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate ' +
    'namespaces to isolate access to mounted secrets'
  assert.deepEqual(warningsOf('serviceaccounts', {}, enforcing), [words])
  assert.deepEqual(warningsOf('serviceaccounts', {}, enforcing, {}), [words])
  assert.deepEqual(warningsOf('serviceaccounts', {}, enforcing, { metadata: enforcing }), [])
  assert.deepEqual(warningsOf('serviceaccounts', {}), [])
})

test('network policies warn of ranges that are not canonical', () => {
  assert.deepEqual(
    warningsOf('networkpolicies', {
      spec: { egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.1/16'] } }] }] },
    }),
    [
      'spec.egress[0].to[0].ipBlock.except[0]: CIDR value "10.1.0.1/16" is ambiguous in this context (should be ' +
        '"10.1.0.0/16" or "10.1.0.1/32"?)',
    ],
  )
})
