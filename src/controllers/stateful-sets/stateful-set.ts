/** Maintains the pods of StatefulSets: each has a name, an ordinal and claims that survive its replacement. */
import { defaultFeatures, type FeatureGates } from '../../api/features/feature-gates.ts'
import { type Caches, type Controller, type ReconcileContext, watch } from '../../client/controller/controller.ts'
import { keyOf } from '../../client/informers/informer.ts'
import {
  type ControllerRevision,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { MetricsRegistry } from '../../lib/metrics/registry.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { labelSelectorOf } from '../../machinery/selectors/label-selector.ts'
import { ignoreNamespaceTerminating } from '../api-errors.ts'
import { templateAt } from '../histories/revision.ts'
import { historyLimit, latestRevision, revisionsOf, truncateHistory } from '../histories/revision-history.ts'
import { watchedRevisions } from '../histories/revision-watch.ts'
import { claimCandidates, claimObjects } from '../pods/owners/claim.ts'
import { ownerKeys } from '../pods/owners/owner-keys.ts'
import { nextAvailableMs } from '../pods/phase.ts'
import { Outstanding } from '../pods/writes/outstanding.ts'
import { claimTemplates, templateName } from './claims/claim.ts'
import { claimFinder } from './claims/find.ts'
import { planOf } from './decisions/plan.ts'
import type { SetRevision, Situation } from './decisions/situation.ts'
import { type StatefulSetStatus, statusOf, withoutZeros } from './decisions/status.ts'
import { executePlan } from './execute-plan.ts'
import { ordinalOf, revisionNameOf } from './identity.ts'
import { setMetrics } from './metrics.ts'

/** The label on revisions. */
const hashLabel = 'controller.kubernetes.io/hash'

export interface StatefulSetOptions {
  readonly concurrency: number
  /** For the metrics. Default: no metrics. */
  readonly registry?: MetricsRegistry
  /** Default: the defaults of 1.36. */
  readonly features?: FeatureGates
  /** Returns ms. */
  readonly now?: () => number
}

export function statefulSetController({
  concurrency,
  registry,
  features = defaultFeatures,
  now = Date.now,
}: StatefulSetOptions): Controller {
  const usesMaxUnavailable = features.isEnabled('MaxUnavailableStatefulSet')
  const outstanding = new Outstanding()
  return {
    name: 'statefulset-controller',
    concurrency,
    watches: [
      watch({ resource: statefulSets, onChange: (set, old) => outstanding.observeOwner(set, old) }),
      watch({
        resource: pods,
        keys: (pod, caches) => ownerKeys(pod, caches, statefulSets, selects),
        onChange: (pod, old) => outstanding.observe(pod, old),
      }),
      watch({ resource: persistentVolumeClaims, keys: setsOfClaim }),
      watchedRevisions(statefulSets, selects),
    ],
    async run({ caches }) {
      if (registry) setMetrics(registry, () => caches.all(statefulSets), usesMaxUnavailable)
    },
    async reconcile(key, context) {
      const [namespace = '', name = ''] = key.split('/')
      const set = context.caches.get(statefulSets, namespace, name)
      if (!set || !outstanding.satisfied(set)) return
      await syncStatefulSet(set, outstanding, { now: now(), usesMaxUnavailable }, context).catch(
        ignoreNamespaceTerminating,
      )
    },
  }
}

async function syncStatefulSet(
  set: StatefulSet,
  outstanding: Outstanding,
  terms: Pick<Situation, 'now' | 'usesMaxUnavailable'>,
  context: ReconcileContext,
): Promise<void> {
  const { client, caches, requeue } = context
  const selector = labelSelectorOf(set.spec?.selector)
  const known = await revisionsOf(set, statefulSets, selector, context)
  const isMember = (pod: Pod): boolean => selector.matches(pod.metadata.labels) && ordinalOf(set, pod) !== undefined
  const members = await claimObjects(
    claimCandidates(set, pods, caches),
    { owner: set, owners: statefulSets, resource: pods, matches: isMember },
    client,
  )
  const { latest, revisions, collisions = 0 } = await latestRevision(set, known, hashLabel, client)
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? latest
  const situation: Situation = {
    set,
    pods: members,
    current: setRevision(set, current),
    update: setRevision(set, latest),
    claim: await claimFinder(set, members, context),
    ...terms,
  }
  const plan = planOf(situation)
  const [done] = await Promise.allSettled([executePlan(plan, set, outstanding, context)])
  // The status is updated even after an error.
  await updateStatus(set, statusOf(situation, collisions, done.status === 'fulfilled' ? plan.outdated : 0), client)
  await truncateHistory(revisions, inUse(situation), historyLimit(set), client)
  if (done.status === 'rejected') throw done.reason
  const ms = nextAvailableMs(members, set.spec?.minReadySeconds ?? 0, terms.now)
  if (ms !== undefined) requeue(keyOf(set), ms)
}

const selects = (set: StatefulSet, { metadata }: KubeObject): boolean =>
  labelSelectorOf(set.spec?.selector).matches(metadata.labels)

function* setsOfClaim(
  { metadata: { namespace = '', name = '' } }: PersistentVolumeClaim,
  caches: Caches,
): Generator<string> {
  for (const set of caches.in(statefulSets, namespace)) {
    if (claimTemplates(set).some((template) => name.startsWith(`${templateName(template)}-${set.metadata.name}-`)))
      yield keyOf(set)
  }
}

const setRevision = (set: StatefulSet, revision: ControllerRevision): SetRevision => ({
  name: revision.metadata.name ?? '',
  template: templateAt(set, revision),
})

const inUse = ({ pods, current, update }: Situation): ReadonlySet<string> =>
  new Set([current.name, update.name, ...pods.map((pod) => revisionNameOf(pod) ?? '')])

async function updateStatus(set: StatefulSet, status: StatefulSetStatus, client: RestClient): Promise<void> {
  const written = withoutZeros(status)
  if (jsonEqual(written, withoutZeros({ ...set.status, replicas: set.status?.replicas ?? 0 }))) return
  await client.updateStatus(statefulSets, { ...set, status: written })
}
