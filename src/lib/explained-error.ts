/**
 * An error with a message for the user: what is wrong and what to do next, in one sentence. The CLI prints only the
 * message; any other error is a bug.
 */
export class ExplainedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ExplainedError'
  }
}

/** Messages for error codes of the file system. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  ELOOP: 'its links form a loop',
  EEXIST: 'a file with that name exists',
  ENOSPC: 'no space left on the device',
}

/** The code of a system error (`ENOENT`), or undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Describes an error in plain words. */
export function reasonOf(error: unknown): string {
  return reasons[errorCode(error) ?? ''] ?? (error instanceof Error ? error.message : String(error))
}
