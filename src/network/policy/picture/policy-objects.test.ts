import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { PolicyObjects } from './policy-objects.ts'

const pod = (name: string, rest: Partial<Pod['spec']> = {}, status: Pod['status'] = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'x', name, uid: name, labels: { pod: name } },
  spec: { nodeName: 'here', containers: [], ...rest },
  status,
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

  test('are a change only if they differ', () => {
    const objects = new PolicyObjects()
    const status = { podIPs: [{ ip: '10.0.0.2' }] }
    objects.setPod(pod('a', {}, status), undefined)
    assert.deepEqual([...objects.takeChanges().pods], ['x/a'])
    objects.setPod(pod('a', {}, { ...status, conditions: [] }), pod('a', {}, status))
    assert.deepEqual([...objects.takeChanges().pods], [])
  })
})
