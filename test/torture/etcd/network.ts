/**
 * A bridge with a network namespace for each member of an etcd cluster, so that a member can be cut off. Must run in
 * network and mount namespaces of the torture.
 */
import { execFileSync } from 'node:child_process'

export interface Place {
  /** The name of its network namespace. */
  readonly namespace: string
  readonly address: string
  /** Takes away the link to the others and to the API servers. */
  cut(): void
  heal(): void
}

const ip = (...words: readonly string[]): unknown => execFileSync('ip', words)

/** Makes the bridge, with the address of the API servers, and `count` places. */
export function makePlaces(count: number): Place[] {
  ip('link', 'add', 'etcd0', 'type', 'bridge')
  ip('addr', 'add', '10.77.0.1/24', 'dev', 'etcd0')
  ip('link', 'set', 'etcd0', 'up')
  return Array.from({ length: count }, (_, i) => makePlace(`member${i}`, `10.77.0.${11 + i}`))
}

function makePlace(namespace: string, address: string): Place {
  ip('netns', 'add', namespace)
  ip('link', 'add', namespace, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace)
  ip('link', 'set', namespace, 'master', 'etcd0', 'up')
  ip('-n', namespace, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
  ip('-n', namespace, 'link', 'set', 'eth0', 'up')
  ip('-n', namespace, 'link', 'set', 'lo', 'up')
  return {
    namespace,
    address,
    cut: () => void ip('link', 'set', namespace, 'down'),
    heal: () => void ip('link', 'set', namespace, 'up'),
  }
}
