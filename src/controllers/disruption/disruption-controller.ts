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
import { isConflict, isNotFound, messageOf } from '../api-errors.ts'
import { budgetVerdict, expectedOf, failedStatus, needsScale } from './budget.ts'
import { goSelectorString } from './go-selector.ts'
import { clearCondition, staleInMs } from './stale-condition.ts'
import { scaleOf, type WorkloadScale } from './workload-scale.ts'

const prefix = 'pods/'

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
          if (staleInMs(pod, now()) !== undefined) yield prefix + keyOf(pod)
        },
        onChange(pod, before, { caches, events }) {
          if (!pod || before) return
          const [first, second] = budgetsOf(pod, caches)
          const { namespace, name } = pod.metadata
          if (first && second) {
            const message =
              `Pod ${JSON.stringify(namespace)}/${JSON.stringify(name)} matches multiple PodDisruptionBudgets.  ` +
              `Chose ${JSON.stringify(first.metadata.name)} arbitrarily.`
            events.record(pod, 'Warning', 'MultiplePodDisruptionBudgets', message)
          }
        },
      }),
      reads(replicaSets),
      reads(deployments),
      reads(statefulSets),
      reads(replicationControllers),
    ],
    async reconcile(key, context) {
      if (key.startsWith(prefix)) return syncPod(key, context)
      const [namespace = '', name = ''] = key.split('/')
      const budget = context.caches.get(budgets, namespace, name)
      if (!budget) return
      try {
        await syncBudget(key, budget, context)
      } catch (error) {
        if (isConflict(error)) throw error
        await updateStatus(budget, failedStatus(budget, messageOf(error), now()), context)
      }
    },
  }

  async function syncBudget(key: string, budget: PodDisruptionBudget, context: ReconcileContext): Promise<void> {
    const { caches, events } = context
    const { namespace = '' } = budget.metadata
    const selector = labelSelectorOf(budget.spec?.selector)
    const matching = [...caches.in(pods, namespace)].filter(({ metadata }) => selector.matches(metadata.labels ?? {}))
    if (matching.length === 0) events.record(budget, 'Normal', 'NoPods', 'No matching pods found')
    const scale = needsScale(budget) ? await expectedScale(budget, matching, context) : 0
    const { status, notDeleted, requeueAfterMs } = budgetVerdict(
      budget,
      matching,
      expectedOf(budget, matching.length, scale),
      now(),
    )
    // Upstream names the namespace twice.
    for (const pod of notDeleted)
      events.record(
        pod,
        'Warning',
        'NotDeleted',
        `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`,
      )
    await updateStatus(budget, status, context)
    if (requeueAfterMs !== undefined) context.requeue(key, requeueAfterMs + 1)
  }

  async function syncPod(key: string, context: ReconcileContext): Promise<void> {
    const [, namespace = '', name = ''] = key.split('/')
    const pod = context.caches.get(pods, namespace, name)
    const wait = pod && staleInMs(pod, now())
    if (wait === undefined || !pod) return
    if (wait > 0) return context.requeue(key, wait)
    await clearCondition(pod, now(), context).catch((error) => {
      if (!isNotFound(error)) throw error
    })
  }
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
  await client.updateStatus(budgets, { ...budget, status }).catch((error) => {
    if (!isNotFound(error)) throw error
  })
}
