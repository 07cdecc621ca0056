/** Many pods in some namespaces, and policies for each of them. */
import type { Namespace, NetworkPolicy, Pod } from '../../src/client/kinds.ts'
import { PolicyObjects } from '../../src/network/policy/picture/policy-objects.ts'

const namespaceCount = 10
const appCount = 10
const ports = [{ name: 'web', containerPort: 80 }]

/** The node of all pods. */
export const benchNode = 'node-1'

const namespaceOf = (number: number): string => `bench-${number % namespaceCount}`
const appOf = (number: number): string => `app-${Math.floor(number / namespaceCount) % appCount}`

const podOf = (number: number, labels: Readonly<Record<string, string>> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...{ namespace: namespaceOf(number), name: `pod-${number}`, uid: String(number) },
    labels: { app: appOf(number), ...labels },
  },
  spec: { nodeName: benchNode, containers: [{ name: 'c', ports }] },
  status: { phase: 'Running', podIPs: [{ ip: `10.244.${number >> 8}.${number & 255}` }] },
})

/** Each selects the pods of an app, and allows one app of the namespace, the namespace next to it, and a range. */
const policyOf = (number: number, port = 80): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: namespaceOf(number), name: `policy-${number}` },
  spec: {
    podSelector: { matchLabels: { app: appOf(number) } },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ from: [{ podSelector: { matchLabels: { app: appOf(number + namespaceCount) } } }], ports: [{ port }] }],
    egress: [
      { to: [{ namespaceSelector: { matchLabels: { ns: namespaceOf(number + 1) } } }], ports: [{ port: 'web' }] },
      { to: [{ ipBlock: { cidr: '192.168.0.0/16', except: [`192.168.${number}.0/24`] } }] },
    ],
  },
})

export class ManyPolicies {
  readonly objects = new PolicyObjects()
  readonly #pods: Pod[] = []
  readonly #policies: NetworkPolicy[] = []

  constructor(pods: number, policies: number) {
    for (let number = 0; number < namespaceCount; number++) this.objects.setNamespace(spaceOf(number), undefined)
    for (let number = 0; number < pods; number++) this.#pods[number] = this.#setPod(podOf(number), undefined)
    for (let number = 0; number < policies; number++)
      this.#policies[number] = this.#setPolicy(policyOf(number), undefined)
  }

  /** Gives a pod another label, which no policy has, and another app, which some have. */
  changePod(number: number, round: number): void {
    const labels = { round: String(round), app: appOf(number + round * namespaceCount) }
    this.#pods[number] = this.#setPod(podOf(number, labels), this.#pods[number])
  }

  /** Allows another port. */
  changePolicy(number: number, port: number): void {
    this.#policies[number] = this.#setPolicy(policyOf(number, port), this.#policies[number])
  }

  #setPod(pod: Pod, old: Pod | undefined): Pod {
    this.objects.setPod(pod, old)
    return pod
  }

  #setPolicy(policy: NetworkPolicy, old: NetworkPolicy | undefined): NetworkPolicy {
    this.objects.setPolicy(policy, old)
    return policy
  }
}

const spaceOf = (number: number): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespaceOf(number), labels: { ns: namespaceOf(number) } },
})
