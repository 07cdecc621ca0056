/** Describes a failed write and its remedy in a sentence. */
import { errorCode } from '../../../lib/explained-error.ts'
import { StoreFailedError } from '../../store.ts'

const resume = 'writes resume automatically once'

/** By error code; `{}` is the directory. */
const sentences: Readonly<Record<string, string>> = {
  ENOSPC: `the disk of {} is full (ENOSPC): free some space; ${resume} there is space`,
  EDQUOT: `the quota for {} is used up (EDQUOT): free some space or raise it; ${resume} there is space`,
  EFBIG: `a file in {} may not grow (EFBIG): raise the limit for file sizes (ulimit -f); ${resume} a write works again`,
  EROFS: `the file system of {} is read-only (EROFS): mount it for writing; ${resume} that is done`,
  EIO: `the disk of {} failed to write (EIO): check the system's log; ${resume} a write works again`,
  EACCES: `files in {} may not be written (EACCES): give this user the right to; ${resume} a write works again`,
  EPERM: `files in {} may not be written (EPERM): give this user the right to; ${resume} a write works again`,
  EMFILE:
    'this process has too many files open to write in {} (EMFILE): raise the limit (ulimit -n); ' +
    `${resume} a write works again`,
  ENFILE: `the system has too many files open to write in {} (ENFILE): close some; ${resume} a write works again`,
  ENOENT: `the directory {} is missing (ENOENT): restore it; ${resume} it exists`,
}

export function writeFailure(directory: string, cause: unknown): StoreFailedError {
  if (cause instanceof StoreFailedError) return cause
  const sentence =
    sentences[errorCode(cause) ?? ''] ??
    `the store in {} could not write (${cause instanceof Error ? cause.message : String(cause)}); ${resume} a ` +
      'write works again'
  return new StoreFailedError(sentence.replace('{}', directory), { cause })
}
