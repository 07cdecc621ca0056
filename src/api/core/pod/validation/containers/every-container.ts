/** The containers of a pod, of all three kinds. */
import type { Container, EphemeralContainer, PodSpec } from '../../model.ts'

/** All containers of a pod with their paths: those that run before the others first. */
export const everyContainer = (spec: PodSpec, path: string): (readonly [Container | EphemeralContainer, string])[] =>
  (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((field) =>
    (spec[field] ?? []).map((container, i) => [container, `${path}.${field}[${i}]`] as const),
  )
