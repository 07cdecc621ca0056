/**
 * The backend udp beside a TUN device and a UDP socket of Node, in turns: two namespaces with a link, and TCP and ping
 * between the devices. Runs in namespaces of its own.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNetwork } from '../../test/network/network-namespaces.ts'
import { median } from '../report.ts'

const [rounds, seconds, pings] = [5, 2, 3000]
const kinds = ['ours', 'plain'] as const

interface Measured {
  readonly gigabits: number
  readonly roundTrips: number
}

const folder = mkdtempSync(join(tmpdir(), 't8s-bench-'))
const nodes = [1, 2].map((number) => {
  const namespace = join(folder, `node-${number}`)
  createNetwork(namespace)
  return { namespace, address: `192.168.33.${number}`, subnet: `10.244.${number}.0/24`, pod: `10.244.${number}.0` }
})
const [first, second] = nodes as [(typeof nodes)[number], (typeof nodes)[number]]

const inNode = ({ namespace }: typeof first, program: string, ...args: readonly string[]): string =>
  execFileSync('nsenter', [`--net=${namespace}`, program, ...args], { encoding: 'utf8' })

execFileSync('ip', [
  'link',
  'add',
  'eth0',
  'netns',
  first.namespace,
  'type',
  'veth',
  'peer',
  'name',
  'eth0',
  'netns',
  second.namespace,
])
for (const node of nodes) {
  inNode(node, 'ip', 'link', 'set', 'lo', 'up')
  inNode(node, 'ip', 'address', 'add', `${node.address}/24`, 'dev', 'eth0')
  inNode(node, 'ip', 'link', 'set', 'eth0', 'up')
}
const server = spawn('nsenter', [`--net=${second.namespace}`, 'iperf3', '-s'], { stdio: 'ignore' })

const found = new Map<string, Measured[]>(kinds.map((kind) => [kind, []]))
for (let round = 0; round < rounds; round++) for (const kind of kinds) found.get(kind)!.push(await measure(kind))
server.kill()
for (const [what, unit] of [
  ['gigabits', 'Gbit/s in one connection'],
  ['roundTrips', 'round trips a second'],
] as const) {
  const [ours, plain] = kinds.map((kind) => median(found.get(kind)!.map((each) => each[what])))
  console.log(
    `udp, ${unit}: ${ours!.toFixed(2)}, of fs.read and dgram ${plain!.toFixed(2)}: ${(ours! / plain!).toFixed(1)}×`,
  )
}

async function measure(kind: string): Promise<Measured> {
  const children = await Promise.all([start(kind, first, second), start(kind, second, first)])
  try {
    const json = inNode(first, 'iperf3', '-J', '-c', second.pod, '-t', String(seconds))
    const { end } = JSON.parse(json) as { end: { sum_received: { bits_per_second: number } } }
    const text = inNode(first, 'ping', '-f', '-q', '-c', String(pings), second.pod)
    const [, ms = ''] = /time (\d+)ms/.exec(text) ?? []
    return { gigabits: end.sum_received.bits_per_second / 1e9, roundTrips: (pings / Number(ms)) * 1000 }
  } finally {
    for (const child of children) {
      child.disconnect()
      await once(child, 'exit')
    }
    for (const node of nodes) inNode(node, 'sh', '-c', 'ip link delete flannel0 2>/dev/null || true')
  }
}

async function start(kind: string, own: typeof first, peer: typeof first): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'udp-node.ts')
  const args = [script, kind, own.address, peer.address, own.subnet, peer.subnet]
  const child = spawn('nsenter', [`--net=${own.namespace}`, process.execPath, ...process.execArgv, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  await once(child, 'message')
  return child
}
