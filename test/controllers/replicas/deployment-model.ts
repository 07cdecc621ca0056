/**
 * Deployments under random operations. At every watch event, pods stay within maxSurge and maxUnavailable (unless
 * others delete pods), and with Recreate pods of two templates never run together. At the end the spec is fulfilled.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Controller } from '../../../src/client/controller/controller.ts'
import type { Deployment, Pod } from '../../../src/client/kinds.ts'
import { deploymentController } from '../../../src/controllers/replicas/deployments/controller.ts'
import { podSetController } from '../../../src/controllers/replicas/pod-sets/controller.ts'
import { replicaSetKind } from '../../../src/controllers/replicas/pod-sets/kind.ts'
import type { Random } from '../../fuzz/random.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { Judge, limitsOfPods } from './judge.ts'
import { isReady, isRolledOut, progressOf, Workloads } from './workloads.ts'

export interface Play {
  readonly cluster: ReachableCluster
  readonly namespace: string
  readonly strategy: object
  readonly random: Random
  readonly rounds: number
  /** Disturbs the controllers or the server. */
  readonly disturb: () => Promise<unknown>
}

const operations = 12
const isNotFoundOrConflict = / (404|409) /

/** The controllers that a Deployment needs. */
export const replicaControllers = (): readonly Controller[] => [
  deploymentController(5),
  podSetController(replicaSetKind, 5),
]

export async function playDeployment(t: TestContext, play: Play): Promise<void> {
  const { cluster, namespace, strategy, random, rounds, disturb } = play
  const workloads = await Workloads.in(cluster, namespace)
  const isRecreated = 'type' in strategy && strategy.type === 'Recreate'
  const judge = await Judge.of(cluster.client, namespace, { isRecreated })
  t.after(() => judge.stop().catch(() => {}))
  const model = new DeploymentModel(workloads, judge, random, disturb)
  judge.most = 20
  await workloads.deploy('web', { replicas: 5, strategy, revisionHistoryLimit: 3 })
  for (let round = 0; round < rounds; round++) {
    const limits = limitsOfPods(await model.settled())
    const kind = (['rollout', 'scaling', 'disruption'] as const)[round % 3] ?? 'rollout'
    await judge.limit(kind === 'disruption' ? { ...limits, fewest: 0 } : limits)
    const actions = model.actions(kind)
    for (let index = 0; index < operations; index++) await (round + index === 0 ? disturb : random.pick(actions))()
  }
  const last = await model.settled()
  assert.equal(progressOf(last).reason, 'NewReplicaSetAvailable')
  await judge.stop()
  assert.deepEqual(judge.violations, [])
}

type Action = () => Promise<unknown>

/** The Deployment `web`. */
class DeploymentModel {
  readonly #workloads: Workloads
  readonly #judge: Judge
  readonly #random: Random
  readonly #disturb: Action
  /** The newest image. */
  #tag = 0

  constructor(workloads: Workloads, judge: Judge, random: Random, disturb: Action) {
    this.#workloads = workloads
    this.#judge = judge
    this.#random = random
    this.#disturb = disturb
  }

  /** The possible actions of a round. */
  actions(kind: 'rollout' | 'scaling' | 'disruption'): readonly Action[] {
    if (kind === 'scaling') return [...this.#rollout(), () => this.#resize(1 + this.#random.below(9))]
    return kind === 'disruption' ? [...this.#rollout(), ...this.#disruption()] : this.#rollout()
  }

  /** Resolves with the Deployment once it is rolled out. */
  async settled(): Promise<Deployment> {
    const workloads = this.#workloads
    await workloads.change('web', { paused: false })
    return workloads.playKubelet('web', 'the Deployment to settle', async () => {
      const deployment = await workloads.deployment('web')
      if (!isRolledOut(deployment)) return
      // The status may be older than the last deletions or readiness changes.
      const active = (await workloads.pods('web')).filter(
        ({ metadata, status }) => !metadata.deletionTimestamp && status?.phase !== 'Failed',
      )
      const sets = (await workloads.sets('web')).filter(({ spec }) => spec?.replicas !== 0)
      return active.length === deployment.spec?.replicas && active.every(isReady) && sets.length === 1 && deployment
    })
  }

  #rollout(): Action[] {
    const workloads = this.#workloads
    const random = this.#random
    const startPod = (): Promise<void> =>
      this.#onePod(isPending, (name) => workloads.writeStatus(name, 'Running', true))
    return [
      () => workloads.image('web', ++this.#tag),
      () => workloads.image('web', random.below(this.#tag + 1)),
      () => workloads.change('web', { paused: random.chance(0.5) }),
      this.#disturb,
      ...Array.from({ length: 6 }, () => startPod),
    ]
  }

  #disruption(): Action[] {
    const workloads = this.#workloads
    const isAny = (): boolean => true
    // A failed pod remains failed.
    const hasNotFailed = ({ status }: Pod): boolean => status?.phase !== 'Failed'
    return [
      () => this.#onePod(isAny, (name) => workloads.delete(`${workloads.core}/pods/${name}`)),
      () => this.#onePod(isAny, (name) => workloads.writeStatus(name, 'Failed', false)),
      () => this.#onePod(hasNotFailed, (name) => workloads.writeStatus(name, 'Running', false)),
    ]
  }

  /** Acts on a random pod that matches, if any. */
  async #onePod(matches: (pod: Pod) => boolean, act: (name: string) => Promise<unknown>): Promise<void> {
    const candidates = (await this.#workloads.pods('web')).filter(matches)
    if (candidates.length === 0) return
    // The pod may have been deleted meanwhile.
    await act(this.#random.pick(candidates).metadata.name ?? '').catch((error) =>
      assert.match(String(error), isNotFoundOrConflict),
    )
  }

  /** Widens the limits for the next change before controllers act on it. */
  async #resize(replicas: number): Promise<void> {
    const deployment = await this.#workloads.deployment('web')
    // With proportional scaling, available sets may shrink while others are unavailable.
    this.#judge.fewest = 0
    this.#judge.widen(limitsOfPods({ ...deployment, spec: { ...deployment.spec!, replicas } }))
    await this.#workloads.change('web', { replicas })
  }
}

const isPending = (pod: Pod): boolean => pod.status?.phase === 'Pending' && !pod.metadata.deletionTimestamp
