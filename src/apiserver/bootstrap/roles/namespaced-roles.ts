/** Roles in the namespaces of the cluster itself. */
import { type PolicyRules, read, rule, writeEvents } from './notation.ts'

/** By namespace and name. */
export const namespacedRoles: PolicyRules = {
  'kube-public/system:controller:bootstrap-signer': [rule(read, 'configmaps'), rule('update', 'configmaps', 'core', 'cluster-info'), writeEvents],
  'kube-system/system::leader-locking-kube-controller-manager': [
    rule('watch', 'configmaps'),
    rule('get update', 'configmaps', 'core', 'kube-controller-manager'),
  ],
  'kube-system/system::leader-locking-kube-scheduler': [rule('watch', 'configmaps'), rule('get update', 'configmaps', 'core', 'kube-scheduler')],
  'kube-system/system:controller:bootstrap-signer': [rule(read, 'secrets')],
  'kube-system/system:controller:cloud-provider': [rule('get list watch create', 'configmaps')],
  'kube-system/system:controller:token-cleaner': [rule('get list watch delete', 'secrets'), writeEvents],
  'kube-system/extension-apiserver-authentication-reader': [rule(read, 'configmaps', 'core', 'extension-apiserver-authentication')],
}
