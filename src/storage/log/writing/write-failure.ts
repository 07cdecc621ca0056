/** What a refused write means and what to do about it, in a sentence. */
import { errorCode } from '../../../lib/explained-error.ts'
import { StoreFailedError } from '../../store.ts'

const goesOn = 'writes go on by themselves once'

/** By the system's code; `{}` is the directory. */
const sentences: Readonly<Record<string, string>> = {
  ENOSPC: `the disk of {} is full (ENOSPC): make room; ${goesOn} there is some`,
  EDQUOT: `the quota for {} is used up (EDQUOT): make room or raise it; ${goesOn} there is some`,
  EFBIG: `a file in {} may not grow (EFBIG): raise the limit for file sizes (ulimit -f); ${goesOn} a write works again`,
  EROFS: `the file system of {} is read-only (EROFS): mount it for writing; ${goesOn} that is done`,
  EIO: `the disk of {} failed to write (EIO): look into the system's log; ${goesOn} a write works again`,
  EACCES: `files in {} may not be written (EACCES): give this user the right to; ${goesOn} a write works again`,
  EPERM: `files in {} may not be written (EPERM): give this user the right to; ${goesOn} a write works again`,
  EMFILE:
    'this process has too many files open to go on writing in {} (EMFILE): raise the limit (ulimit -n); ' +
    `${goesOn} a write works again`,
  ENFILE: `the system has too many files open to go on writing in {} (ENFILE): close some; ${goesOn} a write works again`,
  ENOENT: `the directory {} is gone (ENOENT): put it back; ${goesOn} it is there`,
}

export function writeFailure(directory: string, cause: unknown): StoreFailedError {
  if (cause instanceof StoreFailedError) return cause
  const sentence =
    sentences[errorCode(cause) ?? ''] ??
    `the store in {} could not write (${cause instanceof Error ? cause.message : String(cause)}); ${goesOn} a ` +
      'write works again'
  return new StoreFailedError(sentence.replace('{}', directory), { cause })
}
