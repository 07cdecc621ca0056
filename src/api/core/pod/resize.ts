/** `/resize`: other resources for the containers of a pod that runs (KEP-1287). */
import { type FieldError, invalidValue } from '../../../machinery/validation/field-error.ts'
import type { Pod } from './model.ts'
import { qosClass } from './qos.ts'

type Containers = NonNullable<Pod['spec']>['containers']

/** The containers as they were, with the resources and resize policies that the client sent. */
function resized(old: Containers | undefined, sent: Containers | undefined): Containers {
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
    containers: resized(old.spec?.containers, spec?.containers),
    ...(old.spec?.initContainers && { initContainers: resized(old.spec.initContainers, spec?.initContainers) }),
  }
  pod.status = old.status
}

/** Resources may not become ones of another quality of service. */
export function resizeRules({ spec }: Pod, { spec: before, status }: Pod): readonly FieldError[] {
  const old = status?.qosClass ?? qosClass(before ?? { containers: [] })
  const next = qosClass(spec ?? { containers: [] })
  return next === old ? [] : [invalidValue('spec', next, 'Pod QOS Class may not change as a result of resizing')]
}
