/** What refusals of the server mean to controllers. */
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

/** For `catch`: where the namespace goes there is no reason to try again, nor to tell. */
export function unlessNamespaceTerminating(error: unknown): void {
  if (!isNamespaceTerminating(error)) throw error
}
