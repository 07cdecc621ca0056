/** The address of a node's kubelet and the TLS options for it, with the certificate that identifies this server. */
import type { V1Node } from '@kubernetes/client-node'
import type { Model } from '../../../machinery/object.ts'
import { internal } from '../../../machinery/status-error.ts'
import type { Backend } from '../../outgoing/forward/forward.ts'

export interface KubeletOptions {
  /** The client certificate (`--kubelet-client-certificate`, `--kubelet-client-key`). */
  readonly client?: { readonly cert: string; readonly key: string }
  /** PEM bundle that verifies their certificates. Default: no verification, as upstream. */
  readonly ca?: string
  /**
   * The order in which types of a node's addresses are preferred (`--kubelet-preferred-address-types`); a function if
   * nodes differ.
   */
  readonly addressTypes?: readonly string[] | ((node: Model<V1Node>) => readonly string[])
}

const defaultAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP']
const defaultPort = 10_250

/** Throws a StatusError for a node without an address. */
export function kubeletBackend(
  node: Model<V1Node>,
  { client, ca, addressTypes = defaultAddressTypes }: KubeletOptions = {},
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
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port || defaultPort
  return { scheme: 'https', host, port, tls: { ...client, ...(ca ? { ca } : { rejectUnauthorized: false }) } }
}
