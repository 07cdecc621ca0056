/** `pods/NAME/eviction`: deletes a pod if the disruption budget that covers it allows it (KEP-85; policy/v1). */
import type { V1Pod, V1PodDisruptionBudget } from '@kubernetes/client-node'
import { type Eviction, evictions } from '../../../api/policy/eviction.ts'
import type { Model } from '../../../machinery/object.ts'
import { labelSelectorOf } from '../../../machinery/selectors/label-selector.ts'
import { badRequest, forbidden, internal, notFound, StatusError } from '../../../machinery/status-error.ts'
import { statusResponse } from '../../negotiation/error-response.ts'
import { ServedResource } from '../../registry/served-resource.ts'
import { checkPreconditions, deleteObject } from '../../registry/write/delete-object.ts'
import { updateObject } from '../../registry/write/update-object.ts'
import type { WriteContext } from '../../registry/write/write-context.ts'
import { decodeObject } from '../../request/bodies/decode-object.ts'
import { checkNamespace } from '../../request/identity.ts'
import { type DeleteOptions, deleteOptionsOf } from '../../request-options/delete-options.ts'
import { writeOptions } from '../../request-options/write-options.ts'
import { admit, noAdmission } from '../admitted.ts'
import { type Endpoint, type Target, writeContext } from '../endpoint.ts'
import { created } from './created.ts'

type Pod = Model<V1Pod>
type Budget = Model<V1PodDisruptionBudget>

const evictionResource = new ServedResource(evictions)
const retryAfterSeconds = 10
const budgetResource = { group: 'policy', name: 'poddisruptionbudgets' }
/** The maximum number of evicted pods whose deletion the disruption controller has not confirmed. */
const maxDisruptedPods = 2000
/** Retries if a pod changes while its budget is read. */
const attempts = 20

export const evictPod: Endpoint = async (target) => {
  const { services, request, resource: pods } = target
  const options = writeOptions(request.query, 'CreateOptions')
  const eviction = (await decodeObject(request, evictionResource, options, services.knowsKind)) as Eviction
  const { namespace, name } = request.info
  checkNamespace(eviction, evictionResource, namespace)
  if (eviction.metadata.name !== name) throw badRequest('name in URL does not match name in Eviction object')
  const deleteOptions = deleteOptionsOf(eviction.deleteOptions ?? {})
  const deletion: DeleteOptions = { ...deleteOptions, dryRun: deleteOptions.dryRun || options.dryRun }
  const requested = writeContext(target, { ...options, dryRun: deletion.dryRun })
  await admit(requested, 'CREATE', eviction, evictions)
  const context = { ...requested, subresource: '' }
  for (let attempt = 1; ; attempt++) {
    const live = await services.registry.current(pods, pods.key(namespace, name))
    if (!live) throw notFound(pods.groupResource, name)
    if (await evict(target, context, live.parse<Pod>(), deletion, attempt === attempts))
      return statusResponse(request, created(), 201)
  }
}

/** Deletes the pod if it is unchanged; returns false if it has changed, so that a budget may apply now. */
async function evict(
  target: Target,
  context: WriteContext,
  pod: Pod,
  deletion: DeleteOptions,
  isLast: boolean,
): Promise<boolean> {
  const isFree = ignoresBudgets(pod)
  const exempt = isFree ? undefined : await spendBudget(target, context, pod)
  // The reason for the exemption may end before the delete, so the version must match; not for pods that are already
  // ending.
  const mustMatch =
    (exempt !== undefined || (isFree && !isEnding(pod))) && deletion.preconditions?.resourceVersion === undefined
  const preconditions = { ...deletion.preconditions, resourceVersion: pod.metadata.resourceVersion }
  try {
    await deleteEvicted({ ...context, admission: noAdmission }, mustMatch ? { ...deletion, preconditions } : deletion)
    return true
  } catch (error) {
    if (!mustMatch || !(error instanceof StatusError && error.code === 409)) throw error
    if (exempt !== undefined) throw beingProcessed(exempt)
    if (isLast) throw error
    return false
  }
}

/** Deletes the pod, and first sets a condition with the reason for clients that still see it. */
async function deleteEvicted(context: WriteContext, deletion: DeleteOptions): Promise<void> {
  if (deletion.dryRun) return void (await deleteObject(context, deletion))
  const { preconditions } = deletion
  const { object } = await updateObject(
    { ...context, subresource: 'status' },
    {
      startsFromLive: true,
      conditional: preconditions?.resourceVersion !== undefined,
      change: (live) => {
        checkPreconditions(context, deletion, live!.metadata)
        return { object: disrupted(live as Pod, context.now()), tracked: true }
      },
    },
  )
  const resourceVersion = preconditions?.resourceVersion === undefined ? undefined : String(object.revision)
  await deleteObject(
    context,
    resourceVersion === undefined ? deletion : { ...deletion, preconditions: { ...preconditions, resourceVersion } },
  )
}

type Condition = NonNullable<NonNullable<Pod['status']>['conditions']>[number]

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
} as const

function disrupted(pod: Pod, now: string): Pod {
  const conditions = pod.status?.conditions ?? []
  const known = conditions.find(({ type }) => type === disruptionTarget.type)
  const lastTransitionTime = known?.status === disruptionTarget.status ? known.lastTransitionTime : now
  const condition = { ...disruptionTarget, lastProbeTime: null, lastTransitionTime } as unknown as Condition
  return {
    ...pod,
    status: {
      ...pod.status,
      conditions: known ? conditions.map((one) => (one === known ? condition : one)) : [...conditions, condition],
    },
  }
}

const isEnding = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined || status?.phase === 'Succeeded' || status?.phase === 'Failed'

/** True for pods that are pending, completed or being deleted: their eviction disrupts nothing. */
const ignoresBudgets = (pod: Pod): boolean => isEnding(pod) || pod.status?.phase === 'Pending'

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false

/**
 * Takes one disruption from the budget that covers the pod. Throws 429 if none remains, 500 for two budgets. Returns
 * the name of a budget that allows the eviction without a charge, as the pod is not ready.
 */
async function spendBudget(
  { services: { registry, budgets } }: Target,
  context: WriteContext,
  pod: Pod,
): Promise<string | undefined> {
  const { objects } = await registry.cacher(budgets).ready()
  const covering = objects
    .slice(budgets.range(pod.metadata.namespace ?? ''))
    .map((object) => registry.view(budgets).show(object).parse<Budget>())
    .filter(({ spec }) => spec?.selector && labelSelectorOf(spec.selector).matches(pod.metadata.labels))
  if (covering.length === 0) return
  if (covering.length > 1)
    throw internal('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.')
  const budget = covering[0]!
  const name = budget.metadata.name!
  if (!isReady(pod) && allowsUnhealthyEviction(budget)) return name
  await updateObject(
    { ...context, resource: budgets, name, subresource: 'status' },
    { startsFromLive: true, change: (live) => ({ object: spent(live as Budget, pod.metadata.name!, context.now()) }) },
  )
}

/** True if unhealthy pods may be evicted: while enough others are healthy, or always if the budget allows it. */
function allowsUnhealthyEviction({ spec, status }: Budget): boolean {
  const { desiredHealthy = 0, currentHealthy = 0 } = status ?? {}
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy)
}

function spent(budget: Budget, pod: string, now: string): Budget {
  const { metadata, status } = budget
  const { disruptionsAllowed = 0, disruptedPods = {}, observedGeneration = 0 } = status ?? {}
  if (observedGeneration < (metadata.generation ?? 0)) throw beingProcessed(metadata.name!)
  if (disruptionsAllowed < 0) throw forbidden(budgetResource, metadata.name!, 'pdb disruptions allowed is negative')
  if (Object.keys(disruptedPods).length > maxDisruptedPods)
    throw forbidden(
      budgetResource,
      metadata.name!,
      'DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    )
  if (disruptionsAllowed === 0) throw tooMany(denialReason(budget))
  const remaining = {
    ...status!,
    disruptionsAllowed: disruptionsAllowed - 1,
    disruptedPods: { ...disruptedPods, [pod]: now },
  }
  return {
    ...budget,
    status: remaining.disruptionsAllowed > 0 ? remaining : { ...remaining, conditions: usedUp(remaining, now) },
  }
}

const disruptionAllowed = 'DisruptionAllowed'

/** The reason why a budget denies an eviction. After a failed sync its numbers are meaningless. */
function denialReason({ metadata, status }: Budget): string {
  const { desiredHealthy = 0, currentHealthy = 0, conditions } = status ?? {}
  const condition = conditions?.find(
    ({ type, status, message }) => type === disruptionAllowed && status === 'False' && message,
  )
  const denial = `The disruption budget ${metadata.name} does not allow evicting pods currently`
  if (condition?.reason === 'SyncFailed') return `${denial} because it failed sync: ${condition.message}`
  if (currentHealthy <= desiredHealthy)
    return (
      `The disruption budget ${metadata.name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} ` +
      'currently'
    )
  return condition ? `${denial} (${condition.reason}): ${condition.message}` : denial
}

/** The conditions of a budget that allows no more disruptions. */
function usedUp(
  { conditions = [], observedGeneration }: NonNullable<Budget['status']>,
  now: string,
): NonNullable<Budget['status']>['conditions'] {
  const known = conditions.find(({ type }) => type === disruptionAllowed)
  const condition = {
    type: disruptionAllowed,
    status: 'False',
    ...(observedGeneration && { observedGeneration }),
    lastTransitionTime: known?.status === 'False' ? known.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  }
  return known ? conditions.map((one) => (one === known ? condition : one)) : [...conditions, condition]
}

const beingProcessed = (budget: string): StatusError =>
  tooMany(`The disruption budget ${budget} is still being processed by the server.`, retryAfterSeconds)

const tooMany = (why: string, retryAfterSeconds?: number): StatusError =>
  new StatusError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: why }],
    ...(retryAfterSeconds && { retryAfterSeconds }),
  })
