/** Probes a container by a command in it: exit code 0 is success. */
import { goQuote } from '../../../lib/go/go-quote.ts'
import { GrpcError } from '../../../lib/grpc/grpc-error.ts'
import type { CriRuntime } from '../../cri/runtime.ts'
import { expand } from '../../environment/expand.ts'
import type { Container } from '../../pod-types.ts'
import { failure, maxOutputBytes, ProbeError, type ProbeOutcome, success } from './outcome.ts'

/**
 * A command that takes longer than `timeoutMs` is a failure; the runtime ends it. Rejects with a ProbeError if the
 * runtime cannot run the command.
 */
export async function probeExec(
  runtime: Pick<CriRuntime, 'exec'>,
  containerId: string,
  command: readonly string[],
  timeoutMs: number,
): Promise<ProbeOutcome> {
  try {
    const { exitCode, stdout, stderr } = await runtime.exec(containerId, command, timeoutMs)
    const output = Buffer.concat([stdout, stderr]).subarray(0, maxOutputBytes).toString()
    return exitCode === 0 ? success(output) : failure(output)
  } catch (error) {
    if (error instanceof GrpcError && error.code === 'DeadlineExceeded')
      return failure(`command ${goQuote(command.join(' '))} timed out`)
    throw new ProbeError((error as Error).message)
  }
}

/** Expands `$(NAME)` by the container's own variables; values from elsewhere are not known to probes. */
export function probeCommand(command: readonly string[], { env = [] }: Container): string[] {
  const variables = new Map(env.flatMap(({ name, value, valueFrom }) => (valueFrom ? [] : [[name, value ?? '']])))
  return command.map((text) => expand(text, variables))
}
