/**
 * Roles and bindings for machines that become nodes, with the names that kubeadm gives them: a bootstrap token reads
 * `cluster-info` and the configuration of nodes, and gets one client certificate; nodes renew theirs.
 */
import type { PolicyRule, Subject } from '../../authorization/rbac/rule.ts'
import { type NamespacedBinding, systemGroup, systemUser } from './bindings.ts'
import { rule } from './notation.ts'

/** A ClusterRoleBinding of a role with another name. */
export interface ClusterBinding {
  readonly name: string
  readonly role: string
  readonly subjects: readonly Subject[]
}

export interface JoiningRoles {
  readonly clusterRoles: Readonly<Record<string, readonly PolicyRule[]>>
  readonly clusterBindings: readonly ClusterBinding[]
  /** Keyed by `namespace/name`. */
  readonly roles: Readonly<Record<string, readonly PolicyRule[]>>
  readonly bindings: readonly NamespacedBinding[]
}

/** The group of tokens that `t8s token create` makes, as kubeadm's. */
export const joiningGroup = 'system:bootstrappers:kubeadm:default-node-token'

const newNodes = systemGroup(joiningGroup)
const nodes = systemGroup('system:nodes')
const approval = 'system:certificates.k8s.io:certificatesigningrequests'
const readConfigMap = (name: string): PolicyRule => rule('get', 'configmaps', 'core', name)

const services = 't8s:node-services'

/**
 * kube-proxy, network policies and the pod network run in the process of a joined node, as its user. `serviceRules` are
 * the rights that they need beside those of kube-proxy.
 */
export const joiningRoles = (serviceRules: readonly PolicyRule[]): JoiningRoles => ({
  clusterRoles: { 'kubeadm:get-nodes': [rule('get', 'nodes')], [services]: serviceRules },
  clusterBindings: [
    { name: 'kubeadm:get-nodes', role: 'kubeadm:get-nodes', subjects: [newNodes] },
    { name: 'kubeadm:kubelet-bootstrap', role: 'system:node-bootstrapper', subjects: [newNodes] },
    { name: 'kubeadm:node-autoapprove-bootstrap', role: `${approval}:nodeclient`, subjects: [newNodes] },
    { name: 'kubeadm:node-autoapprove-certificate-rotation', role: `${approval}:selfnodeclient`, subjects: [nodes] },
    { name: 't8s:node-proxier', role: 'system:node-proxier', subjects: [nodes] },
    { name: services, role: services, subjects: [nodes] },
  ],
  roles: {
    'kube-public/kubeadm:bootstrap-signer-clusterinfo': [readConfigMap('cluster-info')],
    'kube-system/kubeadm:kubelet-config': [readConfigMap('kubelet-config')],
    'kube-system/kubeadm:nodes-kubeadm-config': [readConfigMap('kubeadm-config')],
  },
  bindings: [
    {
      namespace: 'kube-public',
      name: 'kubeadm:bootstrap-signer-clusterinfo',
      subjects: [systemUser('system:anonymous')],
    },
    { namespace: 'kube-system', name: 'kubeadm:kubelet-config', subjects: [nodes, newNodes] },
    { namespace: 'kube-system', name: 'kubeadm:nodes-kubeadm-config', subjects: [nodes, newNodes] },
  ],
})
