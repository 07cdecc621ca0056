/** Checks the machine before a kubelet starts, and sets the OOM score of its process. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { KubeletConfiguration } from '../../kubelet/configuration/index.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'

type HostFields = Pick<KubeletConfiguration, 'failSwapOn' | 'failCgroupV1'>

/** Throws an ExplainedError with upstream's words if the machine does not fit. `root` is the machine's `/`. */
export function prepareMachine(
  configuration: HostFields & Pick<KubeletConfiguration, 'oomScoreAdj'>,
  log: (line: string) => void,
  root = '/',
): void {
  checkHost(configuration, root)
  const { oomScoreAdj } = configuration
  try {
    writeFileSync(`${root}proc/self/oom_score_adj`, String(oomScoreAdj))
  } catch (error) {
    log(`cannot set the OOM score of the kubelet to ${oomScoreAdj}: ${reasonOf(error)}`)
  }
}

/** As `prepareMachine`, but changes nothing. */
export function checkHost({ failSwapOn, failCgroupV1 }: HostFields, root = '/'): void {
  if (failSwapOn && hasSwap(root))
    throw new ExplainedError(
      'running with swap on is not supported, please disable swap or set --fail-swap-on flag to false',
    )
  if (failCgroupV1 && !existsSync(`${root}sys/fs/cgroup/cgroup.controllers`))
    throw new ExplainedError(
      'kubelet is configured to not run on a host using cgroup v1: boot the machine with cgroup v2, or set ' +
        'failCgroupV1 to false',
    )
}

/** `/proc/swaps` has a line of titles, and one for each place of swap. */
function hasSwap(root: string): boolean {
  try {
    return readFileSync(`${root}proc/swaps`, 'utf8').trim().split('\n').length > 1
  } catch {
    return false
  }
}
