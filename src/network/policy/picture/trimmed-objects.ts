/** Transforms of informers: objects with the fields that network policies need, and no others. */
import type { Namespace, NetworkPolicy, Node, Pod } from '../../../client/kinds.ts'

type Container = NonNullable<Pod['spec']>['containers'][number]

/** Returns a policy without the fields that clients manage. */
export function trimmedPolicy({ apiVersion, kind, metadata, spec }: NetworkPolicy): NetworkPolicy {
  const { namespace, name, resourceVersion } = metadata
  return { apiVersion, kind, metadata: { namespace, name, resourceVersion }, spec }
}

/** Returns a pod with its labels, ports, node and addresses. */
export function trimmedPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { namespace, name, uid, resourceVersion, labels } = metadata
  const init = spec?.initContainers?.filter(hasNamedPort).map(trimmedContainer)
  return {
    apiVersion,
    kind,
    metadata: { namespace, name, uid, resourceVersion, labels },
    spec: {
      ...(spec?.nodeName !== undefined && { nodeName: spec.nodeName }),
      ...(spec?.hostNetwork && { hostNetwork: true }),
      ...(init?.length && { initContainers: init }),
      containers: (spec?.containers ?? []).filter(hasNamedPort).map(trimmedContainer),
    },
    status: { phase: status?.phase, podIP: status?.podIP, podIPs: status?.podIPs },
  }
}

/** Returns a Namespace with its labels. */
export function trimmedNamespace({ apiVersion, kind, metadata }: Namespace): Namespace {
  const { name, resourceVersion, labels } = metadata
  return { apiVersion, kind, metadata: { name, resourceVersion, labels } }
}

/** Returns a node with its labels and addresses. */
export function trimmedNode({ apiVersion, kind, metadata, status }: Node): Node {
  const { name, resourceVersion, labels } = metadata
  return { apiVersion, kind, metadata: { name, resourceVersion, labels }, status: { addresses: status?.addresses } }
}

const hasNamedPort = ({ ports }: Container): boolean => ports?.some(({ name }) => name) ?? false

const trimmedContainer = ({ name, ports }: Container): Container => ({ name, ports })
