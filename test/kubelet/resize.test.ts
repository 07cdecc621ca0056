/** In-place resizes of pods (KEP-1287), with our API server, kubectl and a container runtime. Needs root. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { nodes, type Pod, pods } from '../../src/client/kinds.ts'
import { findCgroups } from '../../src/node/cgroups/tree/find-cgroups.ts'
import { installedKubectls, Kubectl } from '../support/kubectl.ts'
import { apiControllers } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { images } from './support/runtimes/test-images.ts'
import { isRunning, sleeper, TestNode } from './support/test-node.ts'

const isRoot = process.getuid?.() === 0
const options = { skip: isRoot ? false : 'needs root', timeout: 120_000 }

const tree = findCgroups()
const node = isRoot ? await TestNode.start({ controllers: apiControllers }) : (undefined as never)

type Amounts = Readonly<Record<string, string>>

/** As `kubectl patch --subresource resize` does. */
const resize = (name: string, requests: Amounts, limits: Amounts = {}, container = 'main'): Promise<Pod> =>
  node.client.patch(
    pods,
    'default',
    name,
    { spec: { containers: [{ name: container, resources: { requests: { ...requests }, limits: { ...limits } } }] } },
    'strategic',
    'resize',
  )

/** The same by kubectl, if that of this machine knows the subresource. */
async function resizeByKubectl(name: string, requests: Amounts, limits: Amounts): Promise<void> {
  const program = installedKubectls().at(-1)
  if (!program || program.minor < 32) {
    await resize(name, requests, limits)
    return
  }
  const kubeconfig = join(node.root, 'kubeconfig.json')
  writeFileSync(kubeconfig, JSON.stringify(node.cluster.kubeconfig))
  const patch = JSON.stringify({ spec: { containers: [{ name: 'main', resources: { requests, limits } }] } })
  const kubectl = new Kubectl(program, kubeconfig, node.root)
  await kubectl.ok(`patch pod ${name} --subresource resize --patch '${patch}'`, `pod/${name} patched\n`)
}

const conditionOf = (pod: Pod, type: string) => pod.status?.conditions?.find((one) => one.type === type)
const mainOf = ({ status }: Pod) => status?.containerStatuses?.[0]

/** The pod has no pending and no running resize, and its status has these requests. */
const isResized =
  (requests: Amounts) =>
  (pod: Pod): boolean =>
    !conditionOf(pod, 'PodResizePending') &&
    !conditionOf(pod, 'PodResizeInProgress') &&
    Object.entries(requests).every(([name, amount]) => mainOf(pod)?.resources?.requests?.[name] === amount)

const cgroupOf = (pod: Pod): string => {
  const { qosClass = '' } = pod.status ?? {}
  const level = qosClass === 'Guaranteed' ? '' : `/${qosClass.toLowerCase()}`
  return `${node.cgroup}${level}/pod${pod.metadata.uid}`
}

const containerCgroupOf = (pod: Pod): string => `${cgroupOf(pod)}/${mainOf(pod)?.containerID?.split('//')[1]}`

async function started(pod: Pod): Promise<Pod> {
  await node.client.create(pods, pod)
  return node.until(pod.metadata.name ?? '', 'runs', isRunning)
}

test('more CPU and memory reach the cgroups of a running container', options, async () => {
  const before = await started(
    sleeper('grows', {
      resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '200m', memory: '64Mi' } },
    }),
  )
  assert.deepEqual(mainOf(before)?.resources, {
    requests: { cpu: '100m', memory: '32Mi' },
    limits: { cpu: '200m', memory: '64Mi' },
  })
  await resizeByKubectl('grows', { cpu: '200m', memory: '48Mi' }, { cpu: '400m', memory: '128Mi' })
  const after = await node.until('grows', 'is larger', isResized({ cpu: '200m', memory: '48Mi' }))
  for (const path of [containerCgroupOf(after), cgroupOf(after)]) {
    const { cpuQuota, memory } = tree.read(path)
    assert.deepEqual([cpuQuota, memory], [40_000n, 128n << 20n], path)
  }
  assert.equal(mainOf(after)?.restartCount, 0)
  assert.equal(mainOf(after)?.containerID, mainOf(before)?.containerID)
  assert.deepEqual(mainOf(after)?.allocatedResources, { cpu: '200m', memory: '48Mi' })
  assert.deepEqual(after.status?.resources?.limits, { cpu: '400m', memory: '128Mi' })
  const seen = await waitFor('the events', async () => {
    const all = await node.eventsOf('grows')
    return all.some((one) => one.startsWith('ResizeCompleted')) ? all : undefined
  })
  const summary =
    '{"containers":[{"name":"main","resources":{"limits":{"cpu":"400m","memory":"128Mi"},' +
    '"requests":{"cpu":"200m","memory":"48Mi"}}}],"generation":2}'
  assert.ok(seen.includes(`ResizeStarted Pod resize started: ${summary}`), seen.join('\n'))
  assert.ok(seen.includes(`ResizeCompleted Pod resize completed: ${summary}`), seen.join('\n'))
})

test('less CPU and memory reach the cgroups, requests alone, too', options, async () => {
  await started(
    sleeper('shrinks', { resources: { requests: { cpu: '400m', memory: '64Mi' }, limits: { memory: '128Mi' } } }),
  )
  await resize('shrinks', { cpu: '100m', memory: '32Mi' }, { memory: '64Mi' })
  const after = await node.until('shrinks', 'is smaller', isResized({ cpu: '100m', memory: '32Mi' }))
  assert.equal(tree.read(containerCgroupOf(after)).memory, 64n << 20n)
  assert.equal(tree.read(cgroupOf(after)).memory, 64n << 20n)
  await resize('shrinks', { cpu: '300m', memory: '32Mi' }, { memory: '64Mi' })
  const last = await node.until('shrinks', 'has another request', isResized({ cpu: '300m' }))
  if (tree.version === 1) assert.equal(tree.read(containerCgroupOf(last)).cpuShares, 307n)
  assert.equal(mainOf(last)?.restartCount, 0)
})

test('a container whose policy requires it restarts with its new memory', options, async () => {
  const before = await started(
    sleeper('restarts', {
      resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { memory: '32Mi' } },
      resizePolicy: [
        { resourceName: 'cpu', restartPolicy: 'NotRequired' },
        { resourceName: 'memory', restartPolicy: 'RestartContainer' },
      ],
    }),
  )
  await resize('restarts', { cpu: '200m', memory: '32Mi' }, { memory: '32Mi' })
  const same = await node.until('restarts', 'has more CPU', isResized({ cpu: '200m' }))
  assert.equal(mainOf(same)?.containerID, mainOf(before)?.containerID)
  await resize('restarts', { cpu: '200m', memory: '48Mi' }, { memory: '64Mi' })
  const after = await node.until(
    'restarts',
    'has more memory',
    (pod) => isRunning(pod) && mainOf(pod)?.restartCount === 1 && isResized({ memory: '48Mi' })(pod),
  )
  assert.equal(tree.read(containerCgroupOf(after)).memory, 64n << 20n)
  const seen = await node.eventsOf('restarts')
  assert.ok(seen.includes('Killing Container main resize requires restart'), seen.join('\n'))
})

test('a resize that does not fit is deferred until another pod is deleted', options, async () => {
  const { allocatable = {} } = (await node.client.get(nodes, '', 'n1')).status ?? {}
  const all = Number(allocatable.cpu) * 1000
  const large = await started(sleeper('large', { resources: { requests: { cpu: `${all - 900}m` } } }))
  const waits = await started(sleeper('waits', { resources: { requests: { cpu: '10m' } } }))
  await resize('waits', { cpu: `${all - 1050}m` })
  const pending = await node.until('waits', 'is pending', (pod) => conditionOf(pod, 'PodResizePending') !== undefined)
  const { reason, message, status, observedGeneration } = conditionOf(pending, 'PodResizePending') ?? {}
  assert.deepEqual([reason, status, observedGeneration], ['Deferred', 'True', 2])
  assert.match(message ?? '', new RegExp(`^Node didn't have enough resource: cpu, requested: ${all - 1050}, used: `))
  assert.deepEqual(mainOf(pending)?.allocatedResources, { cpu: '10m' })
  // It is still pending after a restart, which remembers what was allocated.
  await node.restart()
  await node.until('waits', 'is pending', (pod) => conditionOf(pod, 'PodResizePending')?.reason === 'Deferred')
  await node.deleted(large)
  await node.until('waits', 'is resized', isResized({ cpu: `${all - 1050}m` }))
  const seen = await node.eventsOf('waits')
  assert.ok(
    seen.some((one) => one.startsWith('ResizeDeferred Pod resize Deferred: {')),
    seen.join('\n'),
  )
  // Its CPU is free when its containers have ended.
  await node.deleted(waits)
})

test('a limit of memory below the usage is an error of the resize', options, async () => {
  const script = 'head -c 30000000 /dev/zero | tail -c 30000000 > /dev/shm/data; sleep 2147483647'
  await started(
    sleeper('full', {
      image: images.busybox,
      command: ['sh', '-c', script],
      resources: { requests: { memory: '16Mi' }, limits: { memory: '128Mi' } },
    }),
  )
  const pod = await node.until('full', 'runs', isRunning)
  await waitFor('memory is in use', () => tree.memoryUsage(cgroupOf(pod)) > 30_000_000n)
  await resize('full', { memory: '8Mi' }, { memory: '16Mi' })
  const failed = await node.until(
    'full',
    'has an error',
    (one) => conditionOf(one, 'PodResizeInProgress')?.reason === 'Error',
  )
  assert.match(
    conditionOf(failed, 'PodResizeInProgress')?.message ?? '',
    /^cannot decrease memory limits: \[attempting to set pod memory limit \(16777216\) below current usage \(\d+\), /,
  )
  assert.equal(tree.read(containerCgroupOf(failed)).memory, 128n << 20n)
  await resize('full', { memory: '16Mi' }, { memory: '128Mi' })
  await node.until('full', 'is as before', isResized({ memory: '16Mi' }))
})

test('the resources of a pod as a whole are resized', options, async () => {
  await started(
    sleeper(
      'whole',
      {},
      { resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '200m', memory: '64Mi' } } },
    ),
  )
  const requests = { cpu: '200m', memory: '48Mi' }
  const limits = { cpu: '400m', memory: '96Mi' }
  await node.client.patch(
    pods,
    'default',
    'whole',
    { spec: { resources: { requests, limits } } },
    'strategic',
    'resize',
  )
  const after = await node.until(
    'whole',
    'is larger',
    (pod) => pod.status?.resources?.limits?.memory === '96Mi' && !conditionOf(pod, 'PodResizeInProgress'),
  )
  for (const path of [containerCgroupOf(after), cgroupOf(after)]) {
    const { cpuQuota, memory } = tree.read(path)
    assert.deepEqual([cpuQuota, memory], [40_000n, 96n << 20n], path)
  }
  assert.deepEqual(after.status?.allocatedResources, requests)
  assert.equal(mainOf(after)?.restartCount, 0)
})

test('a corrupt record of resources is set aside, and nothing restarts', options, async () => {
  const before = await node.until('grows', 'runs', isRunning)
  await node.restart(() => {
    for (const name of ['allocated_pods_state', 'actuated_pods_state'])
      writeFileSync(join(node.root, 'kubelet', name), '{"data":"{}","checksum":1}')
  })
  assert.equal(node.log.filter((line) => line.includes('it is renamed to')).length, 2, node.log.join('\n'))
  await resize('grows', { cpu: '150m', memory: '48Mi' }, { cpu: '300m', memory: '128Mi' })
  const after = await node.until('grows', 'is resized', isResized({ cpu: '150m' }))
  assert.equal(tree.read(containerCgroupOf(after)).cpuQuota, 30_000n)
  assert.equal(mainOf(after)?.containerID, mainOf(before)?.containerID)
})
