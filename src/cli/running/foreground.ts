/**
 * Runs a program with kube-apiserver's or etcd's flags in the foreground until a signal stops it. Prints errors in the
 * format of those programs.
 */

import { type Log, plainLog } from '../../lib/log/log.ts'
import { tuneAfterStart } from '../../lib/process/memory/tune-after-start.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import type { ProgramName } from '../../tools/envtest/launcher-script.ts'
import type { Running } from '../../tools/envtest/program.ts'
import { exitCode, startupErrorText } from '../../tools/envtest/startup-error.ts'
import { stopSignal } from './stop-signal.ts'

/** A running program, and its log if that is not plain lines. */
export type Logging = Running & { readonly log?: Log }

/** Runs `start`, waits for a signal, stops within `graceMs`. Sets the exit code; never rejects. */
export async function inForeground(
  program: ProgramName,
  graceMs: number,
  start: (log: Log) => Promise<Logging>,
): Promise<void> {
  const stopping = stopSignal()
  try {
    const running = await start(plainLog)
    surviveErrors(running.log ?? plainLog)
    tuneAfterStart()
    await stopping.requested
    await running.stop(graceMs)
  } catch (error) {
    process.stderr.write(`${startupErrorText(program, error)}\n`)
    process.exitCode = exitCode(program, error)
    return
  }
  if (program !== 'etcd') return
  // As etcd, which ends itself with the signal.
  process.removeAllListeners('SIGTERM')
  process.kill(process.pid, 'SIGTERM')
}
