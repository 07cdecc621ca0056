/** The limit of all termination messages of a pod, which its containers share. */
import type { ContainerStatus } from '../pod-types.ts'

type State = NonNullable<ContainerStatus['state']>

/** In bytes, for a whole pod. */
const maxPodBytes = 12 * 1024

/** Cuts the messages of terminated containers. `count` is the number of all containers of the pod. */
export function withShortMessages(statuses: readonly ContainerStatus[], count: number): ContainerStatus[] {
  const maxBytes = Math.floor(maxPodBytes / count)
  return statuses.map((status) => {
    const state = shortState(status.state, maxBytes)
    const lastState = shortState(status.lastState, maxBytes)
    return state === status.state && lastState === status.lastState ? status : { ...status, state, lastState }
  })
}

function shortState(state: State | undefined, maxBytes: number): State | undefined {
  const { terminated } = state ?? {}
  if (!terminated?.message || Buffer.byteLength(terminated.message) <= maxBytes) return state
  const message = Buffer.from(terminated.message).subarray(0, maxBytes).toString()
  return { ...state, terminated: { ...terminated, message } }
}
