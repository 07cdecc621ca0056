/** The names of the CDI devices that a container requests: by CRI, and by annotations as before CRI had a field. */
import type { ContainerConfig } from '#protobuf/cri-runtime_pb.js'
import { isQualifiedName } from './files/device-names.ts'

const annotationPrefix = 'cdi.k8s.io/'

/** Each name once. Throws an Error for annotations that are not lists of device names. */
export function requestedDevices({
  CDIDevices,
  annotations,
}: Pick<ContainerConfig, 'CDIDevices' | 'annotations'>): readonly string[] {
  const keys = Object.keys(annotations).filter((key) => key.startsWith(annotationPrefix))
  if (CDIDevices.length === 0 && keys.length === 0) return []
  const annotated = keys.sort().flatMap((key) => annotations[key]!.split(','))
  const invalid = annotated.find((name) => !isQualifiedName(name))
  if (invalid !== undefined)
    throw new Error(`failed to parse CDI device annotations: invalid CDI device name ${JSON.stringify(invalid)}`)
  return [...new Set([...CDIDevices.map(({ name }) => name), ...annotated])]
}
