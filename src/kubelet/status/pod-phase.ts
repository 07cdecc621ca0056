/** The phase of a pod, from its containers' statuses. */

import { type ContainerStatus, isSidecar, type Pod, specOf } from '../pod-types.ts'
import { initRestartPolicyOf, restartPolicyOf, shouldRestart } from '../pods/plan/restart-policy.ts'

/** `init` and `main` are the statuses of init containers (sidecars too) and of main containers. */
export function podPhase(
  pod: Pod,
  init: readonly ContainerStatus[],
  main: readonly ContainerStatus[],
): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  const { initContainers = [], containers } = specOf(pod)
  const find = (statuses: readonly ContainerStatus[], name: string) => statuses.find((one) => one.name === name)
  const statuses = containers.map(({ name }) => find(main, name))
  const hasStartedMain = statuses.some(
    (status) => status?.state?.running || status?.state?.terminated || status?.lastState?.terminated,
  )
  let pendingInit = false
  for (const container of initContainers) {
    const status = find(init, container.name)
    if (isSidecar(container)) {
      if (!status?.started) pendingInit = true
      continue
    }
    const ended = status?.state?.terminated
    if (!ended) pendingInit = true
    else if (ended.exitCode !== 0) {
      if (!shouldRestart(container, initRestartPolicyOf(pod, container), ended)) return 'Failed'
      pendingInit = true
    }
  }
  if (pendingInit && !hasStartedMain) return 'Pending'
  let running = 0
  let waiting = 0
  let succeeded = 0
  let restarting = 0
  for (const [i, container] of containers.entries()) {
    const status = statuses[i]
    if (status?.state?.running) running++
    else if (status?.state?.terminated) {
      if (shouldRestart(container, restartPolicyOf(pod, container), status.state.terminated)) restarting++
      else if (status.state.terminated.exitCode === 0) succeeded++
    } else if (status?.lastState?.terminated) restarting++
    else waiting++
  }
  if (waiting > 0) return 'Pending'
  if (running > 0 || restarting > 0) return 'Running'
  return succeeded === containers.length ? 'Succeeded' : 'Failed'
}
