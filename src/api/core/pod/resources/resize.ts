/**
 * Pods get more or fewer resources while they run: what `/resize` takes of a write, and what it refuses (KEP-1287,
 * KEP-5419).
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
const nothing: PodSpec = { containers: [] }

/**
 * The containers as they were, with the resources and resize policies that the client sent. Others than those are left
 * for the rules.
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

/** Of an update through `/resize` only resources count: the rest stays as it was. */
export function onlyResources(pod: Pod, old: Pod): void {
  const { resourceVersion, managedFields } = pod.metadata
  const spec = pod.spec ?? nothing
  const before = old.spec ?? nothing
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

/**
 * CPU and memory may become other amounts, or be asked for where they were not: nothing else, and not of another
 * quality of service.
 */
export function resizeRules(
  { metadata, spec = nothing }: Pod,
  { spec: before = nothing, status }: Pod,
): readonly FieldError[] {
  if (metadata.annotations?.[mirrorAnnotation] !== undefined)
    return [forbiddenField('', 'static pods cannot be resized')]
  if (before.os?.name === 'windows') return [forbiddenField('', 'windows pods cannot be resized')]
  const old = status?.qosClass ?? qosClass(before)
  const errors = all(
    // Upstream shows the class that the pod has.
    qosClass(spec) === old
      ? valid
      : [invalidValue('spec', old, 'Pod QOS Class may not change as a result of resizing')],
    isKnownToNode(status) ? valid : [forbiddenField('spec', 'Pod running on node without support for resize')],
    wholeResources(spec.resources, before.resources),
  )
  const others = otherContainers(spec, before)
  if (others.length > 0) return all(errors, others)
  return all(
    errors,
    each(spec.initContainers, 'spec.initContainers', (container, path) =>
      kept(container, named(before.initContainers, container), path),
    ),
    each(spec.containers, 'spec.containers', (container, path) =>
      kept(container, named(before.containers, container), path),
    ),
    each(spec.containers, 'spec', (container) =>
      differs(container, named(before.containers, container))
        ? [forbiddenField('spec', 'only cpu and memory resources are mutable')]
        : valid,
    ),
    each(spec.initContainers, 'spec.initContainers', (container, path) =>
      initContainer(container, named(before.initContainers, container), path),
    ),
  )
}

/** Nodes that can resize tell what their containers have. */
function isKnownToNode(status: Pod['status']): boolean {
  const running = (status?.containerStatuses ?? []).filter(({ state }) => state?.running)
  return running.length === 0 || running.some(({ resources }) => resources)
}

/** What is asked for the pod as a whole. */
function wholeResources(resources: Resources | undefined, old: Resources | undefined): readonly FieldError[] {
  const path = 'spec.resources'
  if (!isSet(resources) && !isSet(old)) return valid
  if (old && !resources) return [forbiddenField(path, 'pod-level resources cannot be removed')]
  return all(
    isTaken(resources, old, 'requests')
      ? [forbiddenField(`${path}.requests`, 'pod-level resource requests cannot be removed')]
      : valid,
    isTaken(resources, old, 'limits')
      ? [forbiddenField(`${path}.limits`, 'pod-level resource limits cannot be removed')]
      : valid,
    semanticallyEqual(withoutResized(resources), withoutResized(old))
      ? valid
      : [forbiddenField('spec', 'only cpu and memory resources are mutable at pod-level')],
  )
}

const isSet = ({ requests = {}, limits = {} }: Resources = {}): boolean =>
  Object.keys(requests).length + Object.keys(limits).length > 0

/** A resize neither adds containers nor takes any away, nor gives them other names or places. */
const otherContainers = (spec: PodSpec, before: PodSpec): readonly FieldError[] =>
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

const named = (containers: Containers | undefined, { name }: Container): Container =>
  containers?.find((one) => one.name === name) ?? { name }

const isTaken = (resources: Resources | undefined, old: Resources | undefined, list: 'requests' | 'limits'): boolean =>
  Object.keys(old?.[list] ?? {}).some((name) => resources?.[list]?.[name] === undefined)

const kept = ({ resources }: Container, { resources: old }: Container, path: string): readonly FieldError[] =>
  all(
    isTaken(resources, old, 'requests')
      ? [forbiddenField(`${path}.resources.requests`, 'resource requests cannot be removed')]
      : valid,
    isTaken(resources, old, 'limits')
      ? [forbiddenField(`${path}.resources.limits`, 'resource limits cannot be removed')]
      : valid,
  )

const differs = (container: Container, old: Container): boolean =>
  !semanticallyEqual(
    { ...container, resources: withoutResized(container.resources) },
    { ...old, resources: withoutResized(old.resources) },
  )

function initContainer(container: Container, old: Container, path: string): readonly FieldError[] {
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

const resized = ['cpu', 'memory']

/** What a resize may not change. */
function withoutResized({ requests, limits, claims }: Resources = {}): object {
  const others = (amounts: Readonly<Record<string, string>> = {}) =>
    Object.entries(amounts)
      .filter(([name]) => !resized.includes(name))
      .sort()
  return { requests: others(requests), limits: others(limits), claims: claims ?? [] }
}
