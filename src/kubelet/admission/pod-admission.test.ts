import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../client/kinds.ts'
import type { Pod } from '../pod-types.ts'
import { PodAdmission } from './pod-admission.ts'

const nodeOf = (labels: Record<string, string> = {}, allocatable: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels },
  status: { allocatable: { cpu: '2', memory: '1Gi', pods: '10', ...allocatable } },
})

const podOf = (spec: object, metadata: Partial<Pod['metadata']> = {}): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default', uid: 'u', ...metadata },
    spec: { containers: [{ name: 'c' }], ...spec },
  }) as Pod

const requesting = (requests: Record<string, string>, more: object = {}): object => ({
  containers: [{ name: 'c', resources: { requests }, ...more }],
})

interface Facts {
  readonly node?: Node
  /** The node in the API. */
  readonly current?: Node
  readonly active?: readonly Pod[]
}

function admissionOf({ node = nodeOf(), current = node, active = [] }: Facts = {}) {
  const preempted: string[] = []
  const admission = new PodAdmission({
    node: async () => node,
    readNode: async () => current,
    activePods: () => active,
    preempt: async ({ metadata }, resource) => void preempted.push(`${metadata.uid} for ${resource}`),
    allowedUnsafeSysctls: ['kernel.msg*', 'net/core/somaxconn'],
    hasAppArmor: false,
  })
  return { admission, preempted }
}

const reasonOf = async (spec: object, options: Facts = {}): Promise<string | undefined> =>
  (await admissionOf(options).admission.admit(podOf(spec)))?.reason

for (const [spec, expected] of [
  [{}, undefined],
  [requesting({ cpu: '2' }), undefined],
  [requesting({ cpu: '2001m' }), 'OutOfcpu'],
  [requesting({ memory: '2Gi' }), 'OutOfmemory'],
  [requesting({ 'hugepages-2Mi': '2Mi' }), 'OutOfhugepages-2Mi'],
  [requesting({ 'example.com/gpu': '3' }), 'OutOfexample.com/gpu'],
  // Only the cluster knows this resource.
  [requesting({ 'example.com/unknown': '3' }), undefined],
  [{ overhead: { cpu: '3' } }, 'OutOfcpu'],
  [{ nodeName: 'n2' }, 'NodeName'],
  [{ os: { name: 'windows' } }, 'PodOSNotSupported'],
  [{ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }, undefined],
  [{ securityContext: { sysctls: [{ name: 'net/core/somaxconn', value: '1' }] } }, undefined],
  [{ securityContext: { sysctls: [{ name: 'net.core.rmem_max', value: '1' }] } }, 'SysctlForbidden'],
  [{ hostNetwork: true, securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } }, 'SysctlForbidden'],
  [{ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }, 'AppArmor'],
  [{ securityContext: { appArmorProfile: { type: 'Unconfined' } } }, undefined],
] as const)
  test(`a pod with ${JSON.stringify(spec)} is ${expected ? `rejected with ${expected}` : 'admitted'}`, async () => {
    assert.equal(await reasonOf(spec, { node: nodeOf({}, { 'example.com/gpu': '2' }) }), expected)
  })

test('labels that are newer in the API admit a pod', async () => {
  const spec = { nodeSelector: { zone: 'a' } }
  assert.equal(await reasonOf(spec), 'NodeAffinity')
  assert.equal(await reasonOf(spec, { current: nodeOf({ zone: 'a' }) }), undefined)
})

test('a critical pod without enough pods to preempt is rejected', async () => {
  const { admission } = admissionOf()
  assert.deepEqual(await admission.admit(podOf({ ...requesting({ cpu: '3' }), priority: 2_000_000_000 })), {
    reason: 'UnexpectedAdmissionError',
    message:
      'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods ' +
      'to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]',
  })
})

test('a critical pod that has other misfits preempts nothing', async () => {
  const active = [podOf(requesting({ cpu: '2' }), { uid: 'other' })]
  const { admission, preempted } = admissionOf({ active })
  const pod = podOf({ ...requesting({ cpu: '1' }), priority: 2_000_000_000, nodeSelector: { zone: 'a' } })
  assert.equal((await admission.admit(pod))?.reason, 'NodeAffinity')
  assert.deepEqual(preempted, [])
})

test('checks of other parts come before those of the node, or after them', async () => {
  const { admission } = admissionOf()
  admission.add(() => ({ reason: 'NodeShutdown', message: 'last' }), 'last')
  assert.equal((await admission.admit(podOf({ nodeName: 'n2' })))?.reason, 'NodeName')
  assert.equal((await admission.admit(podOf({})))?.reason, 'NodeShutdown')
  admission.add(() => ({ reason: 'Evicted', message: 'first' }))
  assert.equal((await admission.admit(podOf({ nodeName: 'n2' })))?.reason, 'Evicted')
})
