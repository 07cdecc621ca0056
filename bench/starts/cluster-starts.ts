/**
 * Starts of a whole cluster with `./t8s up`: the first on a new data directory, which creates keys, certificates and
 * the initial objects, and later ones. Since load on the machine distorts times, CPU time is printed too.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { print } from '../report.ts'
import { launcher, memoryOf } from '../server/server.ts'

interface Start {
  /** As printed by the cluster. */
  readonly readyMs: number
  readonly mainCpuMs: number
  readonly cpuMs: number
  readonly resident: number
}

interface Kind {
  readonly name: string
  readonly directory: string
  readonly nodeType: 'real' | 'simulated'
  readonly starts: Start[]
}

const targets = {
  simulated: { readyMs: 400, megabytes: 200 },
  /** Until the node is ready. */
  real: { readyMs: 600, megabytes: 220 },
} as const
/** Memory is measured when the work after the start is done. */
const settledMs = 3_000

/** Starts `n` clusters of each kind in turns, and prints a table. Data are written to `directory`. */
export async function benchClusterStarts(directory: string, n: number): Promise<void> {
  const [fresh, used] = [join(directory, 'fresh'), join(directory, 'used')]
  const kinds: Kind[] = [
    { name: 'a new directory', directory: fresh, nodeType: 'simulated', starts: [] },
    { name: 'a used directory', directory: used, nodeType: 'simulated', starts: [] },
  ]
  const isRoot = process.getuid?.() === 0
  if (isRoot)
    kinds.push({
      name: 'a used directory, real node',
      directory: join(directory, 'real'),
      nodeType: 'real',
      starts: [],
    })
  // The first starts fill the compile cache.
  for (const kind of kinds) await start(kind)
  for (let i = 0; i < n; i++) {
    rmSync(fresh, { recursive: true, force: true })
    for (const kind of kinds) kind.starts.push(await start(kind))
  }
  const cells = (starts: readonly Start[], value: (start: Start) => number): string[] => {
    const sorted = starts.map(value).sort((a, b) => a - b)
    return [sorted[Math.floor(n / 2)], sorted[0]].map((of) => (of ?? 0).toFixed(0))
  }
  print([
    [
      `t8s up, ${n} starts on`,
      'ready ms',
      'min',
      'target',
      'CPU ms',
      'min',
      'main thread',
      'min',
      'MB after 3 s',
      'min',
      'target',
    ],
    ...kinds.map(({ name, nodeType, starts }) => [
      name,
      ...cells(starts, ({ readyMs }) => readyMs),
      `≤ ${targets[nodeType].readyMs}`,
      ...cells(starts, ({ cpuMs }) => cpuMs),
      ...cells(starts, ({ mainCpuMs }) => mainCpuMs),
      ...cells(starts, ({ resident }) => resident),
      `≤ ${targets[nodeType].megabytes}`,
    ]),
  ])
}

async function start({ directory, nodeType }: Kind): Promise<Start> {
  const began = performance.now()
  const flags = ['--data-dir', directory, '--secure-port', '0', `--node-type=${nodeType}`]
  const child = spawn(launcher, ['up', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = /^ready in (\d+) ms/.exec(line)?.[1]
      if (nodeType === 'real' ? !line.startsWith('node: real') : !ready) continue
      const readyMs = nodeType === 'real' ? performance.now() - began : Number(ready)
      const cpu = cpuOf(child)
      await delay(settledMs)
      return { ...cpu, readyMs, resident: memoryOf({ process: child }).resident }
    }
    throw new Error(`t8s up ended with ${(await exited)[0]}`)
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

/** CPU time of the threads so far: of the first, which serves requests, and of all. Linux only. */
function cpuOf({ pid }: ChildProcess): { readonly mainCpuMs: number; readonly cpuMs: number } {
  const ofThread = (thread: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]) / 1e6
  const threads = readdirSync(`/proc/${pid}/task`).map(ofThread)
  return { mainCpuMs: ofThread(String(pid)), cpuMs: threads.reduce((sum, ms) => sum + ms, 0) }
}
