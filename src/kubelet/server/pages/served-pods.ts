/** The pods of this node, for the kubelet's HTTP server. */
import { HttpError } from '../../../node/http-error.ts'
import type { ContainerPath } from '../../../node/server/served-nodes.ts'
import { allContainers, type Pod, type PodStatus } from '../../pod-types.ts'
import { isMirror } from '../../sources/static-pods/annotations.ts'

export interface ServedPods {
  /** The pods that should run, static ones included. */
  all(): readonly Pod[]
  /** The objects that represent static pods in the API. */
  mirrors(): readonly Pod[]
  /** The newest status that the kubelet has determined, also if it is not written yet. */
  statusOf(uid: string): PodStatus | undefined
  /** The static pod of a mirror pod. */
  staticPodOf(mirror: Pod): Pod | undefined
}

/** Finds a pod by name, and by UID if the path has one. Static pods come before their mirrors. */
export function findPod(pods: ServedPods, { namespace, name, uid }: ContainerPath): Pod | undefined {
  const all = [...pods.all(), ...pods.mirrors()]
  const named = all.filter(({ metadata }) => metadata.name === name && metadata.namespace === namespace)
  const found = named.find((pod) => !isMirror(pod)) ?? named[0]
  if (!uid) return found
  return named.find(({ metadata }) => metadata.uid === uid) && found
}

/** Throws an HttpError with upstream's messages for logs. */
export function podForLog(pods: ServedPods, path: ContainerPath): Pod {
  const pod = findPod(pods, path)
  if (!pod) throw new HttpError(404, `pod ${JSON.stringify(path.name)} does not exist`)
  if (!hasContainer(pod, path.container))
    throw new HttpError(
      404,
      `container ${JSON.stringify(path.container)} not found in pod ${JSON.stringify(path.name)}`,
    )
  return pod
}

/** Throws an HttpError with upstream's message for exec, attach, port-forward and others. */
export function podForStream(pods: ServedPods, path: ContainerPath): Pod {
  const pod = findPod(pods, path)
  if (!pod) throw new HttpError(404, 'pod does not exist')
  return pod
}

export const hasContainer = (pod: Pod, name: string): boolean =>
  allContainers(pod).some((container) => container.name === name)
