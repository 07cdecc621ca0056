/** Maintains the status of PodDisruptionBudgets, which the eviction API checks. */
import {
  type Caches,
  type Controller,
  type ReconcileContext,
  reads,
  watch,
} from '../../client/controller/controller.ts'
import { keyOf } from '../../client/informers/informer.ts'
import {
  podDisruptionBudgets as budgets,
  deployments,
  type Pod,
  type PodDisruptionBudget,
  pods,
  replicaSets,
  replicationControllers,
  statefulSets,
} from '../../client/kinds.ts'
import { controllerOf } from '../../client/objects/owners.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import { labelSelectorOf } from '../../machinery/selectors/label-selector.ts'
import { ignoreNotFound, isConflict, messageOf } from '../api-errors.ts'
import { budgetVerdict, expectedOf, failedStatus, needsScale } from './budget.ts'
import { goSelectorString } from './go-selector.ts'
import { clearCondition, staleInMs } from './stale-condition.ts'
import { scaleOf, type WorkloadScale } from './workload-scale.ts'

/** The prefix of the keys of pods; keys of budgets have none. */
const podPrefix = 'pods/'

/** `now` returns ms. */
export function disruptionController(now: () => number = Date.now): Controller {
  return {
    name: 'disruption-controller',
    component: 'controllermanager',
    watches: [
      watch({ resource: budgets }),
      watch({
        resource: pods,
        *keys(pod, caches) {
          for (const budget of budgetsOf(pod, caches)) yield keyOf(budget)
          if (staleInMs(pod, now()) !== undefined) yield podPrefix + keyOf(pod)
        },
        onChange(pod, old, context) {
          if (pod && !old) warnOfMultipleBudgets(pod, context)
        },
      }),
      reads(replicaSets),
      reads(deployments),
      reads(statefulSets),
      reads(replicationControllers),
    ],
    async reconcile(key, context) {
      if (key.startsWith(podPrefix)) return syncPod(key, now(), context)
      const [namespace = '', name = ''] = key.split('/')
      const budget = context.caches.get(budgets, namespace, name)
      if (!budget) return
      try {
        await syncBudget(budget, now, context)
      } catch (error) {
        if (isConflict(error)) throw error
        await updateStatus(budget, failedStatus(budget, messageOf(error), now()), context)
      }
    },
  }
}

async function syncBudget(budget: PodDisruptionBudget, now: () => number, context: ReconcileContext): Promise<void> {
  const { caches, events } = context
  const { namespace = '' } = budget.metadata
  const selector = labelSelectorOf(budget.spec?.selector)
  const matching = [...caches.in(pods, namespace)].filter(({ metadata }) => selector.matches(metadata.labels ?? {}))
  if (matching.length === 0) events.record(budget, 'Normal', 'NoPods', 'No matching pods found')
  const scale = needsScale(budget) ? await expectedScale(budget, matching, context) : 0
  const expected = expectedOf(budget, matching.length, scale)
  const { status, notDeleted, requeueAfterMs } = budgetVerdict(budget, matching, expected, now())
  // Upstream names the namespace twice.
  for (const pod of notDeleted)
    events.record(
      pod,
      'Warning',
      'NotDeleted',
      `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`,
    )
  await updateStatus(budget, status, context)
  if (requeueAfterMs !== undefined) context.requeue(keyOf(budget), requeueAfterMs + 1)
}

/** Clears the DisruptionTarget condition of a pod once it is stale. */
async function syncPod(key: string, now: number, context: ReconcileContext): Promise<void> {
  const [, namespace = '', name = ''] = key.split('/')
  const pod = context.caches.get(pods, namespace, name)
  const waitMs = pod && staleInMs(pod, now)
  if (waitMs === undefined || !pod) return
  if (waitMs > 0) return context.requeue(key, waitMs)
  await clearCondition(pod, now, context).catch(ignoreNotFound)
}

/** Records an event if several budgets match a new pod. */
function warnOfMultipleBudgets(pod: Pod, { caches, events }: ReconcileContext): void {
  const [first, second] = budgetsOf(pod, caches)
  if (!first || !second) return
  const { namespace, name } = pod.metadata
  const message =
    `Pod ${JSON.stringify(namespace)}/${JSON.stringify(name)} matches multiple PodDisruptionBudgets.  ` +
    `Chose ${JSON.stringify(first.metadata.name)} arbitrarily.`
  events.record(pod, 'Warning', 'MultiplePodDisruptionBudgets', message)
}

/** The total desired replicas of the controllers of these pods. Rejects if a controller is unknown. */
async function expectedScale(
  budget: PodDisruptionBudget,
  matching: readonly Pod[],
  context: ReconcileContext,
): Promise<number> {
  const { events } = context
  try {
    const scales = new Map<string, WorkloadScale>()
    const desired = new Map<string, number>()
    let hasUnmanaged = false
    for (const pod of matching) {
      const reference = controllerOf(pod)
      if (!reference) hasUnmanaged = true
      if (!reference || scales.has(reference.uid)) continue
      const scale = await scaleOf(reference, pod.metadata.namespace ?? '', context)
      if (!scale) throw new Error(`found no controllers for pod ${JSON.stringify(pod.metadata.name)}`)
      scales.set(reference.uid, scale)
      desired.set(scale.uid, scale.replicas)
    }
    if (hasUnmanaged) {
      const message =
        `Pods selected by this PodDisruptionBudget (selector: ${goSelectorString(budget.spec?.selector)}) were ` +
        'found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may ' +
        'result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB ' +
        'to an integer value.'
      events.record(budget, 'Warning', 'UnmanagedPods', message)
    }
    return [...desired.values()].reduce((sum, replicas) => sum + replicas, 0)
  } catch (error) {
    events.record(
      budget,
      'Warning',
      'CalculateExpectedPodCountFailed',
      `Failed to calculate the number of expected pods: ${messageOf(error)}`,
    )
    throw error
  }
}

function* budgetsOf(pod: Pod, caches: Caches): Generator<PodDisruptionBudget> {
  for (const budget of caches.in(budgets, pod.metadata.namespace ?? ''))
    if (labelSelectorOf(budget.spec?.selector).matches(pod.metadata.labels ?? {})) yield budget
}

async function updateStatus(
  budget: PodDisruptionBudget,
  status: NonNullable<PodDisruptionBudget['status']>,
  { client }: ReconcileContext,
): Promise<void> {
  if (jsonEqual(status, budget.status)) return
  await client.updateStatus(budgets, { ...budget, status }).catch(ignoreNotFound)
}
