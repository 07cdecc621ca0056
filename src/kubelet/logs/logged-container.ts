/** Chooses the instance of a container whose log a client gets, by the pod's status, with upstream's messages. */
import type { ContainerStatus, PodStatus } from '../pod-types.ts'

/** Returns the ID in the runtime, without the runtime's name. Throws an Error if there is no log. */
export function loggedContainer(podName: string, status: PodStatus, container: string, isPrevious: boolean): string {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = status
  const found = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find(
    ({ name }) => name === container,
  )
  if (!found) throw new Error(`${subjectOf(container, podName)} is not available`)
  const id = isPrevious ? previousId(found, podName) : currentId(found, podName)
  return id.replace(/^[^:]*:\/\//, '')
}

const subjectOf = (container: string, podName: string): string =>
  `container ${JSON.stringify(container)} in pod ${JSON.stringify(podName)}`

function previousId({ name, lastState }: ContainerStatus, podName: string): string {
  const id = lastState?.terminated?.containerID
  if (!id) throw new Error(`previous terminated ${subjectOf(name, podName)} not found`)
  return id
}

function currentId({ name, state, lastState, containerID }: ContainerStatus, podName: string): string {
  const subject = subjectOf(name, podName)
  const previous = lastState?.terminated
  if (state?.running) return containerID ?? ''
  // After a start that failed, the state has no ID.
  const terminated = state?.terminated ?? previous
  if (terminated) {
    const id = terminated.containerID || previous?.containerID
    if (!id) throw new Error(`${subject} is terminated`)
    return id
  }
  if (!state?.waiting) throw new Error(`${subject} is waiting to start - no logs yet`)
  throw new Error(`${subject} is waiting to start: ${waitingText(state.waiting.reason ?? '')}`)
}

function waitingText(reason: string): string {
  if (reason === 'ErrImagePull') return "image can't be pulled"
  if (reason === 'ImagePullBackOff') return 'trying and failing to pull image'
  return reason
}
