/** The interface by which sandboxes get their network. */
import type { NetworkResult } from './network-result.ts'

/** The object of a pod. */
export interface PodIdentity {
  readonly name: string
  readonly namespace: string
  readonly uid: string
}

/** A pod with a network namespace of its own. */
export interface ConnectedPod extends PodIdentity {
  /** The ID of its sandbox. */
  readonly id: string
  /** The file of its network namespace. */
  readonly namespaceFile: string
  readonly portMappings: readonly PodPortMapping[]
  readonly annotations: Readonly<Record<string, string>>
}

export interface PodPortMapping {
  readonly hostPort: number
  readonly containerPort: number
  readonly protocol: 'tcp' | 'udp' | 'sctp'
  /** '': all addresses of the host. */
  readonly hostIP: string
}

export interface PodConnector {
  /** The reason why pods cannot be connected; undefined if they can. */
  readonly problem: string | undefined
  /** Connects a pod. Rejects, with everything undone, if that fails. */
  connect(pod: ConnectedPod): Promise<NetworkResult>
  /** Disconnects a pod. Does nothing for one that is not connected, or whose namespace has ended. */
  disconnect(pod: ConnectedPod, result: NetworkResult | undefined): Promise<void>
}
