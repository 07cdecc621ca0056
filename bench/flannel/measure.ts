/** The measurements of `--flannel`. Runs in namespaces of its own (`index.ts`). */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { FlannelLab } from '../../test/flannel/flannel-lab.ts'
import type { FlannelNode, LabPod } from '../../test/flannel/flannel-node.ts'
import { median } from '../report.ts'

const rounds = 9
const roundMs = 1000
const script = join(import.meta.dirname, 'stream.ts')

interface Result {
  readonly bytesPerSecond: number
  /** Of both processes for a gigabyte, in ms. */
  readonly cpuMs: number
}

/** Two nodes with a pod each. */
interface Pair {
  readonly nodes: readonly [FlannelNode, FlannelNode]
  readonly pods: readonly [LabPod, LabPod]
}

const ends: (() => unknown)[] = []
const lab = await FlannelLab.start({ after: (end) => ends.push(end) })
const range = (number: number): string => `10.244.${number}.0/24`
const nodes = await Promise.all(
  [1, 2, 3, 4].map((number) => lab.node(`n${number}`, 100 + number, 'bridge', [range(number)])),
)
const [a, b, c, d] = nodes as [FlannelNode, FlannelNode, FlannelNode, FlannelNode]
try {
  for (const backend of ['host-gw', 'vxlan'] as const) await compare(backend)
} finally {
  for (const end of ends) await end()
}

async function compare(backend: 'host-gw' | 'vxlan'): Promise<void> {
  const config = lab.configure(backend, { Network: '10.244.0.0/16', Backend: { Type: backend } })
  await Promise.all([a, b].map((node) => node.start(config, '--ip-masq')))
  byHand(backend, [c, d])
  const flannel = { nodes: [a, b] as const, pods: podsOf(backend, [a, b]) }
  const hand = { nodes: [c, d] as const, pods: podsOf(backend, [c, d]) }
  const [ours, theirs]: [Result[], Result[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    // The machine does other work, too: neither is always first.
    const order = round % 2 === 0 ? ([flannel, hand] as const) : ([hand, flannel] as const)
    for (const pair of order) (pair === flannel ? ours : theirs).push(await stream(pair))
  }
  report(backend, ours, theirs)
  for (const pair of [flannel, hand]) disconnect(backend, pair)
  await Promise.all([a, b].map((node) => node.stop()))
}

/** The entries of flannel, with plain commands. */
function byHand(backend: string, pair: readonly [FlannelNode, FlannelNode]): void {
  const macs = ['02:00:00:00:00:03', '02:00:00:00:00:04'] as const
  const mtu = backend === 'vxlan' ? 1450 : 1500
  for (const [i, node] of pair.entries()) {
    const [own, other] = [3 + i, 4 - i]
    const run = (command: string): string => node.run('sh', '-c', command)
    if (backend === 'vxlan') {
      const settings = `type vxlan id 1 local 192.168.33.${100 + own} dev eth0 dstport 8472 nolearning`
      run(`ip link add flannel.1 address ${macs[i]} mtu ${mtu} ${settings}`)
      run(`ip address add 10.244.${own}.0/32 dev flannel.1 && ip link set flannel.1 up`)
      run(`ip neigh add 10.244.${other}.0 lladdr ${macs[1 - i]} dev flannel.1 nud permanent`)
      run(`bridge fdb add ${macs[1 - i]} dev flannel.1 dst 192.168.33.${100 + other}`)
      run(`ip route replace ${range(other)} via 10.244.${other}.0 dev flannel.1 onlink`)
    } else run(`ip route replace ${range(other)} via 192.168.33.${100 + other}`)
    const lines = ['FLANNEL_NETWORK=10.244.0.0/16', `FLANNEL_SUBNET=10.244.${own}.1/24`, `FLANNEL_MTU=${mtu}`]
    writeFileSync(node.subnetFile, `${lines.join('\n')}\nFLANNEL_IPMASQ=false\n`)
  }
}

function podsOf(backend: string, [one, other]: Pair['nodes']): Pair['pods'] {
  return [one.pod(`${backend}-${one.name}`), other.pod(`${backend}-${other.name}`)]
}

function disconnect(backend: string, { nodes: pair }: Pair): void {
  for (const node of pair) {
    node.cni('DEL', `${backend}-${node.name}`)
    node.run('ip', 'link', 'delete', 'cni0')
  }
}

async function stream({ pods: [client, server] }: Pair): Promise<Result> {
  const start = (pod: LabPod, ...args: readonly string[]) =>
    spawn('nsenter', [`--net=${pod.namespace}`, process.execPath, ...process.execArgv, script, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const receiver = start(server, 'server')
  const lines = receiver.stdout[Symbol.asyncIterator]()
  await lines.next()
  const sender = start(client, 'client', server.addresses[0] ?? '', String(roundMs))
  const sent = JSON.parse(await text(sender.stdout)) as { readonly cpuMs: number }
  const { value } = await lines.next()
  const received = JSON.parse(String(value)) as { readonly bytes: number; readonly ms: number; readonly cpuMs: number }
  const gigabytes = received.bytes / 1e9
  return { bytesPerSecond: (received.bytes * 1000) / received.ms, cpuMs: (sent.cpuMs + received.cpuMs) / gigabytes }
}

function report(backend: string, ours: readonly Result[], theirs: readonly Result[]): void {
  const of = (results: readonly Result[], key: keyof Result): number => median(results.map((result) => result[key]))
  const ratios = (key: keyof Result): number => median(ours.map((result, i) => result[key] / theirs[i]![key]))
  const line = (name: string, results: readonly Result[]): string => {
    const gigabits = (of(results, 'bytesPerSecond') * 8) / 1e9
    return `${name}: ${gigabits.toFixed(2)} Gbit/s, ${of(results, 'cpuMs').toFixed(0)} ms CPU/GB`
  }
  console.log(line(`${backend} by flannel`, ours))
  console.log(line(`${backend} by hand`, theirs))
  const [bytes, cpu] = [ratios('bytesPerSecond').toFixed(2), ratios('cpuMs').toFixed(2)]
  console.log(`${backend}: ${bytes} of the bytes by hand, ${cpu} of the CPU (median of ${rounds} rounds)`)
}
