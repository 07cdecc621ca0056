import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NetworkPolicy, Pod } from '../../../client/kinds.ts'
import { PeerSearch } from './peers.ts'
import { type Direction, rulesOf } from './pod-rules.ts'
import { PolicyObjects } from './policy-objects.ts'

const pod = (name: string, rest: Partial<Pod['spec']> = {}, status: Pod['status'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'x', name, uid: name, labels: { pod: name } },
  spec: { nodeName: 'here', containers: [], ...rest },
  status,
})

const policy = (spec: NetworkPolicy['spec'], name = 'p'): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'x', name },
  spec,
})

function rules(direction: Direction, spec: Partial<NonNullable<NetworkPolicy['spec']>>) {
  const objects = new PolicyObjects()
  const ports = [{ name: 'web', containerPort: 8080 }]
  objects.setPod(pod('a', { containers: [{ name: 'c', ports }] }, { podIP: '10.0.0.1' }), undefined)
  const [own] = objects.pods
  return rulesOf(own!, direction, [policy({ podSelector: {}, ...spec })], new PeerSearch(objects))
}

describe('the rules of a pod', () => {
  test('exist only if a policy of its namespace selects it for the direction', () => {
    assert.equal(rules('Egress', { policyTypes: ['Ingress'] }), undefined)
    assert.equal(rules('Ingress', { podSelector: { matchLabels: { pod: 'b' } } }), undefined)
    assert.deepEqual(rules('Ingress', { policyTypes: ['Ingress'] }), [])
  })

  test('have the number of a named port of the pod itself for ingress, and its name for egress', () => {
    const port = { port: 'web', protocol: 'TCP' }
    assert.deepEqual(rules('Ingress', { policyTypes: ['Ingress'], ingress: [{ ports: [port] }] })?.[0]?.ports, [
      { protocol: 'TCP', first: 8080, last: 8080 },
    ])
    const [egress] = rules('Egress', { policyTypes: ['Egress'], egress: [{ ports: [port] }] }) ?? []
    assert.deepEqual([egress?.ports, egress?.names], [[], [{ protocol: 'TCP', name: 'web' }]])
  })

  test('a port without a number is all ports of the protocol', () => {
    const ingress = [{ ports: [{ protocol: 'UDP' }, { port: 5, endPort: 9 }] }]
    assert.deepEqual(rules('Ingress', { policyTypes: ['Ingress'], ingress })?.[0]?.ports, [
      { protocol: 'UDP', first: 1, last: 65_535 },
      { protocol: 'TCP', first: 5, last: 9 },
    ])
  })
})

describe('the addresses of a pod', () => {
  const addressesOf = (objects: PolicyObjects): Record<string, readonly string[]> =>
    Object.fromEntries([...objects.pods].map(({ name, addresses }) => [name, addresses]))

  test('are those that the node gave, until the status has them', () => {
    const objects = new PolicyObjects()
    objects.connect(pod('a'), ['10.0.0.2'])
    objects.setPod(pod('a', {}, { podIPs: [{ ip: '10.0.0.1' }] }), pod('a'))
    assert.deepEqual(addressesOf(objects), { a: ['10.0.0.2'] }, 'the status is of an earlier sandbox')
    objects.setPod(pod('a', {}, { podIPs: [{ ip: '10.0.0.2' }] }), pod('a'))
    objects.setPod(pod('a', {}, { podIPs: [{ ip: '10.0.0.3' }] }), pod('a'))
    assert.deepEqual(addressesOf(objects), { a: ['10.0.0.3'] })
  })

  test('belong to the pod that got them last', () => {
    const objects = new PolicyObjects()
    const old = pod('old', {}, { podIPs: [{ ip: '10.0.0.2' }] })
    objects.setPod(old, undefined)
    objects.connect(pod('new'), ['10.0.0.2'])
    assert.deepEqual(addressesOf(objects), { old: [], new: ['10.0.0.2'] })
    objects.setPod(old, old)
    assert.deepEqual(addressesOf(objects), { old: [], new: ['10.0.0.2'] })
    objects.setPod(undefined, pod('new'))
    objects.setPod(old, old)
    assert.deepEqual(addressesOf(objects), { old: ['10.0.0.2'] })
  })

  test('of pods that have ended, or are in the network of the node, are not known', () => {
    const objects = new PolicyObjects()
    const status = { podIPs: [{ ip: '10.0.0.2' }] }
    objects.setPod(pod('host', { hostNetwork: true }, status), undefined)
    objects.setPod(pod('ended', {}, { ...status, phase: 'Succeeded' }), undefined)
    assert.deepEqual(addressesOf(objects), {})
  })
})
