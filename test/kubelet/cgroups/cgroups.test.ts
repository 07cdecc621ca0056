/** The cgroups of pods and of the node, with our API server and a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodes, pods } from '../../../src/client/kinds.ts'
import type { CgroupTree } from '../../../src/node/cgroups/tree/cgroup-tree.ts'
import { findCgroups } from '../../../src/node/cgroups/tree/find-cgroups.ts'
import { apiControllers } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { images } from '../support/runtimes/test-images.ts'
import { isRunning, sleeper, TestNode } from '../support/test-node.ts'

const isRoot = process.getuid?.() === 0
const options = { skip: isRoot ? false : 'needs root', timeout: 120_000 }

const tree: CgroupTree = findCgroups()
const node = isRoot ? await TestNode.start({ controllers: apiControllers }) : (undefined as never)

/** A weight of cgroup v2 is coarser than the shares it was made of. */
const assertShares = (actual: bigint | undefined, expected: bigint): void => {
  const difference = Number(actual ?? 0n) - Number(expected)
  assert.ok(tree.version === 1 ? difference === 0 : Math.abs(difference) <= 27, `shares ${actual}, not ${expected}`)
}

const equal = (amounts: Readonly<Record<string, string>>) => ({ requests: { ...amounts }, limits: { ...amounts } })

test('each pod has a cgroup with its limits, below that of its QoS class', options, async () => {
  const { client, cgroup } = node
  const guaranteed = sleeper('guaranteed', { resources: equal({ cpu: '250m', memory: '64Mi' }) })
  const burstable = sleeper('burstable', {
    resources: { requests: { cpu: '300m', memory: '16Mi' }, limits: { memory: '32Mi' } },
  })
  const created = await Promise.all(
    [guaranteed, burstable, sleeper('best-effort')].map((pod) => client.create(pods, pod)),
  )
  for (const { metadata } of created) await node.until(metadata.name ?? '', 'runs', isRunning)
  const [g = '', b = '', e = ''] = created.map(({ metadata }) => metadata.uid)

  const ofGuaranteed = tree.read(`${cgroup}/pod${g}`)
  assertShares(ofGuaranteed.cpuShares, 256n)
  assert.deepEqual([ofGuaranteed.cpuQuota, ofGuaranteed.memory], [25_000n, 64n << 20n])
  const ofBurstable = tree.read(`${cgroup}/burstable/pod${b}`)
  assertShares(ofBurstable.cpuShares, 307n)
  assert.deepEqual([ofBurstable.cpuQuota, ofBurstable.memory], [-1n, 32n << 20n])
  const ofBestEffort = tree.read(`${cgroup}/besteffort/pod${e}`)
  assertShares(ofBestEffort.cpuShares, 2n)
  assert.deepEqual([ofBestEffort.cpuQuota, ofBestEffort.memory], [-1n, -1n])

  assertShares(tree.read(`${cgroup}/burstable`).cpuShares, 307n)
  assertShares(tree.read(`${cgroup}/besteffort`).cpuShares, 2n)
  for (const path of [`pod${g}`, `burstable/pod${b}`, `besteffort/pod${e}`])
    assert.ok(tree.processes(`${cgroup}/${path}`).length >= 1, 'the container is in the cgroup of the pod')
})

test('containers without limits have those of their pod', options, async () => {
  const { client, cgroup } = node
  const command = ['sleep', '2147483647']
  const containers = [
    { name: 'own', image: images.busybox, command, resources: { limits: { cpu: '200m', memory: '32Mi' } } },
    { name: 'shared', image: images.busybox, command },
  ]
  const resources = { requests: { cpu: '500m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } }
  const { metadata } = await client.create(pods, sleeper('pod-level', {}, { containers, resources }))
  const { status } = await node.until('pod-level', 'runs', isRunning)
  const path = `${cgroup}/burstable/pod${metadata.uid}`
  const ofPod = tree.read(path)
  assertShares(ofPod.cpuShares, 512n)
  assert.deepEqual([ofPod.cpuQuota, ofPod.memory], [100_000n, 128n << 20n])
  const limitsOf = (name: string) => {
    const id = status?.containerStatuses?.find((one) => one.name === name)?.containerID?.split('//')[1]
    const { cpuQuota, memory } = tree.read(`${path}/${id}`)
    return [cpuQuota, memory]
  }
  assert.deepEqual(limitsOf('own'), [20_000n, 32n << 20n])
  assert.deepEqual(limitsOf('shared'), [100_000n, 128n << 20n])
})

test('a deleted pod leaves no cgroup', options, async () => {
  const { client, cgroup } = node
  const { metadata } = await client.create(pods, sleeper('deleted', { resources: { requests: { cpu: '50m' } } }))
  await node.until('deleted', 'runs', isRunning)
  const path = `${cgroup}/burstable/pod${metadata.uid}`
  assert.deepEqual(tree.missing(path), [])
  await client.delete(pods, 'default', 'deleted')
  await waitFor('the cgroup is removed', () => !tree.children(`${cgroup}/burstable`).includes(`pod${metadata.uid}`))
})

test('all pods together have the resources of the node', options, async () => {
  const { client, cgroup } = node
  const { capacity = {} } = (await client.get(nodes, '', 'n1')).status ?? {}
  const values = tree.read(cgroup)
  assertShares(values.cpuShares, BigInt(capacity.cpu ?? 0) * 1024n)
  assert.equal(`${(values.memory ?? 0n) >> 10n}Ki`, capacity.memory)
  const seen = await waitFor('the event', async () => {
    const all = await node.eventsOf('n1')
    return all.some((one) => one.startsWith('NodeAllocatableEnforced')) ? all : undefined
  })
  assert.ok(seen.includes('NodeAllocatableEnforced Updated Node Allocatable limit across pods'), seen.join('\n'))
})

test('a kubelet that starts removes the cgroups of pods that do not exist', options, async () => {
  const { cgroup } = node
  const path = `${cgroup}/besteffort/podb9e3a7f0-0000-4000-8000-000000000000`
  await node.restart(() => tree.create(path))
  await waitFor('the cgroup of an unknown pod is removed', () => tree.missing(path).length > 0)
  const running = await node.until('guaranteed', 'runs', isRunning)
  assert.equal(running.status?.containerStatuses?.[0]?.restartCount, 0)
  assert.deepEqual(tree.missing(`${cgroup}/pod${running.metadata.uid}`), [])
  assert.deepEqual(node.log, [])
})
