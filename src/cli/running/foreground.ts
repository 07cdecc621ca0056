/** Runs a program with kube-apiserver's or etcd's flags in the foreground, until a signal ends it; what goes wrong is told as those tell it. */
import { complaint, exitCode } from '../../envtest/complaint.ts'
import type { ProgramName } from '../../envtest/launcher-script.ts'
import type { Running } from '../../envtest/program.ts'
import { hasBegun } from '../../lib/process/has-begun.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import { stopSignal } from './stop-signal.ts'

/** Runs `start`, waits for a signal, stops within `graceMs`. Sets the exit code; never rejects. */
export async function inForeground(program: ProgramName, graceMs: number, start: (log: (line: string) => void) => Promise<Running>): Promise<void> {
  const stopping = stopSignal()
  try {
    const log = (line: string): void => void process.stderr.write(`${line}\n`)
    const running = await start(log)
    surviveErrors(log)
    hasBegun()
    await stopping.requested
    await running.stop(graceMs)
  } catch (error) {
    process.stderr.write(`${complaint(program, error)}\n`)
    process.exitCode = exitCode(program, error)
    return
  }
  if (program !== 'etcd') return
  // As etcd itself, which hands the signal on.
  process.removeAllListeners('SIGTERM')
  process.kill(process.pid, 'SIGTERM')
}
