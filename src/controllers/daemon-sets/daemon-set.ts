/** Runs one pod of each DaemonSet on every eligible node. */
import { type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { keyOf } from '../../client/informers/informer.ts'
import {
  type ControllerRevision,
  type DaemonSet,
  daemonSets,
  type Node,
  nodes,
  type Pod,
  pods,
} from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { labelSelectorOf } from '../../machinery/selectors/label-selector.ts'
import { ignoreNamespaceTerminating } from '../api-errors.ts'
import { historyLimit, latestRevision, revisionsOf, truncateHistory } from '../histories/revision-history.ts'
import { watchedRevisions } from '../histories/revision-watch.ts'
import { claimCandidates, claimObjects } from '../pods/owners/claim.ts'
import { ownerKeys } from '../pods/owners/owner-keys.ts'
import { hasEnded, nextAvailableMs } from '../pods/phase.ts'
import { Outstanding } from '../pods/writes/outstanding.ts'
import { applyChanges } from './apply-changes.ts'
import { hashLabel, targetNode } from './daemon-pod.ts'
import { type DaemonPlan, manage, type PodChanges } from './decisions/manage.ts'
import { rollingUpdate } from './decisions/rolling-update.ts'
import { type DaemonSituation, isDeleted } from './decisions/situation.ts'
import { type DaemonSetStatus, statusOf } from './decisions/status.ts'
import { hashOf, withoutDuplicates } from './duplicates.ts'
import { FailedPodsBackoff } from './failed-pods-backoff.ts'
import { isSamePlacement, placementOf } from './nodes/placement.ts'

export interface DaemonSetOptions {
  readonly concurrency: number
  /** Returns ms. */
  readonly now?: () => number
}

export function daemonSetController({ concurrency, now = Date.now }: DaemonSetOptions): Controller {
  const outstanding = new Outstanding()
  const backoff = new FailedPodsBackoff()
  return {
    name: 'daemonset-controller',
    concurrency,
    watches: [
      watch({ resource: daemonSets, onChange: (set, old) => outstanding.observeOwner(set, old) }),
      watch({
        resource: pods,
        keys: (pod, caches) => ownerKeys(pod, caches, daemonSets, selects),
        onChange: (pod, old) => outstanding.observe(pod, old),
      }),
      watch({ resource: nodes, keys: () => [], onChange: nodeChanged }),
      watchedRevisions(daemonSets, selects),
    ],
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const set = context.caches.get(daemonSets, namespace, name)
      if (!set || set.metadata.deletionTimestamp || !outstanding.satisfied(set)) return
      await syncDaemonSet(set, outstanding, backoff, now(), context).catch(ignoreNamespaceTerminating)
    },
  }
}

async function syncDaemonSet(
  set: DaemonSet,
  outstanding: Outstanding,
  backoff: FailedPodsBackoff,
  now: number,
  context: ReconcileContext,
): Promise<void> {
  const { client, caches, requeue } = context
  const selector = labelSelectorOf(set.spec?.selector)
  const isMember = (pod: Pod): boolean => selector.matches(pod.metadata.labels)
  const members = await claimObjects(
    claimCandidates(set, pods, caches),
    { owner: set, owners: daemonSets, resource: pods, matches: isMember },
    client,
  )
  const history = await latestRevision(set, await revisionsOf(set, daemonSets, selector, context), hashLabel, client)
  const revisions = await withoutDuplicates(set, history, members, client)
  const situation: DaemonSituation = {
    set,
    nodes: [...caches.all(nodes)],
    placement: placementOf(set),
    pods: byNode(members),
    hash: hashOf(history.latest),
    now,
  }
  const [done] = await Promise.allSettled([
    applyChanges(changesOf(situation, backoff, context), situation, outstanding, context),
  ])
  const used = inUse(revisions, members, situation)
  // Older revisions in use count towards the limit.
  await truncateHistory(revisions, used, Math.max(0, historyLimit(set) - (used.size - 1)), client)
  // The status is updated even after an error.
  await updateStatus(set, statusOf(situation, history.collisions), client)
  if (done.status === 'rejected') throw done.reason
  const ms = nextAvailableMs(members, set.spec?.minReadySeconds ?? 0, now)
  if (ms !== undefined) requeue(keyOf(set), ms)
}

const selects = (set: DaemonSet, { metadata }: KubeObject): boolean =>
  labelSelectorOf(set.spec?.selector).matches(metadata.labels)

/** Requeues the sets for which a node's eligibility changed. */
function nodeChanged(node: Node | undefined, old: Node | undefined, { caches, requeue }: ReconcileContext): void {
  // Most node updates change only the status.
  if (node && old && jsonEqual(node.metadata.labels, old.metadata.labels) && jsonEqual(node.spec, old.spec)) return
  for (const set of caches.all(daemonSets)) {
    const placement = placementOf(set)
    if (!isSamePlacement(placement(node), placement(old))) requeue(keyOf(set))
  }
}

/** Groups pods by node; ignores ended pods that are being deleted. */
function byNode(members: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const all = new Map<string, Pod[]>()
  for (const pod of members) {
    const node = targetNode(pod)
    if (node === undefined || (hasEnded(pod) && isDeleted(pod))) continue
    const group = all.get(node)
    if (group) group.push(pod)
    else all.set(node, [pod])
  }
  return all
}

/** A rolling update continues only if no other change is needed. */
function changesOf(situation: DaemonSituation, backoff: FailedPodsBackoff, context: ReconcileContext): PodChanges {
  const changes = withEndedPods(manage(situation), situation, backoff, context)
  const isNothing = changes.create.length + changes.remove.length === 0
  return isNothing && situation.set.spec?.updateStrategy?.type !== 'OnDelete' ? rollingUpdate(situation) : changes
}

/** Adds deletions of ended pods; those of failed pods with a back-off. */
function withEndedPods(
  { create, remove, failed, succeeded }: DaemonPlan,
  { set, now }: DaemonSituation,
  backoff: FailedPodsBackoff,
  { events, requeue }: ReconcileContext,
): PodChanges {
  const ended: Pod[] = []
  for (const { pod, node } of failed) {
    const delay = backoff.delay(`${set.metadata.uid}/${set.status?.observedGeneration ?? 0}/${node}`, now)
    if (delay > 0) requeue(keyOf(set), delay)
    else {
      events.record(
        set,
        'Warning',
        'FailedDaemonPod',
        `Found failed daemon pod ${keyOf(pod)} on node ${node}, will try to kill it`,
      )
      ended.push(pod)
    }
  }
  for (const { pod, node } of succeeded) {
    events.record(
      set,
      'Normal',
      'SucceededDaemonPod',
      `Found succeeded daemon pod ${keyOf(pod)} on node ${node}, will try to delete it`,
    )
    ended.push(pod)
  }
  return { create, remove: [...ended, ...remove] }
}

async function updateStatus(set: DaemonSet, status: DaemonSetStatus, client: RestClient): Promise<void> {
  if (!jsonEqual(status, set.status)) await client.updateStatus(daemonSets, { ...set, status })
}

/** Names of the revisions in use by pods. */
function inUse(
  revisions: readonly ControllerRevision[],
  members: readonly Pod[],
  { hash }: DaemonSituation,
): ReadonlySet<string> {
  const hashes = new Set([hash, ...members.map(({ metadata }) => metadata.labels?.[hashLabel])])
  return new Set(
    revisions.filter((revision) => hashes.has(hashOf(revision))).map(({ metadata }) => metadata.name ?? ''),
  )
}
