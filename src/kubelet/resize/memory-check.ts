/** Checks that a smaller limit of memory is above the memory in use: the kernel would kill processes otherwise. */
import type { CgroupValues } from '../../node/cgroups/tree/cgroup-values.ts'
import type { Pod } from '../pod-types.ts'
import type { PodResize } from './plan-resize.ts'
import type { ResizeParts } from './resize-pod.ts'

/** Rejects with upstream's message if a limit is at or below the usage. */
export async function checkMemory(
  { runtime, cgroups }: Pick<ResizeParts, 'runtime' | 'cgroups'>,
  pod: Pod,
  { memory }: PodResize,
  desired: CgroupValues,
  current: CgroupValues | undefined,
): Promise<void> {
  const limit = desired.memory
  const before = current?.memory
  const isPodSmaller = current !== undefined && limit !== undefined && isLess(limit, before)
  const smaller = memory.filter(
    (one) => one.desired.memoryLimit > 0n && isLess(one.desired.memoryLimit, one.current.memoryLimit),
  )
  if (!isPodSmaller && smaller.length === 0) return
  const usage = cgroups.memoryUsage(pod)
  const faults: string[] = []
  if (isPodSmaller && usage !== undefined && usage >= limit)
    faults.push(`attempting to set pod memory limit (${limit}) below current usage (${usage})`)
  const stats = smaller.length > 0 ? await runtime.containerStats() : []
  for (const { container, id, desired: wanted } of smaller) {
    const used = stats.find(({ attributes }) => attributes?.id === id)?.memory?.usageBytes?.value
    const name = JSON.stringify(container.name)
    const wantedLimit = wanted.memoryLimit
    if (used === undefined) faults.push(`missing container ${name} memory usage`)
    else if (used >= wantedLimit)
      // The usage in upstream's message is that of the pod.
      faults.push(
        `attempting to set container ${name} memory limit (${wantedLimit}) below current usage (${usage ?? used})`,
      )
  }
  if (faults.length === 0) return
  throw new Error(`cannot decrease memory limits: ${faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`}`)
}

/** 0 and -1 are no limit. */
const isLess = (limit: bigint, before: bigint | undefined): boolean =>
  before === undefined || before <= 0n || limit < before
