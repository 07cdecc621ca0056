/** What plug-ins that look at pods share: the pod that is written, and how it is refused. */
import type { Pod, PodSpec } from '../../../api/core/pod/model.ts'
import { forbidden, type StatusError } from '../../../machinery/status-error.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import type { AdmissionAttributes } from '../plugin.ts'

export type PodWithSpec = Pod & { spec: PodSpec }

/** The pod, if this is a write of one and not of something below it; undefined for all else. */
export function writtenPod(pods: ServedResource, { resource, subresource, object }: AdmissionAttributes): PodWithSpec | undefined {
  if (resource !== pods || subresource !== '' || !object) return undefined
  const pod = object as Pod
  return pod.spec ? (pod as PodWithSpec) : undefined
}

/** 403 under the name that is to be generated, where there is none yet. */
export const refusal = ({ resource, name, object }: AdmissionAttributes, why: string): StatusError =>
  forbidden(resource.groupResource, name || object?.metadata.name || object?.metadata.generateName || 'Unknown', why)

export const isMirrorPod = ({ metadata }: Pod): boolean => metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined
