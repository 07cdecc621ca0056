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
interface DesiredState {
  image: string
  /** Names of eligible nodes. */
  readonly nodes: Set<string>
  /** Uids of pods that the test deleted. */
  readonly deleted: Set<string>
}

export async function playDaemonSet(t: TestContext, play: Play): Promise<void> {
  const { cluster, rollingUpdate, rounds } = play
  const namespace = await PlayedNamespace.in(cluster, play.namespace)
  const model = new DaemonSetModel(namespace, play)
  await model.createNodes()
  const witness = await Witness.of(cluster.client, pods, namespace.name, (name, pod, before) =>
    model.checkChange(name, pod, before),
  )
  t.after(() => witness.stop().catch(() => {}))
  await namespace.post(`${namespace.apps}/daemonsets`, daemonSetOf(namespace.name, rollingUpdate))
  await model.settled()
  for (let round = 0; round < rounds; round++) {
    // Late events belong to the previous desired state.
    await witness.caughtUp()
    await model.change()
    await model.settled()
  }
  await witness.stop()
}

/** The DaemonSet `web` and its nodes. */
class DaemonSetModel {
  readonly #namespace: PlayedNamespace
  readonly #play: Play
  readonly #nodes: readonly string[]
  readonly #desired: DesiredState = { image: 'web:1', nodes: new Set(), deleted: new Set() }

  constructor(namespace: PlayedNamespace, play: Play) {
    this.#namespace = namespace
    this.#play = play
    this.#nodes = ['a', 'b', 'c', 'd'].map((node) => `${namespace.name}-${node}`)
  }

  async createNodes(): Promise<void> {
    for (const node of this.#nodes) {
      await this.#namespace.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: node } })
      await this.#namespace.patch(`/api/v1/nodes/${node}`, { spec: { taints: null } })
      await this.#setEligible(node, true)
    }
  }

  /** Checks that an update deletes few available pods on eligible nodes at a time. */
  checkChange(name: string, pod: Pod | undefined, before: ReadonlyMap<string, Pod>): void {
    const { nodes, deleted } = this.#desired
    const old = before.get(name)
    const isDeletion = old && !old.metadata.deletionTimestamp && (!pod || pod.metadata.deletionTimestamp)
    if (!isDeletion || !isServing(old) || deleted.has(old.metadata.uid ?? '') || !nodes.has(targetNode(old) ?? ''))
      return
    const served = new Set([...before.values()].filter((other) => other !== old && isServing(other)).map(targetNode))
    const missing = [...nodes].filter((node) => !served.has(node))
    assert.ok(
      missing.length <= this.#play.rollingUpdate.maxUnavailable,
      `${name} was deleted, so that ${missing.length} nodes have no pod`,
    )
  }

  /** Changes the image, a node or a pod. */
  async change(): Promise<void> {
    const { random } = this.#play
    const desired = this.#desired
    await random.one(
      async () => {
        desired.image = `web:${random.below(3)}`
        await this.#namespace.image('daemonsets', 'web', desired.image)
      },
      async () => {
        const node = random.pick(this.#nodes)
        await this.#setEligible(node, !desired.nodes.has(node))
      },
      async () => {
        const pods = await this.#namespace.pods('web')
        if (pods.length === 0) return
        const { metadata } = random.pick(pods)
        desired.deleted.add(metadata.uid ?? '')
        await this.#namespace.delete(`${this.#namespace.core}/pods/${metadata.name}`)
      },
    )
  }

  /** Waits until the desired state is reached. */
  async settled(): Promise<void> {
    const { random, disturb } = this.#play
    const path = `${this.#namespace.apps}/daemonsets/web`
    const probe = async (): Promise<boolean> => {
      await this.#namespace.play('web')
      if (random.chance(0.1)) await disturb()
      const pods = await this.#namespace.pods('web')
      return isReached(this.#desired, pods, await this.#namespace.get<DaemonSet>(path))
    }
    const { image, nodes } = this.#desired
    await waitFor(`the pods of ${image} on ${[...nodes]}`, probe, { deadlineMs: 60_000 })
  }

  /** Labels a node so that the set's node selector matches, or removes the label. */
  async #setEligible(node: string, isEligible: boolean): Promise<void> {
    if (isEligible) this.#desired.nodes.add(node)
    else this.#desired.nodes.delete(node)
    const labels = { of: isEligible ? this.#namespace.name : null }
    await this.#namespace.patch(`/api/v1/nodes/${node}`, { metadata: { labels } })
  }
}

const daemonSetOf = (namespace: string, rollingUpdate: Play['rollingUpdate']): object => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web' },
  spec: {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate },
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { nodeSelector: { of: namespace }, containers: [{ name: 'c', image: 'web:1' }] },
    },
  },
})

function isReached({ image, nodes }: DesiredState, pods: readonly Pod[], { metadata, status }: DaemonSet): boolean {
  return (
    pods.every((pod) => isServing(pod) && imageOf(pod) === image) &&
    pods.map(targetNode).sort().join() === [...nodes].sort().join() &&
    status?.observedGeneration === metadata.generation &&
    [status?.desiredNumberScheduled, status?.numberReady, status?.updatedNumberScheduled ?? 0].every(
      (count) => count === nodes.size,
    )
  )
}
