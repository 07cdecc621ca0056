/**
 * Profiles of what this thread allocates, by V8's sampling heap profiler. Nothing of it runs, or is loaded, while no
 * profile is taken.
 */
import type { HeapProfiler } from 'node:inspector'
import { encodeProfile, type StackEntry, type StackSample } from './profile.ts'
import { Exclusive, inSession, waited } from './session.ts'

/** One sample for so many bytes, on average. */
const intervalBytes = 32 * 1024

const taking = new Exclusive('heap')

export interface HeapProfileOptions {
  /** `live`: what is still there at the end; `all`: what has been collected meanwhile, too. */
  readonly of: 'live' | 'all'
  readonly durationMs: number
  /** Collects garbage before the end. */
  readonly collect?: boolean
  /** Ends the profile early. */
  readonly signal?: AbortSignal
}

/**
 * Where this thread allocates during `durationMs`, as gzipped profile.proto. Rejects with a ProfilingInUseError while
 * another one is taken.
 * @example await writeFile('heap.pb.gz', await heapProfile({ of: 'live', durationMs: 10_000 }))
 */
export const heapProfile = ({ of, durationMs, collect = false, signal }: HeapProfileOptions): Promise<Buffer> =>
  taking.run(() =>
    inSession(async (session) => {
      await session.post('HeapProfiler.enable')
      const begunAt = Date.now()
      const everything = of === 'all'
      await session.post('HeapProfiler.startSampling', {
        samplingInterval: intervalBytes,
        includeObjectsCollectedByMajorGC: everything,
        includeObjectsCollectedByMinorGC: everything,
      })
      await waited(durationMs, signal)
      if (collect) await session.post('HeapProfiler.collectGarbage')
      const { profile } = await session.post('HeapProfiler.stopSampling')
      return encodeProfile({
        measures: [{ type: everything ? 'alloc_space' : 'inuse_space', unit: 'bytes' }],
        samples: samplesOf(profile.head, []),
        period: intervalBytes,
        periodMeasure: { type: 'space', unit: 'bytes' },
        begunAt,
        durationMs: Date.now() - begunAt,
      })
    }),
  )

/** V8 gives a tree of calls, with the bytes that each allocated itself. */
export function* samplesOf(
  { callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode,
  callers: readonly StackEntry[],
): Generator<StackSample> {
  const stack = callFrame.functionName === '(root)' ? callers : [{ frame: callFrame }, ...callers]
  if (selfSize > 0) yield { stack: stack.length > 0 ? stack : [{ frame: callFrame }], values: [selfSize] }
  for (const child of children) yield* samplesOf(child, stack)
}
