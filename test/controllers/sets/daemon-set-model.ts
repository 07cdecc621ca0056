/**
 * A DaemonSet under random changes of itself and its nodes: at the end every eligible node has one pod of the newest
 * revision, and updates stay within their limits.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type DaemonSet, type Pod, pods } from '../../../src/client/kinds.ts'
import { targetNode } from '../../../src/controllers/daemon-sets/daemon-pod.ts'
import type { Random } from '../../fuzz/random.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Witness } from '../restarts/witness.ts'
import { PlayedNamespace } from './played-namespace.ts'

export interface Play {
  readonly cluster: ReachableCluster
  readonly namespace: string
  readonly rollingUpdate: { readonly maxUnavailable: number; readonly maxSurge: number }
  readonly random: Random
  readonly rounds: number
  /** Disturbs the controller or the server. */
  readonly disturb: () => Promise<unknown>
}

const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
const isServing = (pod: Pod): boolean =>
  isReady(pod) && pod.status?.phase === 'Running' && !pod.metadata.deletionTimestamp
const imageOf = (pod: Pod): string | undefined => pod.spec?.containers[0]?.image

/** The desired state. It changes only when it was reached. */
interface Wish {
  image: string
  /** Names of eligible nodes. */
  readonly nodes: Set<string>
  /** Pods that the test broke. */
  readonly broken: Set<string>
}

export async function playDaemonSet(
  t: TestContext,
  { cluster, namespace, rollingUpdate, random, rounds, disturb }: Play,
): Promise<void> {
  const ns = await PlayedNamespace.in(cluster, namespace)
  const wish: Wish = { image: 'web:1', nodes: new Set(), broken: new Set() }
  const nodes = ['a', 'b', 'c', 'd'].map((node) => `${ns.name}-${node}`)
  const label = async (node: string, isFor: boolean): Promise<void> => {
    if (isFor) wish.nodes.add(node)
    else wish.nodes.delete(node)
    await ns.patch(`/api/v1/nodes/${node}`, { metadata: { labels: { of: isFor ? ns.name : null } } })
  }
  for (const node of nodes) {
    await ns.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: node } })
    await ns.patch(`/api/v1/nodes/${node}`, { spec: { taints: null } })
    await label(node, true)
  }
  const witness = await Witness.of(cluster.client, pods, ns.name, (name, pod, before) => {
    const old = before.get(name)
    const wasTaken = old && !old.metadata.deletionTimestamp && (!pod || pod.metadata.deletionTimestamp)
    // An update deletes few available pods on eligible nodes at a time.
    if (
      !wasTaken ||
      !isServing(old) ||
      wish.broken.has(old.metadata.uid ?? '') ||
      !wish.nodes.has(targetNode(old) ?? '')
    )
      return
    const served = new Set([...before.values()].filter((other) => other !== old && isServing(other)).map(targetNode))
    const missing = [...wish.nodes].filter((node) => !served.has(node))
    assert.ok(
      missing.length <= rollingUpdate.maxUnavailable,
      `${name} was taken, so that ${missing.length} nodes have none`,
    )
  })
  t.after(() => witness.stop().catch(() => {}))
  const path = `${ns.apps}/daemonsets/web`
  await ns.post(`${ns.apps}/daemonsets`, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'web' },
    spec: {
      updateStrategy: { type: 'RollingUpdate', rollingUpdate },
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { nodeSelector: { of: ns.name }, containers: [{ name: 'c', image: 'web:1' }] },
      },
    },
  })

  const settled = (): Promise<unknown> =>
    waitFor(
      `the pods of ${wish.image} on ${[...wish.nodes]}`,
      async () => {
        await ns.play('web')
        if (random.chance(0.1)) await disturb()
        return isAsWished(await ns.pods('web'), wish, await ns.get<DaemonSet>(path))
      },
      { deadlineMs: 60_000 },
    )
  await settled()
  for (let round = 0; round < rounds; round++) {
    // Late events belong to the previous desired state.
    await witness.caughtUp()
    await random.one(
      async () => {
        wish.image = `web:${random.below(3)}`
        await ns.image('daemonsets', 'web', wish.image)
      },
      async () => {
        const node = random.pick(nodes)
        await label(node, !wish.nodes.has(node))
      },
      async () => {
        const pods = await ns.pods('web')
        if (pods.length === 0) return
        const { metadata } = random.pick(pods)
        wish.broken.add(metadata.uid ?? '')
        await ns.delete(`${ns.core}/pods/${metadata.name}`)
      },
    )
    await settled()
  }
  await witness.stop()
}

function isAsWished(pods: readonly Pod[], { image, nodes }: Wish, { metadata, status }: DaemonSet): boolean {
  return (
    pods.every((pod) => isServing(pod) && imageOf(pod) === image) &&
    pods.map(targetNode).sort().join() === [...nodes].sort().join() &&
    status?.observedGeneration === metadata.generation &&
    [status?.desiredNumberScheduled, status?.numberReady, status?.updatedNumberScheduled ?? 0].every(
      (count) => count === nodes.size,
    )
  )
}
