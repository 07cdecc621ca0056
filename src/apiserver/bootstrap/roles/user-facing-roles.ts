/** Cluster roles for people: `cluster-admin`, and what `admin`, `edit` and `view` are put together from. */
import { type PolicyRules, paths, read, rule, write } from './notation.ts'

export const userFacingRoles: PolicyRules = {
  'cluster-admin': [rule('*', '*', '*'), paths('*', '*')],
  'system:aggregate-to-admin': [
    rule('create', 'localsubjectaccessreviews', 'authorization.k8s.io'),
    rule(`${read} ${write}`, 'rolebindings roles', 'rbac.authorization.k8s.io'),
  ],
  'system:aggregate-to-edit': [
    rule(write, 'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets serviceaccounts services services/proxy'),
    rule(write, 'pods pods/attach pods/exec pods/portforward pods/proxy'),
    rule(read, 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
    rule('create', 'pods/eviction'),
    rule('impersonate', 'serviceaccounts'),
    rule('create', 'serviceaccounts/token'),
    rule(write, 'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets statefulsets/scale', 'apps'),
    rule(write, 'horizontalpodautoscalers', 'autoscaling'),
    rule(write, 'cronjobs jobs', 'batch'),
    rule(`${read} ${write}`, 'leases', 'coordination.k8s.io'),
    rule(
      write,
      'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets replicasets/scale replicationcontrollers/scale',
      'extensions',
    ),
    rule(write, 'ingresses networkpolicies', 'networking.k8s.io'),
    rule(write, 'poddisruptionbudgets', 'policy'),
  ],
  'system:aggregate-to-view': [
    rule(read, 'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas resourcequotas/status'),
    rule(
      read,
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
    ),
    rule(read, 'namespaces'),
    rule(
      read,
      'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      'apps',
    ),
    rule(read, 'horizontalpodautoscalers horizontalpodautoscalers/status', 'autoscaling'),
    rule(read, 'cronjobs cronjobs/status jobs jobs/status', 'batch'),
    rule(read, 'endpointslices', 'discovery.k8s.io'),
    rule(
      read,
      'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      'extensions',
    ),
    rule(read, 'ingresses ingresses/status networkpolicies', 'networking.k8s.io'),
    rule(read, 'poddisruptionbudgets poddisruptionbudgets/status', 'policy'),
  ],
}
