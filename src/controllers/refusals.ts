/** Checks for errors that the server returns to controllers. */
import { isNamespaceTerminating } from '../client/rest/refusals.ts'

export {
  isAlreadyExists,
  isConflict,
  isGoneOrChanged,
  isNamespaceTerminating,
  isNotFound,
  unlessGone,
} from '../client/rest/refusals.ts'
export { messageOf } from '../lib/message-of.ts'

/** For `catch`: ignores errors due to a namespace that is being deleted; a retry or log line would not help. */
export function unlessNamespaceTerminating(error: unknown): void {
  if (!isNamespaceTerminating(error)) throw error
}
