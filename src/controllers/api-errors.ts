/** Checks for errors that the server returns to controllers. */
import { isNamespaceTerminating } from '../client/rest/api-errors.ts'

export {
  ignoreNotFound,
  isAlreadyExists,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  isNotFoundOrConflict,
} from '../client/rest/api-errors.ts'
export { messageOf } from '../lib/message-of.ts'

/** For `catch`: ignores errors due to a namespace that is being deleted; a retry or log line would not help. */
export function ignoreNamespaceTerminating(error: unknown): void {
  if (!isNamespaceTerminating(error)) throw error
}
