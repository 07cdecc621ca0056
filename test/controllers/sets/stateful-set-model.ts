/**
 * A StatefulSet under random changes: an ordinal never has two pods, pods are created and deleted in order, and claims
 * follow the retention policy.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type Pod, pods, type StatefulSet } from '../../../src/client/kinds.ts'
import type { Random } from '../../fuzz/random.ts'
import type { ReachableCluster } from '../../support/reachable-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { Witness } from '../restarts/witness.ts'
import { PlayedNamespace } from './played-namespace.ts'

export interface Play {
  readonly cluster: ReachableCluster
  readonly namespace: string
  readonly policy: 'OrderedReady' | 'Parallel'
  readonly whenScaled: 'Retain' | 'Delete'
  readonly random: Random
  readonly rounds: number
  /** Disturbs the controller or the server. */
  readonly disturb: () => Promise<unknown>
}

const ordinalOf = (name: string): number => Number(/^web-(\d+)$/.exec(name)?.[1] ?? Number.NaN)
const isReady = (pod: Pod | undefined): boolean =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
const isServing = (pod: Pod | undefined): boolean =>
  isReady(pod) && pod?.status?.phase === 'Running' && !pod.metadata.deletionTimestamp
const imageOf = (pod: Pod | undefined): string | undefined => pod?.spec?.containers[0]?.image

/** The set `web`, with a claim for each of its pods. */
export const setOf = (
  podManagementPolicy: Play['policy'],
  whenScaled: Play['whenScaled'],
  replicas: number,
): object => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: {
    replicas,
    serviceName: 'web',
    podManagementPolicy,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled },
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web:1' }] } },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
  },
})

/** The desired state. It changes only when it was reached. */
interface DesiredState {
  replicas: number
  image: string
  /** Pods that the test deleted or broke. */
  readonly broken: Set<string>
}

/** Checks each change of a pod against the guaranteed order. */
function checkOrder(
  name: string,
  pod: Pod | undefined,
  before: ReadonlyMap<string, Pod>,
  { replicas, image, broken }: DesiredState,
): void {
  const ordinal = ordinalOf(name)
  assert.ok(Number.isInteger(ordinal), `${name} is not the name of a pod of the set`)
  const old = before.get(name)
  if (!old) {
    assert.ok(ordinal < replicas, `${name} was created for ${replicas} replicas`)
    for (let lower = 0; lower < ordinal; lower++)
      assert.ok(isServing(before.get(`web-${lower}`)), `${name} was created before web-${lower} was ready`)
    return
  }
  const isDeletion = !old.metadata.deletionTimestamp && (!pod || pod.metadata.deletionTimestamp)
  if (!isDeletion || broken.has(old.metadata.uid ?? '')) return
  for (const [other, present] of before) {
    if (ordinalOf(other) <= ordinal) continue
    if (ordinal >= replicas) assert.fail(`${name} was deleted before ${other} was`)
    else
      assert.ok(
        isServing(present) && imageOf(present) === image,
        `${name} was replaced before ${other} was ready again`,
      )
  }
}

export async function playStatefulSet(
  t: TestContext,
  { cluster, namespace, policy, whenScaled, random, rounds, disturb }: Play,
): Promise<void> {
  const ns = await PlayedNamespace.in(cluster, namespace)
  const desired: DesiredState = { replicas: 2, image: 'web:1', broken: new Set() }
  const witness = await Witness.of(cluster.client, pods, ns.name, (name, pod, before) => {
    if (policy === 'OrderedReady') checkOrder(name, pod, before, desired)
    else assert.ok(Number.isInteger(ordinalOf(name)))
  })
  t.after(() => witness.stop().catch(() => {}))
  const path = `${ns.apps}/statefulsets/web`
  await ns.post(`${ns.apps}/statefulsets`, setOf(policy, whenScaled, desired.replicas))

  const settled = (): Promise<unknown> =>
    waitFor(
      `the set to reach its desired state (${JSON.stringify({ ...desired, broken: undefined })})`,
      async () => {
        await ns.play('web')
        await collectGarbage(ns)
        if (random.chance(0.1)) await disturb()
        return isReached(ns, desired, await ns.get<StatefulSet>(path), whenScaled === 'Delete')
      },
      { deadlineMs: 60_000 },
    )
  await settled()
  for (let round = 0; round < rounds; round++) {
    // Late events belong to the previous desired state.
    await witness.caughtUp()
    await random.one(
      async () => {
        desired.replicas = random.below(5)
        await ns.patch(path, { spec: { replicas: desired.replicas } })
      },
      async () => {
        desired.image = `web:${random.below(3)}`
        await ns.image('statefulsets', 'web', desired.image)
      },
      async () => {
        for (const pod of await ns.pods('web')) {
          if (!random.chance(0.5)) continue
          desired.broken.add(pod.metadata.uid ?? '')
          if (random.chance(0.5)) await ns.delete(`${ns.core}/pods/${pod.metadata.name}`)
          else await ns.writeStatus(pod.metadata.name ?? '', 'Failed')
          // One at a time: a broken pod is replaced before the next is broken.
          break
        }
      },
    )
    if (round === 0 || random.chance(0.3)) await disturb()
    await settled()
  }
  await witness.stop()
  const names = await ns.names(`${ns.core}/persistentvolumeclaims`)
  for (let ordinal = 0; ordinal < desired.replicas; ordinal++) assert.ok(names.includes(`data-web-${ordinal}`))
}

/** Deletes claims whose owner pod was deleted. */
async function collectGarbage(ns: PlayedNamespace): Promise<void> {
  const uids = new Set((await ns.list<Pod>(`${ns.core}/pods`)).map(({ metadata }) => metadata.uid))
  for (const { metadata } of await ns.claims()) {
    if (!metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Pod' && !uids.has(uid))) continue
    await ns.patch(`${ns.core}/persistentvolumeclaims/${metadata.name}`, { metadata: { finalizers: null } })
    if (!metadata.deletionTimestamp)
      await ns.delete(`${ns.core}/persistentvolumeclaims/${metadata.name}`).catch(() => {})
  }
}

async function isReached(
  ns: PlayedNamespace,
  desired: DesiredState,
  { metadata, status }: StatefulSet,
  deletesClaims: boolean,
): Promise<boolean> {
  const pods = await ns.pods('web')
  const claims = await ns.claims()
  const { replicas } = desired
  return (
    pods.length === replicas &&
    pods.every((pod) => isServing(pod) && imageOf(pod) === desired.image) &&
    status?.observedGeneration === metadata.generation &&
    [status?.replicas, status?.readyReplicas ?? 0, status?.updatedReplicas ?? 0].every((count) => count === replicas) &&
    status?.currentRevision === status?.updateRevision &&
    claims.every((claim) => !claim.metadata.deletionTimestamp) &&
    (deletesClaims ? claims.length === replicas : claims.length >= replicas)
  )
}
