/**
 * Repeats the same load many times on one server: whether data directory and memory stay bounded, and the memory after
 * a restart.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Kind } from './load/objects.ts'
import { type Generator, measure } from './load/run-load.ts'
import { soakMegabytes } from './reference.ts'
import { directoryMegabytes, memoryOf, type Server, startServer, stopServer } from './server/server.ts'

export interface SoakOptions {
  readonly directory: string
  readonly tokenFile: string
  readonly loads: number
  readonly kinds: readonly Kind[]
  readonly phases: readonly string[]
  readonly generator: Generator
}

const reportEvery = 5
/** Pause after the restart in ms, until the work of the start is done. */
const restMs = 3000

const show = (megabytes: number): string => `${Math.round(megabytes)} MB`

export async function soak({ directory, tokenFile, loads, kinds, phases, generator }: SoakOptions): Promise<void> {
  let server = await startServer(directory, tokenFile)
  let largest = 0
  try {
    console.log(line('before', directory, server))
    const began = performance.now()
    let failures = 0
    for (let load = 1; load <= loads; load++) {
      for (const kind of kinds)
        for (const result of await measure(server, kind, phases, generator)) failures += result.failures
      largest = Math.max(largest, memoryOf(server).resident)
      if (load % reportEvery === 0 || load === loads)
        console.log(`${line(`${load} loads`, directory, server)}, ${seconds(began)} s, ${failures} failures`)
    }
    const file = directoryMegabytes(directory)
    await stopServer(server)
    server = await startServer(directory, tokenFile)
    await delay(restMs)
    console.log(line('restarted', directory, server))
    verdict('data directory', file, soakMegabytes.file)
    verdict('maximum resident memory after a load', largest, soakMegabytes.resident)
    verdict(`resident memory, ${restMs / 1000} s after a restart`, memoryOf(server).resident, soakMegabytes.restarted)
  } finally {
    await stopServer(server)
  }
}

const seconds = (since: number): number => Math.round((performance.now() - since) / 1000)

function line(when: string, directory: string, server: Server): string {
  const { resident, anonymous, file } = memoryOf(server)
  return (
    `${when}: data ${show(directoryMegabytes(directory))}, resident ${show(resident)} (anonymous ` +
    `${show(anonymous)}, file-backed ${show(file)})`
  )
}

const verdict = (name: string, value: number, target: number): void =>
  console.log(`${name}: ${show(value)}, target ≤ ${target} MB${value <= target ? '' : ': MISSED'}`)
