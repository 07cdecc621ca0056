/** Errors of standard output and standard error, which a serving process must outlive. */
import { errorCode, reasonOf } from '../../lib/explained-error.ts'

/** The reader has ended (`t8s up | head -1`), or the terminal was closed; SIGHUP stops the process then. */
const readerIsGone: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO', 'ENXIO', 'EBADF'])

/**
 * Lets the process continue without an output that cannot be written. Reports it on standard error once, and sets the
 * exit code, unless the reader of the output has ended. An exception instead would be logged to the same output, whose
 * next error would be logged, without end.
 */
export function surviveOutputErrors(): void {
  let isReported = false
  const report = (name: string) => (error: Error) => {
    if (isReported || readerIsGone.has(errorCode(error))) return
    isReported = true
    process.exitCode = 1
    process.stderr.write(`t8s: cannot write to ${name}: ${reasonOf(error)}; what follows is missing there\n`)
  }
  process.stdout.on('error', report('standard output'))
  process.stderr.on('error', report('standard error'))
}
