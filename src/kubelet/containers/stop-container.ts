/** Ends containers: preStop hook, turn of sidecars, stop signal, and SIGKILL when the grace period is over. */
import type { ContainerStatus } from '#protobuf/cri-runtime_pb.js'
import { containerNameOf } from '../cri/labels.ts'
import type { CriRuntime } from '../cri/runtime.ts'
import { allContainers, type Container, isSidecar, type Pod, specOf } from '../pod-types.ts'
import type { PodEvents } from './container-events.ts'
import type { LifecycleHooks } from './lifecycle-hooks.ts'

/** Each container gets at least this time after its stop signal, in seconds: also if its pod is deleted by force. */
const minGraceSeconds = 2

export interface ContainerStopper {
  readonly runtime: Pick<CriRuntime, 'stopContainer'>
  readonly hooks: Pick<LifecycleHooks, 'preStop'>
  readonly events: PodEvents
  readonly now: () => number
  /** Resolves after so many ms. */
  readonly delay: (ms: number) => Promise<void>
}

export interface StopRequest {
  readonly pod: Pod
  readonly id: string
  /** The name of the container. */
  readonly name: string
  readonly graceSeconds: number
  /** The reason in the event; default: `Stopping container NAME`. */
  readonly message?: string
  /** The container gets its stop signal after this, or when the grace period is over. */
  readonly turn?: Promise<unknown>
}

/** Resolves when the container has ended. Rejects with the runtime's error. */
export async function stopContainer(
  { runtime, hooks, events, now, delay }: ContainerStopper,
  { pod, id, name, graceSeconds, message, turn }: StopRequest,
): Promise<void> {
  // The pod may have been deleted while no kubelet ran: the name remains in the labels.
  const container: Container = allContainers(pod).find((one) => one.name === name) ?? { name }
  events.ofContainer(pod, container, 'Normal', 'Killing', message ?? `Stopping container ${name}`)
  let left = graceSeconds
  const spend = async (step: (seconds: number) => Promise<unknown>): Promise<void> => {
    if (left <= 0) return
    const began = now()
    await step(left)
    left -= Math.floor((now() - began) / 1000)
  }
  await spend((seconds) => hooks.preStop(pod, container, id, seconds))
  if (turn) await spend((seconds) => Promise.race([turn, delay(seconds * 1000)]))
  await runtime.stopContainer(id, Math.max(left, minGraceSeconds))
}

/**
 * Ends the running containers of a pod. All hooks run at the same time; then sidecars wait for the main containers, and
 * for the sidecars that have started after them (KEP-753). Rejects with the first error of the runtime.
 */
export async function stopContainers(
  stopper: ContainerStopper,
  pod: Pod,
  running: readonly ContainerStatus[],
  graceSeconds: number,
): Promise<void> {
  const sidecars = (specOf(pod).initContainers ?? []).filter(isSidecar).map(({ name }) => name)
  const stop = ({ id, labels }: ContainerStatus, turn?: Promise<unknown>): Promise<void> =>
    stopContainer(stopper, { pod, id, name: containerNameOf(labels), graceSeconds, ...(turn && { turn }) })
  const named = (name: string) => running.filter(({ labels }) => containerNameOf(labels) === name)
  const stops = running.filter(({ labels }) => !sidecars.includes(containerNameOf(labels))).map((one) => stop(one))
  for (const name of sidecars.reverse()) {
    // A container that could not be stopped runs still.
    const turn = Promise.all(stops).catch(() => new Promise(() => {}))
    stops.push(...named(name).map((one) => stop(one, turn)))
  }
  await Promise.all(stops)
}
