/** `/resize`: other resources for the containers of a pod that runs (KEP-1287). */
import { semanticallyEqual } from '../../../../machinery/equality.ts'
import { type FieldError, forbiddenField, invalidValue } from '../../../../machinery/validation/field-error.ts'
import { all, each, valid } from '../../../../machinery/validation/field-rules.ts'
import type { Pod } from '../model.ts'
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
export function resizeRules({ spec }: Pod, { spec: before, status }: Pod): readonly FieldError[] {
  const old = status?.qosClass ?? qosClass(before ?? { containers: [] })
  const next = qosClass(spec ?? { containers: [] })
  return all(
    next === old ? valid : [invalidValue('spec', next, 'Pod QOS Class may not change as a result of resizing')],
    each(spec?.containers, 'spec.containers', (container, path) => containerRules(container, named(before?.containers, container), path)),
    each(spec?.initContainers, 'spec.initContainers', (container, path) => initContainerRules(container, named(before?.initContainers, container), path)),
  )
}

const named = (containers: Containers | undefined, { name }: Container): Container => containers?.find((one) => one.name === name) ?? { name }

const resized = ['cpu', 'memory']

function containerRules(container: Container, old: Container, path: string): readonly FieldError[] {
  const removed = (list: 'requests' | 'limits'): readonly FieldError[] =>
    resized.some((name) => old.resources?.[list]?.[name] !== undefined && container.resources?.[list]?.[name] === undefined)
      ? [forbiddenField(`${path}.resources.${list}`, `resource ${list} cannot be removed`)]
      : valid
  return all(
    semanticallyEqual(withoutResized(container), withoutResized(old)) ? valid : [forbiddenField('spec', 'only cpu and memory resources are mutable')],
    removed('limits'),
    removed('requests'),
  )
}

function initContainerRules(container: Container, old: Container, path: string): readonly FieldError[] {
  if (container.restartPolicy === 'Always') return containerRules(container, old, path)
  return semanticallyEqual(container.resources, old.resources)
    ? valid
    : [forbiddenField(`${path}.resources`, 'resources for non-sidecar init containers are immutable')]
}

/** What a resize may not change of a container. */
function withoutResized({ resources: { requests, limits, claims } = {} }: Container): object {
  const others = (amounts: Readonly<Record<string, string>> = {}) =>
    Object.entries(amounts)
      .filter(([name]) => !resized.includes(name))
      .sort()
  return { requests: others(requests), limits: others(limits), claims: claims ?? [] }
}
