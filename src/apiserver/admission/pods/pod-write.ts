/** What plug-ins that look at pods share: the pod that is written. */
import type { Pod, PodSpec } from '../../../api/core/pod/model.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../../registry/write/admission.ts'

export type PodWithSpec = Pod & { spec: PodSpec }

/** The pod, if this is a write of one and not of something below it; undefined for all else. */
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
