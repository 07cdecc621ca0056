/** Mapped ports of a cluster's real node. */
import { socketFolder } from '../../lib/rootless/socket-folder.ts'
import { PortMapper } from '../../network/ports/port-mapper.ts'
import type { PortMapping } from '../../network/ports/port-mapping.ts'
import { publishPort } from '../../runtime/rootless/ports/publish-port.ts'
import type { KeyPair } from '../pki/key-pair.ts'

export interface EmbeddedPortsOptions {
  readonly server: { readonly url: string; readonly ca: string }
  /** The certificate of its user. */
  readonly client: KeyPair
  readonly log: (line: string) => void
}

/** Starts in the background. */
export function startEmbeddedPorts({ server, client, log }: EmbeddedPortsOptions): PortMapper {
  const folder = socketFolder()
  const publish = folder === undefined ? undefined : (mapping: PortMapping) => publishPort(folder, outer(mapping))
  const mapper = new PortMapper({ server: { ...server, ...client }, publish, log })
  mapper.start()
  return mapper
}

/** Inside of user namespaces, sockets listen on the same address. */
const outer = ({ address: host, hostPort: port }: PortMapping) => ({ host, port, target: { host, port } })
