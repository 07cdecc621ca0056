/**
 * Preparation and validation of writes to `/resize`, which changes the resources of a running pod (KEP-1287, KEP-5419).
 */
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import { type FieldError, forbiddenField, invalidValue } from '../../../../machinery/validation/field-error.ts'
import { all, each, valid } from '../../../../machinery/validation/field-rules.ts'
import { isSidecar, type Pod, type Resources } from '../model.ts'
import { mirrorAnnotation } from '../validation/annotations.ts'
import { qosClass } from './qos.ts'

type PodSpec = NonNullable<Pod['spec']>
type Containers = PodSpec['containers']
type Container = Containers[number]
const lists = ['containers', 'initContainers'] as const
const emptySpec: PodSpec = { containers: [] }

/**
 * Returns the old containers with the client's resources and resize policies, or the client's containers if their names
 * differ, which validation rejects.
 */
function resizedContainers(old: Containers, sent: Containers): Containers {
  return sent.every(({ name }, at) => name === old[at]?.name)
    ? old.map((container, at) => ({
        ...container,
        resources: sent[at]?.resources,
        resizePolicy: sent[at]?.resizePolicy,
      }))
    : sent
}

/** Resets all but the resources: `/resize` writes nothing else. */
export function resetAllButResources(pod: Pod, old: Pod): void {
  const { resourceVersion, managedFields } = pod.metadata
  const spec = pod.spec ?? emptySpec
  const before = old.spec ?? emptySpec
  if (lists.some((list) => (spec[list]?.length ?? 0) !== (before[list]?.length ?? 0))) return
  pod.metadata = { ...old.metadata, resourceVersion, managedFields }
  pod.spec = {
    ...before,
    resources: spec.resources,
    containers: resizedContainers(before.containers ?? [], spec.containers ?? []),
    ...(before.initContainers && {
      initContainers: resizedContainers(before.initContainers, spec.initContainers ?? []),
    }),
  }
  pod.status = old.status
}

/** Allows changed and added amounts of CPU and memory only, and no other QoS class. */
export function resizeRules(
  { metadata, spec = emptySpec }: Pod,
  { spec: before = emptySpec, status }: Pod,
): readonly FieldError[] {
  if (metadata.annotations?.[mirrorAnnotation] !== undefined)
    return [forbiddenField('', 'static pods cannot be resized')]
  if (before.os?.name === 'windows') return [forbiddenField('', 'windows pods cannot be resized')]
  const old = status?.qosClass ?? qosClass(before)
  const errors = all(
    // Upstream shows the old class.
    qosClass(spec) === old
      ? valid
      : [invalidValue('spec', old, 'Pod QOS Class may not change as a result of resizing')],
    nodeSupportsResize(status) ? valid : [forbiddenField('spec', 'Pod running on node without support for resize')],
    validatePodLevelResources(spec.resources, before.resources),
  )
  const others = validateSameContainers(spec, before)
  if (others.length > 0) return all(errors, others)
  return all(
    errors,
    each(spec.initContainers, 'spec.initContainers', (container, path) =>
      validateNotRemoved(container, findContainer(before.initContainers, container), path),
    ),
    each(spec.containers, 'spec.containers', (container, path) =>
      validateNotRemoved(container, findContainer(before.containers, container), path),
    ),
    each(spec.containers, 'spec', (container) =>
      differs(container, findContainer(before.containers, container))
        ? [forbiddenField('spec', 'only cpu and memory resources are mutable')]
        : valid,
    ),
    each(spec.initContainers, 'spec.initContainers', (container, path) =>
      validateInitContainer(container, findContainer(before.initContainers, container), path),
    ),
  )
}

/** Nodes that support resize report the resources of containers. */
function nodeSupportsResize(status: Pod['status']): boolean {
  const running = (status?.containerStatuses ?? []).filter(({ state }) => state?.running)
  return running.length === 0 || running.some(({ resources }) => resources)
}

/** Validates pod-level resources. */
function validatePodLevelResources(
  resources: Resources | undefined,
  old: Resources | undefined,
): readonly FieldError[] {
  const path = 'spec.resources'
  if (!isSet(resources) && !isSet(old)) return valid
  if (old && !resources) return [forbiddenField(path, 'pod-level resources cannot be removed')]
  return all(
    isRemoved(resources, old, 'requests')
      ? [forbiddenField(`${path}.requests`, 'pod-level resource requests cannot be removed')]
      : valid,
    isRemoved(resources, old, 'limits')
      ? [forbiddenField(`${path}.limits`, 'pod-level resource limits cannot be removed')]
      : valid,
    semanticallyEqual(withoutResizable(resources), withoutResizable(old))
      ? valid
      : [forbiddenField('spec', 'only cpu and memory resources are mutable at pod-level')],
  )
}

const isSet = ({ requests = {}, limits = {} }: Resources = {}): boolean =>
  Object.keys(requests).length + Object.keys(limits).length > 0

/** Rejects containers that are added, removed, renamed or reordered. */
const validateSameContainers = (spec: PodSpec, before: PodSpec): readonly FieldError[] =>
  lists.flatMap((list) => {
    const [now, old] = [spec[list] ?? [], before[list] ?? []]
    if (now.length !== old.length)
      return [forbiddenField(`spec.${list}`, `${list} may not be added or removed on resize`)]
    return old.flatMap(({ name }, at) =>
      now[at]?.name === name
        ? valid
        : [forbiddenField(`spec.${list}[${at}].name`, `${list} may not be renamed or reordered on resize`)],
    )
  })

const findContainer = (containers: Containers | undefined, { name }: Container): Container =>
  containers?.find((one) => one.name === name) ?? { name }

const isRemoved = (
  resources: Resources | undefined,
  old: Resources | undefined,
  list: 'requests' | 'limits',
): boolean => Object.keys(old?.[list] ?? {}).some((name) => resources?.[list]?.[name] === undefined)

const validateNotRemoved = (
  { resources }: Container,
  { resources: old }: Container,
  path: string,
): readonly FieldError[] =>
  all(
    isRemoved(resources, old, 'requests')
      ? [forbiddenField(`${path}.resources.requests`, 'resource requests cannot be removed')]
      : valid,
    isRemoved(resources, old, 'limits')
      ? [forbiddenField(`${path}.resources.limits`, 'resource limits cannot be removed')]
      : valid,
  )

const differs = (container: Container, old: Container): boolean =>
  !semanticallyEqual(
    { ...container, resources: withoutResizable(container.resources) },
    { ...old, resources: withoutResizable(old.resources) },
  )

function validateInitContainer(container: Container, old: Container, path: string): readonly FieldError[] {
  const isRestarted = container.resizePolicy?.some(({ restartPolicy }) => restartPolicy === 'RestartContainer') ?? false
  return all(
    differs(container, old)
      ? [forbiddenField(path, 'only cpu and memory resources for init or sidecar containers are mutable')]
      : valid,
    isRestarted && !isSidecar(container) && !semanticallyEqual(container, old)
      ? [forbiddenField(path, 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized')]
      : valid,
  )
}

const resizableResources = ['cpu', 'memory']

/** Returns the resources without those that a resize may change. */
function withoutResizable({ requests, limits, claims }: Resources = {}): object {
  const others = (amounts: Readonly<Record<string, string>> = {}) =>
    Object.entries(amounts)
      .filter(([name]) => !resizableResources.includes(name))
      .sort()
  return { requests: others(requests), limits: others(limits), claims: claims ?? [] }
}
