/** Decides if a container that has ended starts again. */
import type { ContainerStatus } from '#protobuf/cri-runtime_pb.js'
import { type Container, isSidecar, type Pod, specOf } from '../../pod-types.ts'
import { hasExited, isRunning, newestContainer, type RuntimePod } from '../runtime-pod.ts'

/** The policy of a container: its own (KEP-5307), or its pod's. */
export const restartPolicyOf = (pod: Pod, container: Container): string =>
  container.restartPolicy ?? specOf(pod).restartPolicy ?? 'Always'

/** The policy of an init container: `Always` of the pod means that failures are repeated, as successes end it. */
export function initRestartPolicyOf(pod: Pod, container: Container): string {
  if (isSidecar(container)) return 'Always'
  const policy = restartPolicyOf(pod, container)
  return policy === 'Always' ? 'OnFailure' : policy
}

type Rule = NonNullable<Container['restartPolicyRules']>[number]

function matchesRule({ exitCodes }: Rule, exitCode: number): boolean {
  if (!exitCodes) return false
  const isListed = (exitCodes.values ?? []).includes(exitCode)
  return exitCodes.operator === 'In' ? isListed : exitCodes.operator === 'NotIn' && !isListed
}

/** The action of the first rule that an exit code matches, whatever the policy is; undefined if none does. */
const actionOf = ({ restartPolicyRules = [] }: Container, exitCode: number): string | undefined =>
  restartPolicyRules.find((rule) => matchesRule(rule, exitCode))?.action

/** Returns true if a container that ended like this restarts all containers of its pod (KEP-5532). */
export const startsRestartOfAll = (container: Container, { exitCode }: Pick<ContainerStatus, 'exitCode'>): boolean =>
  actionOf(container, exitCode) === 'RestartAllContainers'

/** Returns true if a main container without a running instance has to start. */
export function shouldStart(pod: Pod, container: Container, runtimePod: RuntimePod): boolean {
  const status = newestContainer(runtimePod, container.name)
  if (!status) return true
  if (!hasExited(status)) return !isRunning(status)
  return shouldRestart(container, restartPolicyOf(pod, container), status)
}

/** Returns true if a container that ended like this starts again. */
export function shouldRestart(
  container: Container,
  policy: string,
  { exitCode }: Pick<ContainerStatus, 'exitCode'>,
): boolean {
  if (actionOf(container, exitCode) !== undefined) return true
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}
