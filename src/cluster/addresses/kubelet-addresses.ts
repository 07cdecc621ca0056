/** The address types at which the API server reaches kubelets. */
import type { V1Node } from '@kubernetes/client-node'
import type { Model } from '../../machinery/object.ts'
import { nodeLabel } from '../../simulation/names.ts'

/** kubeadm's order: a node's host name often resolves only on the node itself. */
const addressFirst = ['InternalIP', 'ExternalIP', 'Hostname']
/** The internal address of a simulated node is not reachable; its kubelet listens at the host name. */
const hostNameFirst = ['Hostname', 'InternalIP', 'ExternalIP']

/** Returns the address types of a node, the preferred one first. */
export const kubeletAddressTypes = ({ metadata }: Model<V1Node>): readonly string[] =>
  metadata.labels?.[nodeLabel] === undefined ? addressFirst : hostNameFirst
