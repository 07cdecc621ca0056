import type { Container, EphemeralContainer, PodSpec } from '../../model.ts'

/** Returns all containers of a pod, of all three kinds, with their paths. Init containers come first. */
export const everyContainer = (spec: PodSpec, path: string): (readonly [Container | EphemeralContainer, string])[] =>
  (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((field) =>
    (spec[field] ?? []).map((container, i) => [container, `${path}.${field}[${i}]`] as const),
  )
