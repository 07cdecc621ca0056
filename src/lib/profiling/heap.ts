/** Allocation profiles of this thread, with V8's sampling heap profiler, which is only loaded for a profile. */
import type { HeapProfiler } from 'node:inspector'
import { encodeProfile, type StackEntry, type StackSample } from './profile.ts'
import { abortableDelay, Exclusive, inSession } from './session.ts'

/** Average bytes per sample. */
const intervalBytes = 32 * 1024

const taking = new Exclusive('heap')

export interface HeapProfileOptions {
  /** `live`: only objects that are alive at the end; `all`: also objects that were collected. */
  readonly of: 'live' | 'all'
  readonly durationMs: number
  /** Collects garbage before the end. */
  readonly collect?: boolean
  /** Ends the profile early. */
  readonly signal?: AbortSignal
}

/**
 * Takes an allocation profile of this thread for `durationMs`, as gzipped profile.proto. Rejects with a
 * ProfilingInUseError while another one is taken.
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
      await abortableDelay(durationMs, signal)
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

/** Converts V8's tree of calls, with the bytes that each call allocated, to stacks. */
export function* samplesOf(
  { callFrame, selfSize, children }: HeapProfiler.SamplingHeapProfileNode,
  callers: readonly StackEntry[],
): Generator<StackSample> {
  const stack = callFrame.functionName === '(root)' ? callers : [{ frame: callFrame }, ...callers]
  if (selfSize > 0) yield { stack: stack.length > 0 ? stack : [{ frame: callFrame }], values: [selfSize] }
  for (const child of children) yield* samplesOf(child, stack)
}
