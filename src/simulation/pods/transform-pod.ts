/**
 * Reduces pods to the fields that are read: there may be a hundred thousand. The informer stores equal parts of pods of
 * one workload once.
 */
import type { Pod } from '../../client/kinds.ts'
import type { Container, PodSpec, PodStatus } from '../../node/pods/pod-types.ts'
import { annotationPrefix } from '../names.ts'

/** `cacheFullPods` retains all fields for stages. */
export function podTransform(cacheFullPods: boolean): (pod: Pod) => Pod {
  const addressesOfNodes = new Map<string, NodeAddresses>()
  return ({ apiVersion, kind, metadata: { managedFields: _, ...metadata }, spec, status }) => {
    if (cacheFullPods) return { apiVersion, kind, metadata, spec, status }
    const {
      name,
      namespace,
      uid,
      resourceVersion,
      generation,
      labels,
      annotations,
      creationTimestamp,
      deletionTimestamp,
      deletionGracePeriodSeconds,
    } = metadata
    const owner = metadata.ownerReferences?.find(({ controller }) => controller)
    return {
      apiVersion,
      kind,
      metadata: {
        name,
        namespace,
        uid,
        resourceVersion,
        creationTimestamp,
        labels,
        ...(generation !== undefined && { generation }),
        ...(annotations && { annotations: ownAnnotations(annotations) }),
        ...(owner && { ownerReferences: [owner] }),
        ...(deletionTimestamp && { deletionTimestamp, deletionGracePeriodSeconds }),
      },
      spec: spec && transformSpec(spec),
      status: status && transformStatus(status, addressesOfNodes),
    }
  }
}

/** The node's addresses in the status of its pods, by address. */
type NodeAddresses = Pick<PodStatus, 'hostIP' | 'hostIPs'>

/** The whole status with shared addresses: those of a node for all its pods, and a pod's single one. */
function transformStatus(status: PodStatus, known: Map<string, NodeAddresses>): PodStatus {
  const { hostIP, hostIPs, podIP, podIPs } = status
  if (!hostIP || hostIPs?.length !== 1 || hostIPs[0]?.ip !== hostIP) return status
  let node = known.get(hostIP)
  if (!node) known.set(hostIP, (node = { hostIP, hostIPs }))
  return {
    ...status,
    ...node,
    ...(podIP && podIPs?.length === 1 && podIPs[0]?.ip === podIP && { podIPs: [{ ip: podIP }] }),
  }
}

const ownAnnotations = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => name.startsWith(annotationPrefix)))

const transformSpec = (spec: PodSpec): PodSpec => ({
  nodeName: spec.nodeName,
  restartPolicy: spec.restartPolicy,
  hostNetwork: spec.hostNetwork,
  priority: spec.priority,
  priorityClassName: spec.priorityClassName,
  tolerations: spec.tolerations,
  containers: spec.containers.map(transformContainer),
  initContainers: spec.initContainers?.map(transformContainer),
  ephemeralContainers: spec.ephemeralContainers?.map(transformContainer),
  readinessGates: spec.readinessGates,
  activeDeadlineSeconds: spec.activeDeadlineSeconds,
  terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
  nodeSelector: spec.nodeSelector,
  overhead: spec.overhead,
  resources: spec.resources,
})

const transformContainer = ({
  name,
  image,
  imagePullPolicy,
  resources,
  restartPolicy,
  ports,
  readinessProbe,
  startupProbe,
}: Container): Container => ({
  name,
  image,
  imagePullPolicy,
  resources,
  restartPolicy,
  ports,
  readinessProbe: readinessProbe && { initialDelaySeconds: readinessProbe.initialDelaySeconds },
  startupProbe: startupProbe && { initialDelaySeconds: startupProbe.initialDelaySeconds },
})
