/** The limits that the machine and the rights of this process set. */
import { existsSync, readFileSync } from 'node:fs'
import { isInUserNamespace } from '../../lib/linux/user-namespace.ts'
import type { AppArmor } from '../spec/apparmor/profile.ts'
import { availableCapabilities } from '../spec/capabilities.ts'

export interface HostLimits {
  readonly cgroupVersion: 1 | 2
  /** The lowest score that this process may give to others; undefined without a limit. */
  readonly minOomScoreAdj: number | undefined
  /** Undefined without AppArmor. */
  readonly appArmor: AppArmor | undefined
}

export const hostLimits = (appArmor?: AppArmor): HostLimits => ({
  appArmor,
  cgroupVersion: existsSync('/sys/fs/cgroup/cgroup.controllers') ? 2 : 1,
  minOomScoreAdj:
    availableCapabilities().includes('CAP_SYS_RESOURCE') && !isInUserNamespace()
      ? undefined
      : Number(readFileSync('/proc/self/oom_score_adj', 'utf8')),
})
