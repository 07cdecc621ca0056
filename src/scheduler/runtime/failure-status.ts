/** The event and the status that explain why a pod is unschedulable. */
import type { Pod } from '../../client/kinds.ts'
import type { Failure } from '../cycle/failure.ts'
import type { StatusChange } from './status-writer.ts'

/** Upstream's limit for the note of an event, in characters. */
const maxNoteLength = 1024

export const noteOf = ({ message }: Failure): string =>
  message.length > maxNoteLength ? `${message.slice(0, maxNoteLength - 4)} ...` : message

/**
 * The change of the pod's status after the failure; undefined if it is current. `nominatedBefore` is the nominated node
 * as far as the scheduler knows (empty for none): it may not be in the status yet.
 */
export function statusChangeOf(
  { status, metadata }: Pod,
  { reason, message, nominatedNode }: Failure,
  nominatedBefore: string,
  now: number,
): StatusChange | undefined {
  const before = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const isConditionCurrent = before?.status === 'False' && before.reason === reason && before.message === message
  const isNominationCurrent =
    nominatedNode === undefined ||
    (nominatedNode === nominatedBefore && nominatedNode === (status?.nominatedNodeName ?? ''))
  if (isConditionCurrent && isNominationCurrent) return undefined
  const lastTransitionTime =
    before?.status === 'False' ? before.lastTransitionTime : `${new Date(now).toISOString().slice(0, 19)}Z`
  return {
    condition: {
      type: 'PodScheduled',
      status: 'False',
      reason,
      message,
      lastTransitionTime,
      observedGeneration: metadata.generation,
    },
    nominatedNode: isNominationCurrent ? undefined : nominatedNode,
  }
}
