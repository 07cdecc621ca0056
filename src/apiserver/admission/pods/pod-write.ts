/** Helpers of plug-ins that handle writes of pods. */
import type { Pod, PodSpec } from '../../../api/core/pod/model.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'

export type PodWithSpec = Pod & { spec: PodSpec }

/** Returns the pod of a write; undefined for other kinds and for subresources. */
export function writtenPod(
  pods: ServedResource,
  { resource, subresource, object }: AdmissionAttributes,
): PodWithSpec | undefined {
  if (resource !== pods || subresource !== '' || !object) return undefined
  const pod = object as Pod
  return pod.spec ? (pod as PodWithSpec) : undefined
}

export const isMirrorPod = ({ metadata }: Pod): boolean =>
  metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
