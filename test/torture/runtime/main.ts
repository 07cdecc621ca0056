/** Tortures a runtime in the namespaces of this process: `main.ts FOLDER KILLS PODS SEED`. Prints faults. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CriRuntime } from '../../../src/kubelet/cri/runtime.ts'
import { reapOrphans } from '../../../src/runtime/host/orphans.ts'
import { prepareNodeNamespaces } from '../../support/node-namespaces.ts'
import { waitFor } from '../../support/wait-for.ts'
import { type PodPlan, torturePod } from './pod.ts'
import { RuntimeUnderTorture } from './runtime-process.ts'

const [folder = '', kills = '50', pods = '20', seed = '1'] = process.argv.slice(2)
const maxExitCode = 120
/** A terminated process releases its pods in order; a killed one does not. */
const signals: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGKILL', 'SIGKILL', 'SIGTERM']

/** Numbers in [0, 1) that follow from a seed (mulberry32). */
function randomOf(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}

async function main(): Promise<void> {
  prepareNodeNamespaces()
  const stopReaping = reapOrphans()
  const random = randomOf(Number(seed))
  const runtime = new RuntimeUnderTorture(folder)
  await runtime.importImages()
  await runtime.start()
  const before = traces(runtime)
  const client = new CriRuntime(runtime.endpoint)
  const faults: string[] = []
  const ends = { isOver: false, pods: 0 }
  const plan = (name: string): PodPlan => ({
    name,
    lines: 100 + Math.floor(random() * 2_000),
    exitCode: Math.floor(random() * maxExitCode),
    logs: join(folder, 'logs'),
  })
  mkdirSync(join(folder, 'logs'))
  const place = async (index: number): Promise<void> => {
    for (let round = 0; !ends.isOver; round++, ends.pods++)
      faults.push(...(await torturePod(client, plan(`pod-${index}-${round}`))))
  }
  const places = Promise.all(Array.from({ length: Number(pods) }, (_, index) => place(index)))
  for (let kill = 0; kill < Number(kills); kill++) {
    await delay(500 + random() * 2_500)
    await runtime.restart(signals[Math.floor(random() * signals.length)]!)
  }
  ends.isOver = true
  await places
  faults.push(...(await leftovers(runtime, before)))
  client.close()
  await runtime.end('SIGTERM')
  stopReaping()
  for (const fault of faults) console.log(fault)
  console.log(`${kills} kills under ${ends.pods} pods: ${faults.length} faults (seed ${seed})`)
  process.exitCode = faults.length > 0 ? 1 : 0
}

/** The traces of pods on the machine: mounts, interfaces, processes, cgroups and files. */
function traces(runtime: RuntimeUnderTorture): Readonly<Record<string, readonly string[]>> {
  const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n')
  const processes = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && Number(pid) !== runtime.pid)
  return {
    mounts: lines('/proc/self/mounts').filter((line) => line.includes(folder)),
    interfaces: readdirSync('/sys/class/net'),
    processes: processes.map((pid) => `${pid} ${commandOf(pid)}`).filter((line) => line.includes(folder)),
    cgroups: execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-path', '*typernetes/*'], { encoding: 'utf8' })
      .split('\n')
      .filter((path) => path !== '' && !path.includes('/unified/')),
    files: ['containers', 'sandboxes'].flatMap((name) => readdirSync(join(folder, 'state', name))),
  }
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** The traces that were not there before the first pod; waits until they are gone. */
async function leftovers(runtime: RuntimeUnderTorture, before: ReturnType<typeof traces>): Promise<string[]> {
  const found = (): string[] =>
    Object.entries(traces(runtime)).flatMap(([kind, now]) =>
      now.filter((one) => !before[kind]?.includes(one)).map((one) => `left behind, of ${kind}: ${one.slice(0, 200)}`),
    )
  let last: string[] = []
  await waitFor('nothing is left', () => (last = found()).length === 0, { deadlineMs: 20_000 }).catch(() => {})
  return last
}

await main()
