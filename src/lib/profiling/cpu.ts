/** CPU profiles of this thread, with V8's profiler, which is only loaded for a profile. */
import type { Profiler } from 'node:inspector'
import { encodeProfile, type StackEntry, type StackSample } from './profile.ts'
import { abortableDelay, Exclusive, inSession } from './session.ts'

/** 100 samples per second, as in Go. */
const intervalMicros = 10_000

const taking = new Exclusive('cpu')

/**
 * Takes a CPU profile of this thread for `durationMs`, as gzipped profile.proto, without idle time. Ends early when
 * `signal` is aborted. Rejects with a ProfilingInUseError while another one is taken.
 * @example await writeFile('cpu.pb.gz', await cpuProfile(30_000)) // go tool pprof -top cpu.pb.gz
 */
export const cpuProfile = (durationMs: number, signal?: AbortSignal): Promise<Buffer> =>
  taking.run(() =>
    inSession(async (session) => {
      await session.post('Profiler.enable')
      await session.post('Profiler.setSamplingInterval', { interval: intervalMicros })
      const begunAt = Date.now()
      await session.post('Profiler.start')
      await abortableDelay(durationMs, signal)
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

const idleNames = new Set(['(root)', '(idle)'])

/** Converts V8's tree of calls and the nodes of its samples to stacks. */
export function* samplesOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Generator<StackSample> {
  const parents = new Map<number, Profiler.ProfileNode>()
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node)
  const micros = new Map<number, number>()
  for (const [i, id] of samples.entries()) micros.set(id, (micros.get(id) ?? 0) + Math.max(0, timeDeltas[i] ?? 0))
  for (const node of nodes) {
    const { id, callFrame, hitCount = 0, positionTicks = [] } = node
    if (hitCount === 0 || idleNames.has(callFrame.functionName)) continue
    const callers: StackEntry[] = []
    for (let at = parents.get(id); at && !idleNames.has(at.callFrame.functionName); at = parents.get(at.id))
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
