/** Errors of missing files. */

/** For `catch`: undefined for a missing file; rethrows other errors. */
export function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
