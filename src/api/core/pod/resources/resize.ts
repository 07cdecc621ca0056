/** `/resize`: other resources for the containers of a pod that runs (KEP-1287). */
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import { type FieldError, forbiddenField, invalidValue } from '../../../../machinery/validation/field-error.ts'
import { all, each, valid } from '../../../../machinery/validation/field-rules.ts'
import { isSidecar, type Pod } from '../model.ts'
import { mirrorAnnotation } from '../validation/annotations.ts'
import { qosClass } from './qos.ts'

type Containers = NonNullable<Pod['spec']>['containers']
type Container = Containers[number]

/** The containers as they were, with the resources and resize policies that the client sent. */
function resizedContainers(old: Containers | undefined, sent: Containers | undefined): Containers {
  const byName = new Map((sent ?? []).map((container) => [container.name, container]))
  return (old ?? []).map((container) => {
    const next = byName.get(container.name)
    return next ? { ...container, resources: next.resources, resizePolicy: next.resizePolicy } : container
  })
}

/** Of an update through `/resize` only resources count: the rest stays as it was. */
export function onlyResources(pod: Pod, old: Pod): void {
  const { resourceVersion, managedFields } = pod.metadata
  const { spec } = pod
  pod.metadata = { ...old.metadata, resourceVersion, managedFields }
  pod.spec = {
    ...(old.spec ?? { containers: [] }),
    containers: resizedContainers(old.spec?.containers, spec?.containers),
    ...(old.spec?.initContainers && { initContainers: resizedContainers(old.spec.initContainers, spec?.initContainers) }),
  }
  pod.status = old.status
}

/** CPU and memory may become other amounts, or be asked for where they were not: nothing else, and not of another quality of service. */
export function resizeRules({ metadata, spec }: Pod, { spec: before, status }: Pod): readonly FieldError[] {
  if (metadata.annotations?.[mirrorAnnotation] !== undefined) return [forbiddenField('', 'static pods cannot be resized')]
  if (before?.os?.name === 'windows') return [forbiddenField('', 'windows pods cannot be resized')]
  const old = status?.qosClass ?? qosClass(before ?? { containers: [] })
  const next = qosClass(spec ?? { containers: [] })
  return all(
    // Upstream shows the class that the pod has.
    next === old ? valid : [invalidValue('spec', old, 'Pod QOS Class may not change as a result of resizing')],
    each(spec?.initContainers, 'spec.initContainers', (container, path) =>
      isSidecar(container) ? keptResources(container, named(before?.initContainers, container), `${path}.resources`) : valid,
    ),
    each(spec?.containers, 'spec.containers', (container, path) => keptResources(container, named(before?.containers, container), `${path}.resources`)),
    each(spec?.containers, 'spec', (container) =>
      differs(container, named(before?.containers, container)) ? [forbiddenField('spec', 'only cpu and memory resources are mutable')] : valid,
    ),
    each(spec?.initContainers, 'spec', (container) => initContainerRules(container, named(before?.initContainers, container))),
  )
}

const named = (containers: Containers | undefined, { name }: Container): Container => containers?.find((one) => one.name === name) ?? { name }

const resized = ['cpu', 'memory']

function keptResources(container: Container, old: Container, path: string): readonly FieldError[] {
  const isRemoved = (list: 'requests' | 'limits'): boolean =>
    Object.keys(old.resources?.[list] ?? {}).some((name) => container.resources?.[list]?.[name] === undefined)
  return all(
    isRemoved('requests') ? [forbiddenField(`${path}.requests`, 'resource requests cannot be removed')] : valid,
    isRemoved('limits') ? [forbiddenField(`${path}.limits`, 'resource limits cannot be removed')] : valid,
  )
}

const differs = (container: Container, old: Container): boolean => !semanticallyEqual(withoutResized(container), withoutResized(old))

function initContainerRules(container: Container, old: Container): readonly FieldError[] {
  if (isSidecar(container))
    return differs(container, old) ? [forbiddenField('spec', 'only cpu and memory resources for sidecar containers are mutable')] : valid
  return semanticallyEqual(container.resources, old.resources) ? valid : [forbiddenField('spec', 'resources for non-sidecar init containers are immutable')]
}

/** What a resize may not change of a container. */
function withoutResized({ resources: { requests, limits, claims } = {} }: Container): object {
  const others = (amounts: Readonly<Record<string, string>> = {}) =>
    Object.entries(amounts)
      .filter(([name]) => !resized.includes(name))
      .sort()
  return { requests: others(requests), limits: others(limits), claims: claims ?? [] }
}
