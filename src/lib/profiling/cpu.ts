/** CPU profiles of this thread, by V8's own profiler. Nothing of it runs, or is loaded, while no profile is taken. */
import type { Profiler } from 'node:inspector'
import { encodeProfile, type StackEntry, type StackSample } from './profile.ts'
import { Exclusive, inSession, waited } from './session.ts'

/** A hundred samples a second, as Go's. */
const intervalMicros = 10_000

const taking = new Exclusive('cpu')

/**
 * Where this thread spends its time during `durationMs`, as gzipped profile.proto; what it waits for is not in it. Ends
 * early when `signal` is aborted. Rejects with a ProfilingInUseError while another one is taken.
 * @example await writeFile('cpu.pb.gz', await cpuProfile(30_000)) // go tool pprof -top cpu.pb.gz
 */
export const cpuProfile = (durationMs: number, signal?: AbortSignal): Promise<Buffer> =>
  taking.run(() =>
    inSession(async (session) => {
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: intervalMicros })
      const begunAt = Date.now()
      await session.post('Profiler.start')
      await waited(durationMs, signal)
      const { profile } = await session.post('Profiler.stop')
      return encodeProfile({
        measures: [
          { type: 'samples', unit: 'count' },
          { type: 'cpu', unit: 'nanoseconds' },
        ],
        samples: samplesOf(profile),
        period: intervalMicros * 1000,
        periodMeasure: { type: 'cpu', unit: 'nanoseconds' },
        begunAt,
        durationMs: (profile.endTime - profile.startTime) / 1000,
      })
    }),
  )

const left = new Set(['(root)', '(idle)'])

/** V8 gives a tree of calls, and which of its nodes was met at each sample. */
export function* samplesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Generator<StackSample> {
  const parents = new Map<number, Profiler.ProfileNode>()
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node)
  const micros = new Map<number, number>()
  for (const [i, id] of samples.entries()) micros.set(id, (micros.get(id) ?? 0) + Math.max(0, timeDeltas[i] ?? 0))
  for (const node of nodes) {
    const { id, callFrame, hitCount = 0, positionTicks = [] } = node
    if (hitCount === 0 || left.has(callFrame.functionName)) continue
    const callers: StackEntry[] = []
    for (let at = parents.get(id); at && !left.has(at.callFrame.functionName); at = parents.get(at.id))
      callers.push({ frame: at.callFrame })
    const nanosPerHit = ((micros.get(id) ?? 0) * 1000) / hitCount
    const sample = (ticks: number, line?: number): StackSample => ({
      stack: [{ frame: callFrame, ...(line !== undefined && { line }) }, ...callers],
      values: [ticks, Math.round(ticks * nanosPerHit)],
    })
    let counted = 0
    for (const { line, ticks } of positionTicks) {
      counted += ticks
      yield sample(ticks, line)
    }
    if (counted < hitCount) yield sample(hitCount - counted)
  }
}
