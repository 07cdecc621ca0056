/** Network policies of a cluster's real node, whose pods the cluster connects itself. */
import type { ServerAccess } from '../../client/connection/connection.ts'
import type { Pod } from '../../client/kinds.ts'
import { messageOf } from '../../lib/message-of.ts'
import { PolicyAgent } from '../../network/policy/policy-agent.ts'
import { policyBackends, removeOtherPolicies, usablePolicyMode } from './policy-backends.ts'
import type { PolicyMode } from './policy-mode.ts'

/** The settings for the thread of the node, as plain data. */
export interface EmbeddedPolicy {
  /** The credentials of its user. */
  readonly client: Pick<ServerAccess, 'cert' | 'key' | 'credentials'>
  /** Distinguishes its rules from those of other clusters. */
  readonly instance: string
  /** Default: the best one that works here. */
  readonly mode?: PolicyMode | undefined
}

export interface EmbeddedPolicyOptions {
  readonly policy: EmbeddedPolicy
  readonly node: string
  readonly server: Pick<ServerAccess, 'url' | 'ca'>
  /** The address of the cluster's DNS; undefined if pods run it. */
  readonly dns: string | undefined
  /** Resolves when the node has started. Only then, programs look for rules of another mode. */
  readonly hasStarted: Promise<void>
  readonly log: (line: string) => void
}

/** Rejects if this machine can use no mode. */
export async function embeddedPolicies(options: EmbeddedPolicyOptions): Promise<PolicyAgent> {
  const { policy, node, server, dns, hasStarted, log } = options
  const mode = await usablePolicyMode(policy.mode)
  const agent = new PolicyAgent({
    server: { ...server, ...policy.client },
    node,
    tables: policyBackends(mode, policy.instance),
    ownPods: dns === undefined ? [] : [dnsPod(dns)],
    log,
  })
  agent.start()
  void Promise.all([agent.synced, hasStarted])
    .then(() => removeOtherPolicies(mode, policy.instance))
    .catch((error) => log(`rules of another mode of network policies remain: ${messageOf(error)}`))
  return agent
}

/** Policies allow DNS by the labels of its pods: those of kubeadm's. */
const dnsPod = (address: string): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'kube-system', name: 'coredns', labels: { 'k8s-app': 'kube-dns' } },
  spec: { containers: [] },
  status: { podIPs: [{ ip: address }] },
})
