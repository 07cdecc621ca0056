/** Events of a pod and its containers, as `kubectl describe pod` shows them. */
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import { type Container, type Pod, specOf } from '../pod-types.ts'

type EventType = 'Normal' | 'Warning'

export class PodEvents {
  readonly #recorder: Pick<EventRecorder, 'record'>
  readonly #node: string

  constructor(recorder: Pick<EventRecorder, 'record'>, node: string) {
    this.#recorder = recorder
    this.#node = node
  }

  ofPod(
    pod: Pod,
    type: EventType,
    reason: string,
    message: string,
    annotations?: Readonly<Record<string, string>>,
  ): void {
    this.#recorder.record(pod, type, reason, message, this.#node, annotations)
  }

  ofContainer(pod: Pod, container: Container, type: EventType, reason: string, message: string): void {
    const { name, namespace, uid, resourceVersion } = pod.metadata
    const subject = {
      apiVersion: 'v1',
      kind: 'Pod',
      name: name ?? '',
      namespace,
      uid,
      resourceVersion,
      fieldPath: fieldPathOf(pod, container),
    }
    this.#recorder.record(subject, type, reason, message, this.#node)
  }
}

/** Returns for example `spec.containers{web}`. */
function fieldPathOf(pod: Pod, { name }: Container): string {
  const { initContainers = [], containers } = specOf(pod)
  const list = initContainers.some((one) => one.name === name)
    ? 'initContainers'
    : containers.some((one) => one.name === name)
      ? 'containers'
      : 'ephemeralContainers'
  return `spec.${list}{${name}}`
}
