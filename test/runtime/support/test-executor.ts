/**
 * The executor of a runtime under test: T8S_TEST_EXECUTOR is crun, runc or shell. Default: crun. With `docker`, the
 * runtime is in front of a Docker engine, which replaces executor, images and network.
 */
import { join } from 'node:path'
import type { Executor } from '../../../src/runtime/executors/executor.ts'
import { OciExecutor } from '../../../src/runtime/executors/oci/oci-executor.ts'
import { ShellExecutor } from '../../../src/runtime/executors/shell/shell-executor.ts'

export const executorVariable = 'T8S_TEST_EXECUTOR'

/** The name of the executor of this test. */
export const executorName = (): string => process.env[executorVariable] ?? 'crun'

/** `state` is a folder for its state, which survives the runtime. */
export async function testExecutor(state: string): Promise<Executor> {
  const program = executorName()
  if (program === 'shell') return new ShellExecutor(join(state, 'shell'))
  return OciExecutor.create({ program, root: join(state, program) })
}
