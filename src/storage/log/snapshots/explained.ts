/** Errors of files that are written. */
import { ExplainedError, reasonOf } from '../../../lib/explained-error.ts'
import { StoreOpenError } from '../../store.ts'

/** Runs a function that writes `path`. Rejects with an ExplainedError for errors of the disk. */
export async function explained(path: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (error instanceof ExplainedError || error instanceof StoreOpenError) throw error
    throw new ExplainedError(`cannot write ${path}: ${reasonOf(error)}`, { cause: error })
  }
}
