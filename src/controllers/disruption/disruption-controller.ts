/** Keeps the status of PodDisruptionBudgets: how many of their pods may be disrupted. Evictions ask it. */
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
import { isConflict, isNotFound, messageOf } from '../refusals.ts'
import { budgetVerdict, expectedOf, failedStatus, needsScale } from './budget.ts'
import { selectorWords } from './selector-words.ts'
import { clearCondition, staleInMs } from './stale-condition.ts'
import { scaleOf, type WorkloadScale } from './workload-scale.ts'

const prefix = 'pods/'

/** `now`: milliseconds. */
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
      if (key.startsWith(prefix)) return lookAtPod(key, context)
      const [namespace = '', name = ''] = key.split('/')
      const budget = context.caches.get(budgets, namespace, name)
      if (!budget) return
      try {
        await look(key, budget, context)
      } catch (error) {
        if (isConflict(error)) throw error
        await write(budget, failedStatus(budget, messageOf(error), now()), context)
      }
    },
  }

  async function look(key: string, budget: PodDisruptionBudget, context: ReconcileContext): Promise<void> {
    const { caches, events } = context
    const { namespace = '' } = budget.metadata
    const selector = labelSelectorOf(budget.spec?.selector)
    const chosen = [...caches.in(pods, namespace)].filter(({ metadata }) => selector.matches(metadata.labels ?? {}))
    if (chosen.length === 0) events.record(budget, 'Normal', 'NoPods', 'No matching pods found')
    const scale = needsScale(budget) ? await expectedScale(budget, chosen, context) : 0
    const { status, notDeleted, againMs } = budgetVerdict(
      budget,
      chosen,
      expectedOf(budget, chosen.length, scale),
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
    await write(budget, status, context)
    if (againMs !== undefined) context.requeue(key, againMs + 1)
  }

  async function lookAtPod(key: string, context: ReconcileContext): Promise<void> {
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

/** How many pods the controllers of these pods want, taken together. Rejects when that cannot be known. */
async function expectedScale(
  budget: PodDisruptionBudget,
  chosen: readonly Pod[],
  context: ReconcileContext,
): Promise<number> {
  const { events } = context
  try {
    const scales = new Map<string, WorkloadScale>()
    const wanted = new Map<string, number>()
    let hasUnmanaged = false
    for (const pod of chosen) {
      const reference = controllerOf(pod)
      if (!reference) hasUnmanaged = true
      if (!reference || scales.has(reference.uid)) continue
      const scale = await scaleOf(reference, pod.metadata.namespace ?? '', context)
      if (!scale) throw new Error(`found no controllers for pod ${JSON.stringify(pod.metadata.name)}`)
      scales.set(reference.uid, scale)
      wanted.set(scale.uid, scale.replicas)
    }
    if (hasUnmanaged) {
      const message =
        `Pods selected by this PodDisruptionBudget (selector: ${selectorWords(budget.spec?.selector)}) were ` +
        'found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may ' +
        'result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB ' +
        'to an integer value.'
      events.record(budget, 'Warning', 'UnmanagedPods', message)
    }
    return [...wanted.values()].reduce((sum, replicas) => sum + replicas, 0)
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

async function write(
  budget: PodDisruptionBudget,
  status: NonNullable<PodDisruptionBudget['status']>,
  { client }: ReconcileContext,
): Promise<void> {
  if (jsonEqual(status, budget.status)) return
  await client.updateStatus(budgets, { ...budget, status }).catch((error) => {
    if (!isNotFound(error)) throw error
  })
}
