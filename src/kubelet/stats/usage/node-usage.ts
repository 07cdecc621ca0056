/** Usage of the whole node, from `/proc`. */
import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

export interface NodeUsage {
  readonly time: number
  /** Total CPU time of all processors, in ns. */
  readonly cpuUsage: number
  readonly memory: {
    readonly capacity: number
    readonly available: number
    readonly usage: number
    readonly workingSet: number
    readonly rss: number
    readonly pageFaults: number
    readonly majorPageFaults: number
  }
  readonly swap: { readonly capacity: number; readonly usage: number }
  readonly maxPid: number
  readonly processes: number
  /** In ms since 1970. */
  readonly bootTime: number
  readonly processors: number
}

/** The traffic of a network interface. */
export interface InterfaceUsage {
  readonly name: string
  readonly rxBytes: number
  readonly rxErrors: number
  readonly rxPackets: number
  readonly rxDropped: number
  readonly txBytes: number
  readonly txErrors: number
  readonly txPackets: number
  readonly txDropped: number
}

const tickNs = 10_000_000

export function readNodeUsage(proc: string, time: number): NodeUsage {
  const text = (name: string): string => textOf(join(proc, name))
  const stat = text('stat')
  const vmstat = text('vmstat')
  const number = (source: string, name: string): number =>
    Number(new RegExp(`^${name}:?\\s+(\\d+)`, 'm').exec(source)?.[1] ?? 0)
  const meminfo = text('meminfo')
  const kilobytes = (name: string): number => number(meminfo, name) * 1024
  const usage = kilobytes('MemTotal') - kilobytes('MemFree')
  const workingSet = Math.max(0, usage - kilobytes('Inactive\\(file\\)'))
  return {
    time,
    cpuUsage: busyTicks(stat) * tickNs,
    memory: {
      capacity: kilobytes('MemTotal'),
      available: Math.max(0, kilobytes('MemTotal') - workingSet),
      usage,
      workingSet,
      rss: kilobytes('AnonPages'),
      pageFaults: number(vmstat, 'pgfault'),
      majorPageFaults: number(vmstat, 'pgmajfault'),
    },
    swap: { capacity: kilobytes('SwapTotal'), usage: kilobytes('SwapTotal') - kilobytes('SwapFree') },
    maxPid: Number(text('sys/kernel/pid_max')) || 0,
    processes: Number(/^\S+ \S+ \S+ \d+\/(\d+)/.exec(text('loadavg'))?.[1] ?? 0),
    bootTime: number(stat, 'btime') * 1000,
    processors: [...stat.matchAll(/^cpu\d+ /gm)].length,
  }
}

/** The ticks of user, nice, system, irq, softirq and steal; guests are a part of user. */
function busyTicks(stat: string): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (/^cpu +(.*)$/m.exec(stat)?.[1] ?? '')
    .split(' ')
    .map(Number)
  return user + nice + system + irq + softirq + steal
}

/** The interfaces in the network namespace of a process, without loopback; `self` for the node's own. */
export function readInterfaces(proc: string, pid: number | 'self'): InterfaceUsage[] {
  return textOf(join(proc, String(pid), 'net/dev'))
    .split('\n')
    .flatMap((line) => interfaceOf(line) ?? [])
    .filter(({ name }) => name !== 'lo')
}

function interfaceOf(line: string): InterfaceUsage | undefined {
  const [, name, values] = /^\s*([^:|]+):\s*(.*)$/.exec(line) ?? []
  if (!name || values === undefined) return undefined
  const numbers = values.trim().split(/\s+/).map(Number)
  const at = (index: number): number => numbers[index] ?? 0
  return {
    name,
    rxBytes: at(0),
    rxPackets: at(1),
    rxErrors: at(2),
    rxDropped: at(3),
    txBytes: at(8),
    txPackets: at(9),
    txErrors: at(10),
    txDropped: at(11),
  }
}

/** True if a process has the network of the node. */
export function hasNodeNetwork(proc: string, pid: number): boolean {
  try {
    return readlinkSync(join(proc, String(pid), 'ns/net')) === readlinkSync(join(proc, 'self/ns/net'))
  } catch {
    return true
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
