/** Roles in the system namespaces. */
import { type PolicyRules, read, rule, writeEvents } from './notation.ts'

/** Permissions for leader election. */
const leaderElection = [
  rule('get list watch create update', 'leases', 'coordination.k8s.io'),
  rule('get list watch create update', 'leasecandidates', 'coordination.k8s.io'),
]

/** Keyed by `namespace/name`. */
export const namespacedRoles: PolicyRules = {
  'kube-public/system:controller:bootstrap-signer': [
    rule(read, 'configmaps'),
    rule('update', 'configmaps', 'core', 'cluster-info'),
    writeEvents,
  ],
  'kube-system/system::leader-locking-kube-controller-manager': leaderElection,
  'kube-system/system::leader-locking-kube-scheduler': leaderElection,
  'kube-system/system:controller:bootstrap-signer': [rule(read, 'secrets')],
  'kube-system/system:controller:cloud-provider': [rule('get list watch create', 'configmaps')],
  'kube-system/system:controller:token-cleaner': [rule('get list watch delete', 'secrets'), writeEvents],
  'kube-system/extension-apiserver-authentication-reader': [
    rule(read, 'configmaps', 'core', 'extension-apiserver-authentication'),
  ],
}
