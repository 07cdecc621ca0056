/** Network policies of a cluster's real node, whose pods the cluster connects itself. */
import type { ServerAccess } from '../../client/connection/connection.ts'
import type { Pod } from '../../client/kinds.ts'
import { PolicyAgent } from '../../network/policy/policy-agent.ts'
import type { KeyPair } from '../pki/key-pair.ts'
import { policyTables } from './policy-tables.ts'

/** The settings for the thread of the node, as plain data. */
export interface EmbeddedPolicy {
  /** The certificate of its user. */
  readonly client: KeyPair
  /** Distinguishes its rules from those of other clusters. */
  readonly instance: string
}

export interface EmbeddedPolicyOptions {
  readonly policy: EmbeddedPolicy
  readonly node: string
  readonly server: Pick<ServerAccess, 'url' | 'ca'>
  /** The address of the cluster's DNS; undefined if pods run it. */
  readonly dns: string | undefined
  readonly log: (line: string) => void
}

/** @throws if this machine has no system calls for nftables. */
export function embeddedPolicies({ policy, node, server, dns, log }: EmbeddedPolicyOptions): PolicyAgent {
  const agent = new PolicyAgent({
    server: { ...server, ...policy.client },
    node,
    tables: policyTables(`t8s_policy_${policy.instance}`),
    ownPods: dns === undefined ? [] : [dnsPod(dns)],
    log,
  })
  agent.start()
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
