import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'
import { pluginFixture } from '../plugin.fixture.ts'
import { checkRequest } from './check-request.ts'
import { limitedResources } from './configuration.ts'
import type { Quota } from './quota.ts'
import { evaluatorOf } from './usage/evaluators.ts'

const fixture = pluginFixture()
const quota = (name: string, hard: Quota['hard'], used: Quota['used'], scopes: Quota['scopes'] = []): Quota => ({
  namespace: 'a',
  name,
  uid: name,
  revision: 1,
  specHard: hard,
  hard,
  used,
  scopes,
})
const pod = (cpu: string, spec: object = {}) =>
  fixture.write('v1/pods', {
    metadata: { name: 'p', namespace: 'a' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...spec },
  })
const claim = (storage: string) =>
  fixture.write('v1/persistentvolumeclaims', {
    metadata: { name: 'c', namespace: 'a' },
    spec: { resources: { requests: { storage } } },
  })

/** Returns the charges by the quota's name, or the message of the rejection. */
function outcome(quotas: readonly Quota[], attributes: AdmissionAttributes, configuration?: object): unknown {
  try {
    const charges = checkRequest(quotas, attributes, evaluatorOf(attributes.resource)!, limitedResources(configuration))
    return Object.fromEntries([...charges].map(([{ name }, charge]) => [name, charge]))
  } catch (error) {
    return (error as Error).message
  }
}

test('a write is charged to every quota that limits a resource it uses', () => {
  const quotas = [
    quota('q', { pods: '2', cpu: '1' }, { pods: '0', cpu: '0' }),
    quota('r', { secrets: '0' }, { secrets: '0' }),
  ]
  assert.deepEqual(outcome(quotas, pod('600m')), { q: { pods: '1', cpu: '600m' } })
})

test('an exceeded quota is reported with the requested, used and limited amounts', () => {
  const full = quota('q', { pods: '2', cpu: '1', memory: '1Gi' }, { pods: '2', cpu: '600m', memory: '0' })
  const attributes = pod('600m', {
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '600m', memory: '1' } } }],
  })
  assert.equal(
    outcome([full], attributes),
    'pods "p" is forbidden: exceeded quota: q, requested: cpu=600m,pods=1, used: cpu=600m,pods=2, limited: ' +
      'cpu=1,pods=2',
  )
})

test('a quota without a complete usage count admits nothing', () => {
  assert.equal(
    outcome([quota('q', { pods: '2', cpu: '1' }, { pods: '0' })], pod('1m')),
    'pods "p" is forbidden: status unknown for quota: q, resources: cpu,pods',
  )
})

test('a quota without status limits nothing', () => {
  assert.deepEqual(outcome([{ ...quota('q', {}, {}), specHard: { pods: '0' } }], pod('1m')), {})
})

test('only an object in all scopes of a quota is charged to it', () => {
  const scopes = [
    { scopeName: 'NotTerminating', operator: 'Exists' },
    { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
  ]
  const quotas = [quota('q', { pods: '0' }, { pods: '0' }, scopes)]
  assert.deepEqual(outcome(quotas, pod('1m')), {})
  assert.deepEqual(outcome(quotas, pod('1m', { priorityClassName: 'high', activeDeadlineSeconds: 1 })), {})
  assert.match(
    String(outcome(quotas, pod('1m', { priorityClassName: 'high' }))),
    /exceeded quota: q, requested: pods=1/,
  )
  assert.deepEqual(
    outcome(
      [quota('s', { secrets: '0' }, { secrets: '0' }, scopes)],
      fixture.write('v1/secrets', { metadata: { name: 's', namespace: 'a' } }),
    ),
    {},
  )
})

test('an update is charged for the increase only', () => {
  const quotas = [
    quota(
      'q',
      { 'requests.storage': '5Gi', persistentvolumeclaims: '1' },
      { 'requests.storage': '2Gi', persistentvolumeclaims: '1' },
    ),
  ]
  const update = (to: string) => ({ ...claim(to), operation: 'UPDATE', old: claim('2Gi').object }) as const
  assert.deepEqual(outcome(quotas, update('4Gi')), { q: { 'requests.storage': '2Gi' } })
  assert.deepEqual(outcome(quotas, update('2Gi')), {})
  assert.deepEqual(outcome(quotas, update('1Gi')), {})
  assert.match(
    String(outcome(quotas, update('6Gi'))),
    /requested: requests\.storage=4Gi, used: requests\.storage=2Gi, limited: requests\.storage=5Gi$/,
  )
  // A status reports what has already happened.
  assert.deepEqual(outcome(quotas, { ...update('6Gi'), subresource: 'status' }), { q: { 'requests.storage': '4Gi' } })
})

const configuration = (...limited: readonly object[]) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'ResourceQuotaConfiguration',
  limitedResources: limited,
})

test('limitedResources can require a quota for a resource', () => {
  const limited = configuration({ resource: 'pods', matchContains: ['cpu'] })
  assert.equal(outcome([], pod('1'), limited), 'pods "p" is forbidden: insufficient quota to consume: cpu,requests.cpu')
  assert.deepEqual(outcome([], pod('0'), limited), {})
  assert.deepEqual(outcome([], claim('1'), limited), {})
  const covering = quota('q', { cpu: '2', 'requests.cpu': '2' }, { cpu: '0', 'requests.cpu': '0' })
  assert.deepEqual(outcome([covering], pod('1'), limited), { q: { cpu: '1', 'requests.cpu': '1' } })
})

test('a quota for another resource does not cover a limited resource', () => {
  const limited = configuration({ resource: 'pods', matchContains: ['requests.cpu'] })
  const other = quota('q', { 'limits.ephemeral-storage': '1' }, { 'limits.ephemeral-storage': '0' })
  assert.equal(
    outcome([other], pod('1'), limited),
    'pods "p" is forbidden: insufficient quota to consume: requests.cpu',
  )
  assert.deepEqual(outcome([other], pod('1')), {})
})

test('limitedResources can require a quota for a scope', () => {
  const high = { scopeName: 'PriorityClass', operator: 'In', values: ['high', 'higher'] }
  const limited = configuration({ resource: 'pods', matchScopes: [high] })
  const attributes = pod('1', { priorityClassName: 'high' })
  assert.equal(
    outcome([], attributes, limited),
    'insufficient quota to match these scopes: [{PriorityClass In [high higher]}]',
  )
  assert.deepEqual(outcome([], pod('1'), limited), {})
  assert.deepEqual(outcome([quota('q', { pods: '1' }, { pods: '0' }, [high])], attributes, limited), {
    q: { pods: '1' },
  })
})

test('an invalid configuration is an error', () => {
  assert.throws(() => limitedResources(configuration({ matchContains: ['cpu'] })), {
    message: 'limitedResources[0].resource: Required value',
  })
  assert.throws(() => limitedResources(configuration({ resource: 'pods', contains: [] })), {
    message: 'strict decoding error: unknown field "limitedResources[0].contains"',
  })
})
