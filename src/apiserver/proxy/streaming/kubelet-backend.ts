/**
 * Where a node's kubelet answers, and how it is spoken to: over TLS, with the certificate by which it knows this
 * server.
 */
import type { V1Node } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { internal } from '../../../machinery/status-error.ts'
import type { Backend } from '../../outgoing/forward/forward.ts'

export interface KubeletOptions {
  /** What is shown to kubelets (`--kubelet-client-certificate`, `--kubelet-client-key`). */
  readonly client?: { readonly cert: string; readonly key: string }
  /** PEM bundle that their certificates are checked by; unless said they are not, as upstream. */
  readonly ca?: string
  /**
   * The order in which types of a node's addresses are preferred (`--kubelet-preferred-address-types`); a function
   * where nodes differ.
   */
  readonly addressTypes?: readonly string[] | ((node: Model<V1Node>) => readonly string[])
}

const usualAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const usualPort = 10_250

/** Throws a StatusError for a node that has no address. */
export function kubeletBackend(
  node: Model<V1Node>,
  { client, ca, addressTypes = usualAddressTypes }: KubeletOptions = {},
): Backend {
  const { status } = node
  const addresses = status?.addresses ?? []
  const types = typeof addressTypes === 'function' ? addressTypes(node) : addressTypes
  const host = types.map((type) => addresses.find((one) => one.type === type)?.address).find(Boolean)
  if (!host)
    throw internal(
      'no preferred addresses found; known addresses: ' +
        `[${addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')}]`,
    )
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port || usualPort
  return { scheme: 'https', host, port, tls: { ...client, ...(ca ? { ca } : { rejectUnauthorized: false }) } }
}
