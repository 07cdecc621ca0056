/** What is kept of a pod in memory: a hundred thousand of them have to fit, and those of one workload share what they have in common. */
import type { Pod } from '../../client/kinds.ts'
import { annotationPrefix } from '../names.ts'
import type { Container, PodSpec } from './lifecycle/pod-parts.ts'

/** More different specs than this are forgotten, and shared no more. */
const mostShared = 20_000

/** Makes pods smaller. `keepAll` is for those whose stages may look at any field. */
export function podKeeper(keepAll: boolean): (pod: Pod) => Pod {
  const shared = new Map<string, object>()
  const share = <T extends object>(value: T | undefined): T | undefined => {
    if (!value) return undefined
    const key = JSON.stringify(value)
    const known = shared.get(key)
    if (known) return known as T
    if (shared.size >= mostShared) shared.clear()
    shared.set(key, value)
    return value
  }
  return (pod) => {
    delete pod.metadata.managedFields
    if (keepAll) return pod
    const { metadata, spec, status } = pod
    const { name, namespace, uid, resourceVersion, generation, labels, annotations, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } =
      metadata
    const owner = metadata.ownerReferences?.find(({ controller }) => controller)
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        uid,
        resourceVersion,
        creationTimestamp,
        labels: share(labels),
        ...(generation !== undefined && { generation }),
        ...(annotations && { annotations: share(ownAnnotations(annotations)) }),
        ...(owner && { ownerReferences: share([owner]) }),
        ...(deletionTimestamp && { deletionTimestamp, deletionGracePeriodSeconds }),
      },
      spec: spec && share(keptSpec(spec)),
      // Of pods that began together, these are the same.
      ...(status && { status: { ...status, conditions: share(status.conditions), hostIPs: share(status.hostIPs) } }),
    }
  }
}

const ownAnnotations = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(annotationPrefix)))

const keptSpec = (spec: PodSpec): PodSpec => ({
  nodeName: spec.nodeName,
  restartPolicy: spec.restartPolicy,
  hostNetwork: spec.hostNetwork,
  priority: spec.priority,
  priorityClassName: spec.priorityClassName,
  tolerations: spec.tolerations,
  containers: spec.containers.map(keptContainer),
  initContainers: spec.initContainers?.map(keptContainer),
  ephemeralContainers: spec.ephemeralContainers?.map(keptContainer),
  readinessGates: spec.readinessGates,
  activeDeadlineSeconds: spec.activeDeadlineSeconds,
  terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
  nodeSelector: spec.nodeSelector,
  overhead: spec.overhead,
  resources: spec.resources,
})

const keptContainer = ({ name, image, imagePullPolicy, resources, restartPolicy, ports, readinessProbe, startupProbe }: Container): Container => ({
  name,
  image,
  imagePullPolicy,
  resources,
  restartPolicy,
  ports,
  readinessProbe: readinessProbe && { initialDelaySeconds: readinessProbe.initialDelaySeconds },
  startupProbe: startupProbe && { initialDelaySeconds: startupProbe.initialDelaySeconds },
})
