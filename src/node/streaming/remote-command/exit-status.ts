/** The exit status of a remote command, as clients read it from the error stream. */
import { type Status, statusOf } from '../../../machinery/status-error.ts'

/** The part of a Status that clients get. */
export type ExitStatus = Pick<Status, 'metadata' | 'status' | 'message' | 'reason' | 'details'>

export const exitStatus = (code: number): ExitStatus =>
  code === 0
    ? { metadata: {}, status: 'Success' }
    : {
        metadata: {},
        status: 'Failure',
        message: `command terminated with non-zero exit code: exit status ${code}`,
        reason: 'NonZeroExitCode',
        details: { causes: [{ reason: 'ExitCode', message: `${code}` }] },
      }

/** The status of a command that could not be run. `action` is what has failed. */
export const failureStatus = (action: string, error: unknown): ExitStatus =>
  statusOf(new Error(`error ${action} container: ${error instanceof Error ? error.message : String(error)}`)).status

/** The status in the format of the client's protocol. */
export function statusText(status: ExitStatus, isPlain: boolean): string {
  if (isPlain) return status.message ?? ''
  return JSON.stringify(status)
}
