/** The measurements of `--services`. Runs in namespaces of its own (`index.ts`). */
import { execFileSync } from 'node:child_process'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { ModeOptions } from '../../src/network/proxy/modes/mode-options.ts'
import { createNftablesMode } from '../../src/network/proxy/modes/nftables/nftables-mode.ts'
import type { ProxyMode } from '../../src/network/proxy/modes/proxy-mode.ts'
import {
  createLab,
  nodeAddresses,
  podAddress,
  podNumbers,
  podPorts,
  podRanges,
} from '../../test/network/services/lab.ts'
import { median } from '../report.ts'
import { connectionsPerSecond } from './connections.ts'
import { measureIptables } from './iptables.ts'
import { clusterIPOf, ManyServices } from './many-services.ts'

const [services, endpoints, changes, rounds, seconds] = [10_000, 2, 20, 15, 0.2]
/** With 10,000, iptables-nft-restore of iptables 1.8.9 needs minutes for all rules. */
const iptablesServices = 5000
/** The bound for memory is stated for these. */
const stored = { services: 5000, endpoints: 5 } as const

const options: ModeOptions = {
  family: 4,
  node: 'node-1',
  nodePortAddresses: () => ({ isAll: false, addresses: [nodeAddresses[4]] }),
  nodeAddress: nodeAddresses[4],
  localTraffic: { kind: 'cidrs', cidrs: [podRanges[4]] },
  masqueradeAll: false,
  masqueradeBit: 14,
  localhostNodePorts: false,
  servedInterfaces: undefined,
  instance: undefined,
  runProgram: () => Promise.reject(new Error('no program is needed')),
  log: (line) => console.log(line),
  now: Date.now,
}

/** A mode, and how long the program of its rules takes for the text of all of them. */
interface MeasuredMode {
  readonly name: string
  readonly create: () => ProxyMode
  readonly feedMs: () => number
}

const modes: readonly MeasuredMode[] = [
  { name: 'nftables', create: () => createNftablesMode(options), feedMs: () => feed('nft', 'ip', 'kube-proxy') },
]

/** Replaces the table by its own text. */
function feed(nft: string, family: string, table: string): number {
  const text = execFileSync(nft, ['-s', 'list', 'table', family, table], { encoding: 'utf8', maxBuffer: 2 ** 30 })
  execFileSync(nft, ['delete', 'table', family, table])
  const started = performance.now()
  execFileSync(nft, ['-f', '-'], { input: text })
  return performance.now() - started
}

async function timed(run: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

const line = (mode: string, what: string, value: string): void => console.log(`${mode.padEnd(10)} ${what}: ${value}`)
const ms = (value: number): string => `${value.toFixed(1)} ms`

async function measureLoads({ name, create, feedMs }: MeasuredMode): Promise<void> {
  const many = new ManyServices(services, endpoints)
  const mode = create()
  const full = await timed(() => mode.sync(many.picture, 'all'))
  const fed = feedMs()
  line(name, `first sync of ${services} Services`, `${ms(full)}, ${(full / fed).toFixed(2)} of feeding the same text`)
  await mode.sync(many.picture, 'all')
  const times: number[] = []
  for (let i = 0; i < changes; i++) {
    many.setEndpoints(i, ['10.99.0.1', '10.99.0.2'])
    const changed = many.update()
    times.push(await timed(() => mode.sync(many.picture, changed)))
  }
  const values = `${ms(median(times))}, at most ${ms(Math.max(...times))} (bound: 150 ms)`
  line(name, `one Service of ${services} changes`, values)
  await measureConnections(name, mode, many)
  await mode.cleanUp()
}

/** Direct connections, and those to the last Service, in turns: other processes use the same cores. */
async function measureConnections(name: string, mode: ProxyMode, many: ManyServices): Promise<void> {
  const lab = await createLab()
  const [pod, last] = [podAddress(4, podNumbers.first), services - 1]
  many.setEndpoints(last, [pod])
  await mode.sync(many.picture, many.update())
  const from = lab.namespaces.get(podNumbers.client)!
  const rates: { readonly direct: number; readonly served: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const direct = connectionsPerSecond(from, pod, podPorts[0], seconds)
    const served = connectionsPerSecond(from, clusterIPOf(last), 80, seconds)
    rates.push({ direct, served })
  }
  const direct = median(rates.map((rate) => rate.direct))
  const served = median(rates.map((rate) => rate.served))
  const ratio = median(rates.map((rate) => rate.served / rate.direct))
  const values = `${direct.toFixed(0)} direct, ${served.toFixed(0)} to the Service`
  line(name, 'connections a second from a pod', `${values}, ratio ${ratio.toFixed(2)} (bound: 0.75)`)
  await lab.stop()
}

async function measureMemory({ name, create }: MeasuredMode): Promise<void> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = (): number => {
    collect()
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return (heapUsed + external) / 1e6
  }
  // The code that a mode loads is not for Services.
  const mode = create()
  const before = used()
  const many = new ManyServices(stored.services, stored.endpoints)
  await mode.sync(many.picture, 'all')
  const what = `memory of ${stored.services} Services with ${stored.endpoints} endpoints`
  line(name, what, `${(used() - before).toFixed(0)} MB (bound: 60 MB)`)
  await mode.cleanUp()
}

for (const mode of modes) {
  await measureMemory(mode)
  await measureLoads(mode)
}
await measureIptables(iptablesServices)
