/** Writes the trace of a command that `t8s run` runs. */
import { testKitAgent } from '../../apiserver/test-control/index.ts'
import { connectTo } from '../../client/connection/connect-to.ts'
import type { Cluster } from '../../cluster/cluster-options.ts'
import { Control } from '../../cluster/testkit/control/control.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { messageOf } from '../../lib/message-of.ts'
import type { ChildExit } from './child/child-command.ts'

export interface CommandTraceOptions {
  /** The HTML file, which only its owner can read. */
  readonly file: string
  /** True to write nothing if the exit code is 0. */
  readonly isOnlyForFailure: boolean
  readonly print: (line: string) => void
}

export interface CommandTrace {
  /** Writes the file. Prints an error in place of throwing it: the exit code is that of the command. */
  end(exit: ChildExit): Promise<void>
}

/** Begins to record. The cluster has the option `testControl`. */
export async function beginCommandTrace(
  cluster: Cluster,
  words: readonly string[],
  { file, isOnlyForFailure, print }: CommandTraceOptions,
): Promise<CommandTrace> {
  const client = await connectTo({ access: { ...cluster.client, userAgent: testKitAgent } })
  const control = new Control(client)
  const name = await control.beginTrace()
  const write = async ({ code, signal }: ChildExit): Promise<void> => {
    const error = signal ? `The command was ended by ${signal}.` : `The command ended with exit code ${code}.`
    const test = {
      name: words.join(' '),
      outcome: code === 0 ? 'passed' : 'failed',
      ...(code !== 0 && { error }),
    } as const
    writeFileAtomically(file, await control.tracePage(name, test), 0o600)
    print(`trace written to ${file}`)
  }
  return {
    async end(exit) {
      try {
        if (exit.code !== 0 || !isOnlyForFailure) await write(exit)
      } catch (error) {
        print(`cannot write the trace ${file}: ${messageOf(error)}`)
      } finally {
        client.close()
      }
    },
  }
}
