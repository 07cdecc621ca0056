/** The annotations by which static pods and their mirror pods are recognized. */
import type { Pod } from '../../../client/kinds.ts'

export const sourceAnnotation = 'kubernetes.io/config.source'

export const staticAnnotations = {
  hash: 'kubernetes.io/config.hash',
  seen: 'kubernetes.io/config.seen',
  mirror: 'kubernetes.io/config.mirror',
} as const

/** True for a pod of a manifest; false for its mirror pod, and for other pods of the API. */
export const isStatic = (pod: Pod): boolean => {
  const source = pod.metadata.annotations?.[sourceAnnotation]
  return source !== undefined && source !== 'api' && !isMirror(pod)
}

export const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[staticAnnotations.mirror] !== undefined

/** The hash of a static pod's manifest. */
export const hashOfStatic = ({ metadata }: Pod): string => metadata.annotations?.[staticAnnotations.hash] ?? ''

/** The hash of the manifest that a mirror pod was created for. */
export const hashOfMirror = ({ metadata }: Pod): string => metadata.annotations?.[staticAnnotations.mirror] ?? ''
