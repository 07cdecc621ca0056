/** Pods that connect to servers of other pods, in the network of pods or of the node. */
import type { Pod } from '../../../../src/client/kinds.ts'
import { clientContainer } from './probe-image.ts'
import { execIn, inServedNamespace, type ServedCluster } from './served-cluster.ts'

export interface Client {
  readonly pod: Pod
  /** Resolves when the last answers come from exactly these servers; without servers, when none answers. */
  exactly(address: Address, ...servers: readonly string[]): Promise<void>
  /** Resolves when 15 answers in a row come from one server, as upstream checks affinity. */
  same(address: Address): Promise<void>
  /** Resolves when answers come from several servers. */
  differ(address: Address): Promise<void>
  /** Runs a command in the pod. */
  run(...command: readonly string[]): Promise<string>
}

/** A server's address: `['10.96.0.7', 80]`. */
export type Address = readonly [host: string, port: number, protocol?: 'http' | 'udp', source?: string]

export interface Clients {
  readonly pod: Client
  readonly node: Client
}

/** Starts the two pods, which tests share. */
export async function startClients(served: Promise<ServedCluster>): Promise<Clients> {
  const space = await inServedNamespace(served, 'clients')
  const client = async (name: string, hostNetwork: boolean): Promise<Client> =>
    clientOf(space.served, await space.pod(name, { hostNetwork, containers: [clientContainer] }))
  const [pod, node] = await Promise.all([client('of-pods', false), client('of-the-node', true)])
  return { pod, node }
}

function clientOf(served: ServedCluster, pod: Pod): Client {
  const run = (...command: readonly string[]): Promise<string> => execIn(served, pod, ...command)
  const connect = async ([host, port, protocol = 'http', source = '']: Address, ...args: readonly string[]) => {
    await run('env', `SOURCE=${source}`, 'perl', '/netclient.pl', protocol, host, String(port), ...args)
  }
  return {
    pod,
    run,
    exactly: (address, ...servers) => connect(address, 'exactly', ...servers),
    same: (address) => connect(address, 'same', '15'),
    differ: (address) => connect(address, 'differ'),
  }
}
