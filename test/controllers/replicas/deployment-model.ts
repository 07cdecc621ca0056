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

export async function playDeployment(
  t: TestContext,
  { cluster, namespace, strategy, random, rounds, disturb }: Play,
): Promise<void> {
  const all = await Workloads.in(cluster, namespace)
  const isRecreated = 'type' in strategy && strategy.type === 'Recreate'
  const judge = await Judge.of(cluster.client, namespace, { isRecreated })
  t.after(() => judge.stop().catch(() => {}))
  const isOpen = (pod: Pod): boolean => pod.status?.phase === 'Pending' && !pod.metadata.deletionTimestamp
  const onePod = async (which: (pod: Pod) => boolean, act: (name: string) => Promise<unknown>): Promise<void> => {
    const candidates = (await all.pods('web')).filter(which)
    // It may have been deleted meanwhile.
    if (candidates.length > 0)
      await act(random.pick(candidates).metadata.name ?? '').catch((error) =>
        assert.match(String(error), isNotFoundOrConflict),
      )
  }
  /** Widens the limits for the next change before controllers act on it. */
  const resize = async (replicas: number): Promise<void> => {
    const deployment = await all.deployment('web')
    // With proportional scaling, available sets may shrink while others are unavailable.
    judge.fewest = 0
    judge.widen(limitsOfPods({ ...deployment, spec: { ...deployment.spec!, replicas } }))
    await all.change('web', { replicas })
  }
  const settled = async (): Promise<Deployment> => {
    await all.change('web', { paused: false })
    return all.playKubelet('web', 'the Deployment to settle', async () => {
      const deployment = await all.deployment('web')
      if (!isRolledOut(deployment)) return
      // The status may be older than the last deletions or readiness changes.
      const active = (await all.pods('web')).filter(
        ({ metadata, status }) => !metadata.deletionTimestamp && status?.phase !== 'Failed',
      )
      const sets = (await all.sets('web')).filter(({ spec }) => spec?.replicas !== 0)
      return active.length === deployment.spec?.replicas && active.every(isReady) && sets.length === 1 && deployment
    })
  }

  let tag = 0
  const rollout = [
    () => all.image('web', ++tag),
    () => all.image('web', random.below(tag + 1)),
    () => all.change('web', { paused: random.chance(0.5) }),
    disturb,
    ...Array.from({ length: 6 }, () => () => onePod(isOpen, (name) => all.tell(name, 'Running', true))),
  ]
  const scaling = [...rollout, () => resize(1 + random.below(9))]
  const disruption = [
    ...rollout,
    () =>
      onePod(
        () => true,
        (name) => all.delete(`${all.core}/pods/${name}`),
      ),
    () =>
      onePod(
        () => true,
        (name) => all.tell(name, 'Failed', false),
      ),
    () =>
      // A failed pod remains failed.
      onePod(
        ({ status }) => status?.phase !== 'Failed',
        (name) => all.tell(name, 'Running', false),
      ),
  ]

  judge.most = 20
  await all.deploy('web', { replicas: 5, strategy, revisionHistoryLimit: 3 })
  for (let round = 0; round < rounds; round++) {
    const deployment = await settled()
    const limits = limitsOfPods(deployment)
    const actions = [rollout, scaling, disruption][round % 3] ?? rollout
    await judge.limit(actions === disruption ? { ...limits, fewest: 0 } : limits)
    for (let at = 0; at < operations; at++) await (round + at === 0 ? disturb : random.pick(actions))()
  }
  const last = await settled()
  assert.equal(progressOf(last).reason, 'NewReplicaSetAvailable')
  await judge.stop()
  assert.deepEqual(judge.violations, [])
}
