/**
 * An error whose message is written for the person at the terminal: what is wrong and what to do next, in one sentence.
 * The CLI shows the message alone; anything else that is thrown is a bug of ours.
 */
export class ExplainedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ExplainedError'
  }
}

/** The words for what the file system refuses; `undefined` for codes that need the original message. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such file or directory',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'it is a directory',
  ELOOP: 'its links lead in a circle',
  EEXIST: 'a file of that name is in the way',
  ENOSPC: 'no space left on the device',
}

/** The code of a system error (`ENOENT`), or undefined for other errors. */
export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Why the file system (or anything else) refused, in plain words. */
export function reasonOf(error: unknown): string {
  return reasons[errorCode(error) ?? ''] ?? (error instanceof Error ? error.message : String(error))
}
