/** Pods: groups of containers that run together on one node. */
import { type FieldError, forbiddenField } from '../../../machinery/validation/field-error.ts'
import { all, valid } from '../../../machinery/validation/field-rules.ts'
import { type ResourceDefinition, resource } from '../../resource.ts'
import { applyAppArmorAnnotations } from './app-armor.ts'
import { podColumns, podRowConditions } from './columns.ts'
import { podDefaults } from './defaults/pod-defaults.ts'
import { applyMatchLabelKeys } from './match-label-keys.ts'
import type { Pod } from './model.ts'
import { qosClass } from './resources/qos.ts'
import { resetAllButResources, resizeRules } from './resources/resize.ts'
import { isCached, recordPassed } from './template-mates.ts'
import { matchingProfiles, mirrorAnnotation, podAnnotations } from './validation/annotations.ts'
import { podSpec, validatePodOnly } from './validation/spec.ts'
import { podStatusUpdate } from './validation/status.ts'
import { ephemeralContainersUpdate, podUpdate } from './validation/update.ts'
import { podWarnings } from './warnings/index.ts'

export { podTemplateDefaults } from './defaults/pod-defaults.ts'
export { podTemplate, type TemplateOptions } from './validation/spec.ts'
export { podNameWarnings, templateWarnings } from './warnings/index.ts'

/**
 * Sets the status of a new pod: phase Pending, a condition if it has scheduling gates, and its QoS class. Keeps a given
 * class.
 */
function initializeStatus(pod: Pod): void {
  pod.status = { phase: 'Pending', qosClass: pod.status?.qosClass || qosClass(pod.spec ?? { containers: [] }) }
  if (pod.spec?.schedulingGates?.length) {
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
      message: 'Scheduling is blocked due to non-empty scheduling gates',
      lastProbeTime: null,
      lastTransitionTime: null,
    }
    pod.status.conditions = [condition as unknown as NonNullable<typeof pod.status.conditions>[number]]
  }
}

/** Keeps fields that old kubelets omit. Conditions of the same type are matched in their order. */
function keepStatus({ status }: Pod, { status: old }: Pod): void {
  if (!status || !old) return
  if (!status.qosClass) status.qosClass = old.qosClass
  if (!status.observedGeneration && old.observedGeneration) status.observedGeneration = old.observedGeneration
  const before = Map.groupBy(old.conditions ?? [], ({ type }) => type)
  for (const condition of status.conditions ?? []) {
    const generation = before.get(condition.type)?.shift()?.observedGeneration
    if (!condition.observedGeneration && generation) condition.observedGeneration = generation
  }
}

function specRules(pod: Pod): readonly FieldError[] {
  if (isCached(pod)) return valid
  const { metadata, spec = { containers: [] } } = pod
  const errors = all(
    podAnnotations(metadata.annotations, spec, 'metadata.annotations'),
    podSpec(spec, 'spec', undefined, metadata.name),
    validatePodOnly(spec, 'spec'),
  )
  if (errors.length === 0) recordPassed(pod)
  return errors
}

/** Validates rules that hold on create only. */
function createRules({ metadata, spec = { containers: [] } }: Pod): readonly FieldError[] {
  return all(
    spec.ephemeralContainers?.length ? [forbiddenField('spec.ephemeralContainers', 'cannot be set on create')] : valid,
    spec.resourceClaims?.length && metadata.annotations?.[mirrorAnnotation] !== undefined
      ? [forbiddenField('', 'static pods do not support resource claims')]
      : valid,
    spec.schedulingGates?.length && spec.nodeName
      ? [forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : valid,
    matchingProfiles(metadata.annotations, spec, 'spec'),
  )
}

/** Returns the grace period in seconds: 0 if the pod does not run, and 1 for negative values. */
export function podGracePeriod({ spec, status }: Pod, requested: number | undefined): number {
  if (!spec?.nodeName || status?.phase === 'Failed' || status?.phase === 'Succeeded') return 0
  const seconds = requested ?? spec.terminationGracePeriodSeconds ?? 0
  return seconds < 0 ? 1 : seconds
}

/** Resets all but the ephemeral containers: `/ephemeralcontainers` writes nothing else. */
function resetAllButEphemeralContainers(pod: Pod, old: Pod): void {
  const { resourceVersion, managedFields } = pod.metadata
  const containers = pod.spec?.ephemeralContainers
  pod.metadata = { ...old.metadata, resourceVersion, managedFields }
  pod.spec = { ...(old.spec ?? { containers: [] }), ephemeralContainers: containers }
  pod.status = old.status
}

export const pods: ResourceDefinition = resource<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  plural: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  scope: 'Namespaced',
  subresources: {
    status: true,
    special: [
      { name: 'attach', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
      { name: 'binding', kind: 'Binding', verbs: ['create'] },
      {
        name: 'ephemeralcontainers',
        kind: 'Pod',
        verbs: ['get', 'patch', 'update'],
        writes: {
          prepare: resetAllButEphemeralContainers,
          validate: (pod, old) => all(specRules(pod), ephemeralContainersUpdate(pod, old)),
        },
      },
      { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
      { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
      { name: 'log', kind: 'Pod', verbs: ['get'] },
      { name: 'portforward', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
      { name: 'proxy', kind: 'PodProxyOptions', verbs: ['create', 'delete', 'get', 'patch', 'update'] },
      {
        name: 'resize',
        kind: 'Pod',
        verbs: ['get', 'patch', 'update'],
        writes: { prepare: resetAllButResources, validate: (pod, old) => all(specRules(pod), resizeRules(pod, old)) },
      },
    ],
  },
  defaults: [podDefaults],
  // Old kubelets sent ownerReferences that did not exist.
  resetFields: { status: ['metadata.deletionTimestamp', 'metadata.ownerReferences', 'spec'] },
  acceptsStatusOnCreate: true,
  prepare: {
    create: (pod) => {
      initializeStatus(pod)
      applyMatchLabelKeys(pod)
      applyAppArmorAnnotations(pod)
    },
    status: keepStatus,
  },
  generation: 'spec',
  validate: {
    spec: specRules,
    create: createRules,
    update: podUpdate,
    status: podStatusUpdate,
  },
  warnings: podWarnings,
  selectableFields: {
    'spec.nodeName': ({ spec }) => spec?.nodeName,
    'spec.restartPolicy': ({ spec }) => spec?.restartPolicy,
    'spec.schedulerName': ({ spec }) => spec?.schedulerName,
    'spec.serviceAccountName': ({ spec }) => spec?.serviceAccountName,
    'spec.hostNetwork': ({ spec }) => String(spec?.hostNetwork ?? false),
    'status.phase': ({ status }) => status?.phase,
    'status.podIP': ({ status }) => status?.podIP,
    'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName,
  },
  columns: podColumns,
  rowConditions: podRowConditions,
  deletion: {
    returnsObject: true,
    gracePeriod: podGracePeriod,
    isImmediate: (fields, requested) => requested === 0 || !fields['spec.nodeName'],
  },
})
