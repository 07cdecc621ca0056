/** How a pod is told why it waits: in an event and in its status. */
import type { Pod } from '../../client/kinds.ts'
import type { Failure } from '../cycle/failure.ts'
import type { StatusChange } from './status-writer.ts'

/** Upstream's limit for what an event says. */
const longestNote = 1024

export const noteOf = ({ message }: Failure): string =>
  message.length > longestNote ? `${message.slice(0, longestNote - 4)} ...` : message

/**
 * What the failure changes in the pod's status; nothing if that says so already. `nominatedBefore` is the node that was
 * kept for the pod as far as the scheduler knows (empty for none): that may not be in the status yet.
 */
export function statusChangeOf(
  { status, metadata }: Pod,
  { reason, message, nominatedNode }: Failure,
  nominatedBefore: string,
  now: number,
): StatusChange | undefined {
  const before = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const isSame = before?.status === 'False' && before.reason === reason && before.message === message
  const isKept =
    nominatedNode === undefined ||
    (nominatedNode === nominatedBefore && nominatedNode === (status?.nominatedNodeName ?? ''))
  if (isSame && isKept) return undefined
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
    nominatedNode: isKept ? undefined : nominatedNode,
  }
}
