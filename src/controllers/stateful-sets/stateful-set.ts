/** Keeps the pods of StatefulSets: each with a name, an ordinal and claims that stay when it is replaced. */
import { type Caches, type Controller, watched } from '../../client/controller.ts'
import { keyOf } from '../../client/informer.ts'
import {
  type ControllerRevision,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest-client.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { labelSelectorOf } from '../../machinery/selectors/label-selector.ts'
import { latestRevision, revisionsOf, truncateHistory } from '../histories/keep-history.ts'
import { templateAt } from '../histories/revision.ts'
import { watchedRevisions } from '../histories/watched-revisions.ts'
import { claimable, claimed } from '../pods/claim.ts'
import { Expectations } from '../pods/expectations.ts'
import { ownerKeys } from '../pods/owner-keys.ts'
import { availableInMs } from '../pods/phase.ts'
import { carryOut, type Outstanding } from './carry-out.ts'
import { claimTemplates, templateName } from './claims/claim.ts'
import { ordinalOf, revisionNameOf } from './identity.ts'
import { planOf } from './plan.ts'
import type { SetRevision, Situation } from './situation.ts'
import { type StatefulSetStatus, statusOf, withoutNoughts } from './status.ts'

/** On revisions. */
const hashLabel = 'controller.kubernetes.io/hash'

export interface StatefulSetOptions {
  readonly concurrency: number
  /** Milliseconds. */
  readonly now?: () => number
}

export function statefulSetController({ concurrency, now = Date.now }: StatefulSetOptions): Controller {
  const outstanding: Outstanding = { creations: new Expectations(now), deletions: new Expectations(now) }
  return {
    name: 'statefulset-controller',
    concurrency,
    watches: [
      watched({
        resource: statefulSets,
        changed(set, before) {
          if (!before || set?.metadata.uid === before.metadata.uid) return
          for (const expected of Object.values(outstanding)) expected.forget(before.metadata.uid ?? '')
        },
      }),
      watched({
        resource: pods,
        keys: (pod, caches) => ownerKeys(pod, caches, statefulSets, selects),
        changed(pod, before) {
          for (const expected of Object.values(outstanding)) expected.observe(pod, before)
        },
      }),
      watched({ resource: persistentVolumeClaims, keys: setsOfClaim }),
      watchedRevisions(statefulSets, selects),
    ],
    async reconcile(key, context) {
      const { client, caches, again } = context
      const [namespace = '', name = ''] = key.split('/')
      const set = caches.get(statefulSets, namespace, name)
      if (!set) return
      const { uid = '' } = set.metadata
      // What was done is not seen yet: what would be decided now is decided already.
      if (!Object.values(outstanding).every((expected) => expected.satisfied(uid))) return
      const selector = labelSelectorOf(set.spec?.selector)
      const known = await revisionsOf(set, statefulSets, selector, context)
      const members = await claimed(
        claimable(set, pods, caches),
        {
          owner: set,
          owners: statefulSets,
          resource: pods,
          matches: (pod) => selector.matches(pod.metadata.labels) && ordinalOf(set, pod) !== undefined,
        },
        client,
      )
      const { latest, revisions, collisions = 0 } = await latestRevision(set, known, hashLabel, client)
      const current = revisions.find((revision) => revision.metadata.name === set.status?.currentRevision) ?? latest
      const situation: Situation = {
        set,
        pods: members,
        current: setRevision(set, current),
        update: setRevision(set, latest),
        claim: (claim) => caches.get(persistentVolumeClaims, namespace, claim),
        now: now(),
      }
      const plan = planOf(situation)
      let failure: { readonly error: unknown } | undefined
      await carryOut(plan, set, outstanding, context).catch((error: unknown) => {
        failure = { error }
      })
      // How far it has come is told even where it came to a stop.
      await tellStatus(set, statusOf(situation, collisions, failure ? 0 : plan.outdated), client)
      await truncateHistory(set, revisions, inUse(situation), client)
      if (failure) throw failure.error
      const ms = nextAvailableMs(situation)
      if (ms !== undefined) again(key, ms)
    },
  }
}

const selects = (set: StatefulSet, { metadata }: KubeObject): boolean => labelSelectorOf(set.spec?.selector).matches(metadata.labels)

function* setsOfClaim({ metadata: { namespace = '', name = '' } }: PersistentVolumeClaim, caches: Caches): Generator<string> {
  for (const set of caches.in(statefulSets, namespace)) {
    if (claimTemplates(set).some((template) => name.startsWith(`${templateName(template)}-${set.metadata.name}-`))) yield keyOf(set)
  }
}

const setRevision = (set: StatefulSet, revision: ControllerRevision): SetRevision => ({
  name: revision.metadata.name ?? '',
  template: templateAt(set, revision),
})

const inUse = ({ pods, current, update }: Situation): ReadonlySet<string> =>
  new Set([current.name, update.name, ...pods.map((pod) => revisionNameOf(pod) ?? '')])

async function tellStatus(set: StatefulSet, status: StatefulSetStatus, client: RestClient): Promise<void> {
  const told = withoutNoughts(status)
  if (jsonEqual(told, withoutNoughts({ ...set.status, replicas: set.status?.replicas ?? 0 }))) return
  await client.updateStatus(statefulSets, { ...set, status: told })
}

/** When the next pod is available that is ready already; undefined if there is none. */
function nextAvailableMs({ set, pods, now }: Situation): number | undefined {
  const waits = (pod: Pod): number => availableInMs(pod, set.spec?.minReadySeconds ?? 0, now)
  const soonest = Math.min(...pods.map(waits).filter((ms) => ms > 0))
  return Number.isFinite(soonest) ? soonest : undefined
}
