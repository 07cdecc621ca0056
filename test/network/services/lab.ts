/**
 * A node with pods, for modes of kube-proxy: the network namespace of this process is the node's, with a bridge for
 * pods; each pod and a client outside of the cluster have namespaces of their own. See `in-namespaces.ts`.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetwork, removeNetwork } from '../network-namespaces.ts'
import { AskedPeer } from './asked-peer.ts'

/** The port of pods; the second one is for Services with two ports. */
export const podPorts = [8080, 8081] as const
/** The node's addresses towards the client. */
export const nodeAddresses = { 4: '192.0.2.1', 6: '2001:db8::1' } as const
export const clientAddresses = { 4: '192.0.2.2', 6: '2001:db8::2' } as const
export const podRanges = { 4: '10.244.0.0/16', 6: 'fd00:244::/64' } as const
export const serviceRanges = { 4: '10.96.0.0/16', 6: 'fd00:96::/112' } as const

export const podAddress = (family: 4 | 6, number: number): string =>
  family === 4 ? `10.244.0.${number}` : `fd00:244::${number}`

export interface Lab {
  /** `pod-2` and so on, by the number in their addresses. */
  readonly pods: ReadonlyMap<number, AskedPeer>
  /** Files of the network namespaces of pods. */
  readonly namespaces: ReadonlyMap<number, string>
  readonly node: AskedPeer
  readonly client: AskedPeer
  readonly stop: () => Promise<void>
}

const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8' })

/** The pods of a lab: a client and two endpoints. */
export const podNumbers = { client: 2, first: 3, second: 4 } as const

/** Creates the pods. */
export async function createLab(): Promise<Lab> {
  const numbers = Object.values(podNumbers)
  const folder = mkdtempSync(join(tmpdir(), 't8s-services-'))
  const files: string[] = []
  const create = (name: string): string => {
    const file = join(folder, name)
    createNetwork(file)
    files.push(file)
    return file
  }
  execFileSync('sh', ['-c', nodeScript])
  const client = create('client')
  connectClient(client)
  const pods = numbers.map((number) => ({ number, file: create(`pod-${number}`) }))
  for (const pod of pods) connectPod(pod.number, pod.file)
  const starting = [
    AskedPeer.start('node', undefined, podPorts),
    AskedPeer.start('client', client, []),
    ...pods.map(({ number, file }) => AskedPeer.start(`pod-${number}`, file, podPorts)),
  ]
  const [nodePeer, clientPeer, ...podPeers] = await Promise.all(starting)
  return {
    node: nodePeer!,
    client: clientPeer!,
    pods: new Map(pods.map(({ number }, i) => [number, podPeers[i]!])),
    namespaces: new Map(pods.map(({ number, file }) => [number, file])),
    async stop() {
      for (const peer of [nodePeer!, clientPeer!, ...podPeers]) await peer.stop()
      for (const file of files) removeNetwork(file)
      rmSync(folder, { recursive: true })
    },
  }
}

/** `nodad`: IPv6 addresses work immediately. Tests are rejected more often than ICMP's limit for a client allows. */
const nodeScript = `
set -e
sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
sysctl -qw net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1
sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0
ip link set lo up
ip link add cni0 type bridge
ip link set cni0 up
ip addr add 10.244.0.1/24 dev cni0
ip addr add fd00:244::1/64 dev cni0 nodad
`

function connectClient(file: string): void {
  ip('link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', file)
  ip('link', 'set', 'eth0', 'up')
  ip('addr', 'add', `${nodeAddresses[4]}/24`, 'dev', 'eth0')
  ip('addr', 'add', `${nodeAddresses[6]}/64`, 'dev', 'eth0', 'nodad')
  ip('route', 'add', 'default', 'via', clientAddresses[4])
  ip('-6', 'route', 'add', 'default', 'via', clientAddresses[6])
  setUp(file, clientAddresses, nodeAddresses, ['24', '64'])
}

function connectPod(number: number, file: string): void {
  ip('link', 'add', `veth${number}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', file)
  ip('link', 'set', `veth${number}`, 'up', 'master', 'cni0')
  ip('link', 'set', `veth${number}`, 'type', 'bridge_slave', 'hairpin', 'on')
  const addresses = { 4: podAddress(4, number), 6: podAddress(6, number) }
  setUp(file, addresses, { 4: podAddress(4, 1), 6: podAddress(6, 1) }, ['24', '64'])
}

type Addresses = Readonly<Record<4 | 6, string>>

function setUp(file: string, own: Addresses, gateway: Addresses, [bits4, bits6]: readonly [string, string]): void {
  const script = `
set -e
ip link set lo up
ip link set eth0 up
ip addr add ${own[4]}/${bits4} dev eth0
ip addr add ${own[6]}/${bits6} dev eth0 nodad
ip route add default via ${gateway[4]}
ip -6 route add default via ${gateway[6]}
`
  execFileSync('nsenter', [`--net=${file}`, 'sh', '-c', script])
}
