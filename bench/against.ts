/**
 * `npm run bench -- --against DIRECTORY`: compares this checkout with another one, which must be set up. Both servers
 * run at the same time, one is loaded at a time, and each phase runs on one and then on the other, so that noise of the
 * machine affects both.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Kind } from './load/objects.ts'
import { type Generator, measure } from './load/run-load.ts'
import { median, print } from './report.ts'
import { type Server, startServer, stopServer } from './server/server.ts'

export interface Comparison {
  readonly directory: string
  readonly tokenFile: string
  /** The root of the other checkout. */
  readonly other: string
  readonly rounds: number
  /** True to start new servers in each round. */
  readonly restartsEachRound: boolean
  /** Pause in ms between readiness and load. Work after the start takes up to 3 s; work at rest begins later. */
  readonly restMs: number
  readonly kinds: readonly Kind[]
  readonly phases: readonly string[]
  readonly generator: Generator
}

/** CPU time per request of both in one round, in ms. */
type Pair = readonly [ours: number, theirs: number]

/**
 * Loads both servers for some rounds and prints the CPU time per request and the ratio. Servers that are restarted each
 * round also include compilation, as in any short run.
 */
export async function benchAgainst(comparison: Comparison): Promise<void> {
  const { rounds, restartsEachRound } = comparison
  const pairs = new Map<string, Pair[]>()
  if (restartsEachRound)
    for (let round = 0; round < rounds; round++)
      await withServers(comparison, `${round}`, (servers) => loadBoth(comparison, servers, round, pairs))
  else {
    await withServers(comparison, '', async (servers) => {
      for (let round = 0; round < rounds; round++) await loadBoth(comparison, servers, round, pairs)
    })
  }
  const ms = (value: number): string => value.toFixed(3)
  print([
    [`CPU ms per request, medians of ${rounds}`, 'this', 'other', 'ratio', 'ratios from', 'to'],
    ...Array.from(pairs, ([name, measured]) => {
      const ratios = measured.map(([ours, theirs]) => ours / theirs).toSorted((a, b) => a - b)
      const sides = [0, 1].map((side) => ms(median(measured.map((pair) => pair[side]!))))
      return [name, ...sides, ...[median(ratios), ratios[0]!, ratios.at(-1)!].map((ratio) => ratio.toFixed(2))]
    }),
  ])
}

async function withServers(
  comparison: Comparison,
  name: string,
  use: (servers: readonly [Server, Server]) => Promise<void>,
): Promise<void> {
  const { directory, tokenFile, other, restMs } = comparison
  const ours = await startServer(newFolder(directory, `ours${name}`), tokenFile)
  try {
    const theirs = await startOther(other, newFolder(directory, `theirs${name}`), tokenFile)
    await delay(restMs)
    await use([ours, theirs]).finally(() => stopServer(theirs))
  } finally {
    await stopServer(ours)
  }
}

async function loadBoth(
  comparison: Comparison,
  servers: readonly [Server, Server],
  round: number,
  pairs: Map<string, Pair[]>,
): Promise<void> {
  const { kinds, phases, generator } = comparison
  for (const kind of kinds) {
    for (const phase of phases) {
      const name = `${kind} ${phase}`
      pairs.set(name, [...(pairs.get(name) ?? []), await measurePair(servers, round % 2 === 1, kind, phase, generator)])
    }
  }
}

/** The order alternates, since the second server finds warmer caches. */
async function measurePair(
  servers: readonly [Server, Server],
  isTurned: boolean,
  kind: Kind,
  phase: string,
  generator: Generator,
): Promise<Pair> {
  const spent: number[] = []
  for (const server of isTurned ? servers.toReversed() : servers) {
    const results = await measure(server, kind, [phase], generator)
    for (const { failures, firstFailure } of results)
      if (failures > 0) throw new Error(`${kind} ${phase}: ${failures} failed: ${firstFailure}`)
    spent.push(results.find((result) => result.cpuMs !== undefined)?.cpuMs ?? NaN)
  }
  const [first = NaN, second = NaN] = spent
  return isTurned ? [second, first] : [first, second]
}

/** Starts the other server with its own benchmark code, which knows its flags. */
async function startOther(other: string, directory: string, tokenFile: string): Promise<Server> {
  // Older versions have it in bench/.
  const module = ['bench/server/server.ts', 'bench/server.ts'].map((path) => join(other, path)).find(existsSync)
  if (!module)
    throw new Error(`--against ${other}: no checkout of this project; create one with git worktree add ${other} COMMIT`)
  execFileSync(join(other, 't8s'), ['version'], { stdio: 'ignore' })
  const { startServer: start } = (await import(module)) as typeof import('./server/server.ts')
  return start(directory, tokenFile)
}

function newFolder(directory: string, name: string): string {
  const path = join(directory, name)
  mkdirSync(path)
  return path
}
