/** Warns once per sandbox that a pod wants the cluster's DNS, and no server of it is configured. */
import type { Pod } from '../pod-types.ts'
import { type DnsSettings, lacksClusterDns } from './dns-config.ts'

const message =
  'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. ' +
  'Falling back to "Default" policy.'

export interface DnsWarningsOptions {
  readonly settings: DnsSettings
  /** Record a warning of the node, and of a pod. */
  readonly ofNode: (reason: string, message: string) => void
  readonly ofPod: (pod: Pod, reason: string, message: string) => void
}

export class DnsWarnings {
  readonly #options: DnsWarningsOptions
  /** The last sandbox that was warned about, by pod UID. */
  readonly #warned = new Map<string, number>()

  constructor(options: DnsWarningsOptions) {
    this.#options = options
  }

  /** `attempt` is the number of the pod's sandbox. */
  check(pod: Pod, attempt: number): void {
    const { settings, ofNode, ofPod } = this.#options
    const { name, namespace, uid = '' } = pod.metadata
    if (!lacksClusterDns(pod, settings) || this.#warned.get(uid) === attempt) return
    this.#warned.set(uid, attempt)
    ofNode('MissingClusterDNS', message)
    ofPod(pod, 'MissingClusterDNS', `pod: "${name}_${namespace}(${uid})". ${message}`)
  }

  forget(uid: string): void {
    this.#warned.delete(uid)
  }
}
