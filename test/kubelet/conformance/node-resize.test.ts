/** Tests of the conformance suite for resizes in place (`test/e2e/common/node/pod_resize.go`), on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Pod, pods } from '../../../src/client/kinds.ts'
import type { Container } from '../../../src/kubelet/pod-types.ts'
import { findCgroups } from '../../../src/node/cgroups/tree/find-cgroups.ts'
import { waitFor } from '../../support/wait-for.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { shell, TestNode } from '../support/test-node.ts'

interface Amounts {
  /** In milli-CPUs. */
  readonly cpu?: number
  /** In MiB. */
  readonly memory?: number
}

/** The resources of a container. */
interface Resources {
  readonly requests?: Amounts
  readonly limits?: Amounts
}

interface Case {
  /** Upstream's `testname`. */
  readonly title: string
  readonly before: readonly Resources[]
  readonly after: readonly Resources[]
  /** True if the resize can be reverted: requests and limits that are new cannot be removed. */
  readonly isReverted: boolean
}

/** The amounts of upstream, in milli-CPUs and MiB. */
const [original, reduced, increased] = [
  { cpu: 20, memory: 35 },
  { cpu: 15, memory: 30 },
  { cpu: 25, memory: 40 },
]
const increasedLimits = { cpu: 35, memory: 50 }

/** A container of a Guaranteed pod: `offset` makes it different from others. */
const guaranteed = (offset: number, { cpu, memory }: Required<Amounts>): Resources => {
  const amounts = { cpu: cpu + 2 * offset, memory: memory + 2 * offset }
  return { requests: amounts, limits: amounts }
}

const three = [0, 1, 2].map((offset) => guaranteed(offset, original))

const cases: readonly Case[] = [
  {
    title: 'In-place Pod Resize, guaranteed pods with multiple containers, net increase',
    before: three,
    after: [guaranteed(0, increased), guaranteed(1, increased), guaranteed(2, reduced)],
    isReverted: true,
  },
  {
    title: 'In-place Pod Resize, guaranteed pods with multiple containers, net decrease',
    before: three,
    after: [guaranteed(0, increased), guaranteed(1, reduced), guaranteed(2, reduced)],
    isReverted: true,
  },
  {
    title: 'In-place Pod Resize, guaranteed pods with multiple containers, various operations',
    before: three,
    after: [
      guaranteed(0, { cpu: increased.cpu, memory: original.memory }),
      guaranteed(1, { cpu: reduced.cpu, memory: increased.memory }),
      guaranteed(2, increased),
    ],
    isReverted: true,
  },
  {
    title: 'In-place Pod Resize, burtable pod with multiple containers and various operations',
    before: [
      { requests: { cpu: original.cpu } },
      { requests: { memory: original.memory } },
      { requests: original },
      { requests: { cpu: original.cpu } },
      { requests: { memory: original.memory } },
    ],
    after: [
      { requests: { cpu: increased.cpu }, limits: { cpu: increasedLimits.cpu } },
      { requests: { memory: reduced.memory }, limits: { memory: increasedLimits.memory } },
      { requests: { cpu: original.cpu, memory: reduced.memory } },
      { requests: { cpu: reduced.cpu, memory: original.memory } },
      { requests: { cpu: original.cpu, memory: increased.memory } },
    ],
    isReverted: false,
  },
  {
    title: 'In-place Pod Resize, burstable pod resized with equivalents',
    before: [{ requests: { cpu: 2 }, limits: { cpu: 10 } }],
    after: [{ requests: { cpu: 1 }, limits: { cpu: 5 } }],
    isReverted: true,
  },
]

const quantities = ({ cpu, memory }: Amounts) => ({
  ...(cpu !== undefined && { cpu: `${cpu}m` }),
  ...(memory !== undefined && { memory: `${memory}Mi` }),
})

const resourcesOf = ({ requests, limits }: Resources): NonNullable<Container['resources']> => ({
  ...(requests && { requests: quantities(requests) }),
  ...(limits && { limits: quantities(limits) }),
})

const containersOf = (all: readonly Resources[]): Container[] =>
  all.map((one, index) => shell(`c${index + 1}`, 'sleep 1d', { resources: resourcesOf(one) }))

const tree = findCgroups()

/** The values of the cgroup of a container: 1024 shares and a quota of 100 ms are one CPU. */
function expectedCgroup({ requests = {}, limits = {} }: Resources) {
  const shares = Math.max(2, Math.floor(((requests.cpu ?? limits.cpu ?? 0) * 1024) / 1000))
  return {
    ...(tree.version === 1 && { cpuShares: BigInt(shares) }),
    cpuQuota: limits.cpu === undefined ? -1n : BigInt(Math.max(1000, limits.cpu * 100)),
    memory: limits.memory === undefined ? -1n : BigInt(limits.memory) << 20n,
  }
}

function cgroupOf(node: TestNode, { metadata, status }: Pod, index: number) {
  const level = status?.qosClass === 'Guaranteed' ? '' : `/${status?.qosClass?.toLowerCase()}`
  const id = status?.containerStatuses?.[index]?.containerID?.split('//')[1]
  const { cpuShares, cpuQuota, memory } = tree.read(`${node.cgroup}${level}/pod${metadata.uid}/${id}`)
  return { ...(tree.version === 1 && { cpuShares }), cpuQuota, memory }
}

const isResizing = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type }) => type === 'PodResizePending' || type === 'PodResizeInProgress')

const isReady = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True')

/** Resolves when the pod has these resources in its status and its cgroups. No container has restarted. */
async function hasResources(node: TestNode, pod: Pod, wanted: readonly Resources[]): Promise<Pod> {
  const expected = wanted.map(resourcesOf)
  const current = await node.until(pod, `has ${JSON.stringify(expected)}`, (one) => {
    const resources = one.status?.containerStatuses?.map((container) => container.resources)
    return isReady(one) && !isResizing(one) && isDeepStrictEqual(resources, expected)
  })
  assert.deepEqual(
    wanted.map((_, index) => cgroupOf(node, current, index)),
    wanted.map(expectedCgroup),
  )
  assert.deepEqual(
    current.status?.containerStatuses?.map(({ restartCount }) => restartCount),
    wanted.map(() => 0),
  )
  return current
}

async function resize(node: TestNode, { metadata }: Pod, wanted: readonly Resources[]): Promise<void> {
  const containers = containersOf(wanted).map(({ name, resources }) => ({ name, resources }))
  const patched = await node.client.patch(
    pods,
    'default',
    metadata.name ?? '',
    { spec: { containers } },
    'strategic',
    'resize',
  )
  assert.deepEqual(
    patched.spec?.containers.map(({ resources }) => resources),
    wanted.map(resourcesOf),
  )
}

await inNamespaces(import.meta.filename, () =>
  describe('resizes', { concurrency: 6 }, async () => {
    const started = TestNode.start()

    for (const [index, { title, before, after, isReverted }] of cases.entries())
      test(title, async () => {
        const node = await started
        const pod = await node.create({
          name: `resize-${index}`,
          restartPolicy: 'OnFailure',
          containers: containersOf(before),
        })
        await hasResources(node, pod, before)
        await resize(node, pod, after)
        await hasResources(node, pod, after)
        if (!isReverted) return
        await resize(node, pod, before)
        await hasResources(node, pod, before)
      })

    test('In-place Pod Resize, read and replace endpoints', async () => {
      const node = await started
      const { client } = node
      const before = [{ requests: original }]
      const after = [{ requests: increased }]
      const pod = await node.create({ name: 'replaced', restartPolicy: 'OnFailure', containers: containersOf(before) })
      const { metadata, ...ready } = await hasResources(node, pod, before)
      assert.equal(metadata.generation, 1)
      const { resourceVersion: _, ...unversioned } = metadata
      const containers = (ready.spec?.containers ?? []).map((one) => ({ ...one, resources: resourcesOf(after[0]!) }))
      await client.update(pods, { ...ready, metadata: unversioned, spec: { ...ready.spec, containers } }, 'resize')
      assert.equal((await node.read(pod)).metadata.generation, 2)
      await hasResources(node, pod, after)
      await node.until(pod, 'has an observed resize', ({ status }) => status?.observedGeneration === 2)
      await waitFor('the subresource is the pod', async () =>
        isDeepStrictEqual(await client.get(pods, 'default', 'replaced', 'resize'), await node.read(pod)),
      )
    })
  }),
)
