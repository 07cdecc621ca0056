/** Chooses the executor of a runtime. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isInUserNamespace } from '../../lib/linux/user-namespace.ts'
import type { Log } from '../../lib/log/log.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { Executor } from './executor.ts'
import { OciExecutor } from './oci/oci-executor.ts'
import { ShellExecutor } from './shell/shell-executor.ts'

export interface ExecutorChoice {
  /** `auto`, `shell`, or the name or path of crun or runc. */
  readonly name: string
  /** The folder of records, on a file system without `noexec`. */
  readonly root: string
  /** The folder of what a reboot removes. */
  readonly state: string
  readonly log: Log
}

/** `auto` is crun or runc if one of them is installed, else the shell. Rejects if the executor cannot be used. */
export async function findExecutor({ name, root, state, log }: ExecutorChoice): Promise<Executor> {
  const shellFolder = join(root, 'shell')
  if (name === 'shell') return new ShellExecutor(shellFolder)
  const create = (program: string): Promise<Executor> => OciExecutor.create({ program, root: join(state, 'oci') })
  if (name !== 'auto') return create(name)
  // crun and runc need cgroups that the user may change, or flags for each kind of machine.
  if (isInUserNamespace()) return new ShellExecutor(shellFolder)
  if (existsSync(shellFolder) && readdirSync(shellFolder).length > 0) {
    log('the executor is shell, since containers of an earlier start have it')
    return new ShellExecutor(shellFolder)
  }
  const failures: string[] = []
  for (const program of hasHybridCgroups() ? ['runc', 'crun'] : ['crun', 'runc'])
    try {
      return await create(program)
    } catch (error) {
      failures.push(messageOf(error))
    }
  log(`the executor is shell, since neither crun nor runc can be used (${failures.join('; ')})`)
  return new ShellExecutor(shellFolder)
}

/** True if cgroup v2 has controllers beside those of v1, which crun does not accept. */
function hasHybridCgroups(): boolean {
  const file = '/sys/fs/cgroup/unified/cgroup.controllers'
  return existsSync(file) && readFileSync(file, 'utf8').trim() !== ''
}
