/** Turns errors of images, and of their folder, into messages for the terminal. */
import { ExplainedError, errorCode, reasonOf } from '../../../lib/explained-error.ts'
import type { ImageError } from '../../../runtime/images/index.ts'

/** Rejects with an ExplainedError where the reason is the image, the registry or access to the folder. */
export async function explainImageErrors(
  isImageError: typeof ImageError,
  folder: string,
  action: () => Promise<void>,
): Promise<void> {
  try {
    await action()
  } catch (error) {
    if (error instanceof isImageError) throw new ExplainedError(error.message, { cause: error })
    if (['EACCES', 'EPERM', 'EROFS', 'ENOSPC'].includes(errorCode(error) ?? ''))
      throw new ExplainedError(`cannot use ${folder}: ${reasonOf(error)}: choose another folder with --image-root`, {
        cause: error,
      })
    throw error
  }
}
