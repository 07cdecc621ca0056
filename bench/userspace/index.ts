/**
 * `npm run bench -- --userspace`: the forwarder of the proxy mode userspace beside a proxy of Node's `net`, in turns.
 * CPU time is that of the proxy's process alone. Needs no root. Asserts nothing.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { median } from '../report.ts'
import { connectionsPerSecond } from '../services/connections.ts'

const [rounds, seconds] = [7, 0.7]
const namespace = '/proc/thread-self/ns/net'
const transferBytes = 500e6
const kinds = ['forwarder', 'plain'] as const

interface Measured {
  readonly connectionsPerSecond: number
  readonly usPerConnection: number
  readonly megabytesPerSecond: number
  readonly msPerGigabyte: number
}

interface Running {
  readonly child: ChildProcess
  readonly port: number
}

export async function benchUserspace(): Promise<void> {
  const target = await start('target.ts', [])
  const proxies = new Map<string, Running>()
  try {
    for (const kind of kinds) proxies.set(kind, await start('proxy.ts', [kind, String(target.port)]))
    const found = new Map<string, Measured[]>(kinds.map((kind) => [kind, []]))
    for (let round = 0; round < rounds; round++)
      for (const [kind, proxy] of proxies) found.get(kind)?.push(await measure(proxy, target.child))
    for (const what of ['connectionsPerSecond', 'usPerConnection', 'megabytesPerSecond', 'msPerGigabyte'] as const)
      print(what, found)
  } finally {
    for (const { child } of [target, ...proxies.values()]) child.disconnect()
  }
}

const texts = {
  connectionsPerSecond: 'connections a second, one after another',
  usPerConnection: 'CPU time of the proxy for a connection, µs',
  megabytesPerSecond: 'MB a second in one connection',
  msPerGigabyte: 'CPU time of the proxy for 1 GB, ms',
}

function print(what: keyof Measured, found: ReadonlyMap<string, readonly Measured[]>): void {
  const [ours, plain] = kinds.map((kind) => median(found.get(kind)!.map((each) => each[what])))
  const isTime = what === 'usPerConnection' || what === 'msPerGigabyte'
  const ratio = isTime ? plain! / ours! : ours! / plain!
  console.log(`${texts[what]}: ${ours!.toFixed(0)}, of net and pipe ${plain!.toFixed(0)}: ${ratio.toFixed(2)}×`)
}

async function measure({ child, port }: Running, target: ChildProcess): Promise<Measured> {
  const before = await cpuOf(child)
  const rate = connectionsPerSecond(namespace, '127.0.0.1', port, seconds)
  const between = await cpuOf(child)
  target.send({ port, bytes: transferBytes })
  const [ms] = (await once(target, 'message')) as [number]
  const after = await cpuOf(child)
  return {
    connectionsPerSecond: rate,
    usPerConnection: (between - before) / (rate * seconds),
    megabytesPerSecond: transferBytes / 1e3 / ms,
    msPerGigabyte: (((after - between) / 1000) * 1e9) / transferBytes,
  }
}

/** CPU time of the process in µs. */
async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu')
  const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage]
  return user + system
}

async function start(script: string, args: readonly string[]): Promise<Running> {
  const child = fork(join(import.meta.dirname, script), args, { execArgv: process.execArgv })
  const [port] = (await once(child, 'message')) as [number]
  return { child, port }
}
