/** Runs the probes of containers, with upstream's retries and events. */
import type { PodEvents } from '../containers/container-events.ts'
import type { CriRuntime } from '../cri/runtime.ts'
import type { Container, Pod } from '../pod-types.ts'
import { probeCommand, probeExec } from './handlers/exec-probe.ts'
import { probeGrpc } from './handlers/grpc-probe.ts'
import { probeHttp } from './handlers/http/http-probe.ts'
import { httpGetRequest } from './handlers/http/http-request.ts'
import { ProbeError, type ProbeOutcome } from './handlers/outcome.ts'
import { containerPort } from './handlers/port.ts'
import { probeTcp } from './handlers/tcp-probe.ts'

export type Probe = NonNullable<Container['livenessProbe']>

/** The words are those of events and metrics. */
export type ProbeKind = 'Liveness' | 'Readiness' | 'Startup'

export interface ProbeTarget {
  readonly pod: Pod
  readonly container: Container
  readonly containerId: string
  /** The pod's address; empty as long as it has none. */
  readonly podIp: string
}

/** Undefined if the probe could not be carried out, so that it counts neither way. */
export type Verdict = 'success' | 'failure' | undefined

export interface ProberOptions {
  readonly runtime: Pick<CriRuntime, 'exec'>
  readonly events: PodEvents
}

const attempts = 3
const defaultTimeoutSeconds = 1

export class Prober {
  readonly #options: ProberOptions

  constructor(options: ProberOptions) {
    this.#options = options
  }

  /** Never rejects. Anything but success is an event of the container. */
  async probe(kind: ProbeKind, probe: Probe, target: ProbeTarget): Promise<Verdict> {
    try {
      const { result, output } = await this.#attempt(probe, target)
      if (result === 'warning') this.#record(target, 'ProbeWarning', `${kind} probe warning: ${output}`)
      if (result === 'failure') this.#record(target, 'Unhealthy', `${kind} probe failed: ${output}`)
      return result === 'success' || result === 'warning' ? 'success' : 'failure'
    } catch (error) {
      const result = error instanceof ProbeError ? error.result : 'unknown'
      const message = `${kind} probe errored and resulted in ${result} state: ${(error as Error).message}`
      this.#record(target, 'Unhealthy', message)
      return undefined
    }
  }

  /** Retries a probe that could not be carried out. */
  async #attempt(probe: Probe, target: ProbeTarget): Promise<ProbeOutcome> {
    for (let left = attempts - 1; ; left--)
      try {
        return await this.#run(probe, target)
      } catch (error) {
        if (left === 0) throw error
      }
  }

  async #run(probe: Probe, { pod, container, containerId, podIp }: ProbeTarget): Promise<ProbeOutcome> {
    const { exec, httpGet, tcpSocket, grpc } = probe
    const timeoutMs = (probe.timeoutSeconds ?? defaultTimeoutSeconds) * 1000
    if (exec)
      return probeExec(this.#options.runtime, containerId, probeCommand(exec.command ?? [], container), timeoutMs)
    // Without a host the node itself would be probed.
    if (!podIp && !httpGet?.host && !tcpSocket?.host) throw new ProbeError('the pod has no IP address yet')
    if (httpGet) return probeHttp(httpGetRequest(httpGet, container, podIp, 'probe'), timeoutMs)
    if (tcpSocket)
      return probeTcp(tcpSocket.host || podIp, containerPort(tcpSocket.port as number | string, container), timeoutMs)
    if (grpc) return probeGrpc(podIp, grpc.port, grpc.service ?? '', timeoutMs)
    const { name, namespace, uid } = pod.metadata
    throw new ProbeError(`missing probe handler for ${name}_${namespace}(${uid}):${container.name}`)
  }

  #record({ pod, container }: ProbeTarget, reason: string, message: string): void {
    this.#options.events.ofContainer(pod, container, 'Warning', reason, message)
  }
}
