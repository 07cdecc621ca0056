/**
 * What is kept of a pod in memory: a hundred thousand of them have to fit. What those of one workload have in common,
 * the informer keeps once.
 */
import type { Pod } from '../../client/kinds.ts'
import { annotationPrefix } from '../names.ts'
import type { Container, PodSpec, PodStatus } from './lifecycle/pod-parts.ts'

/** Makes pods smaller. `keepAll` is for those whose stages may look at any field. */
export function podKeeper(keepAll: boolean): (pod: Pod) => Pod {
  const addressesOfNodes = new Map<string, NodeAddresses>()
  return ({ apiVersion, kind, metadata: { managedFields: _, ...metadata }, spec, status }) => {
    if (keepAll) return { apiVersion, kind, metadata, spec, status }
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
      spec: spec && keptSpec(spec),
      status: status && keptStatus(status, addressesOfNodes),
    }
  }
}

/** What pods tell of their node, by its address. */
type NodeAddresses = Pick<PodStatus, 'hostIP' | 'hostIPs'>

/** All of it, with addresses kept once: those of a node for all its pods, and a pod's only one. */
function keptStatus(status: PodStatus, known: Map<string, NodeAddresses>): PodStatus {
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

const keptContainer = ({
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
