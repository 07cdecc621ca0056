/** Network policies of a cluster's real node, whose pods the cluster connects itself. */
import { existsSync } from 'node:fs'
import type { ServerAccess } from '../../client/connection/connection.ts'
import type { Pod } from '../../client/kinds.ts'
import { systemCalls } from '../../lib/linux/system-calls.ts'
import { TableSocket } from '../../network/netlink/nftables/table-socket.ts'
import { PolicyTable } from '../../network/policy/nftables/policy-table.ts'
import { PolicyAgent } from '../../network/policy/policy-agent.ts'
import type { KeyPair } from '../pki/key-pair.ts'

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
  const table = (family: 4 | 6): PolicyTable =>
    new PolicyTable(new TableSocket(systemCalls(), family, `t8s_policy_${policy.instance}`), family)
  const agent = new PolicyAgent({
    server: { ...server, ...policy.client },
    node,
    tables: { 4: table(4), ...(existsSync('/proc/net/if_inet6') && { 6: table(6) }) },
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
