/** Cluster roles for users: `cluster-admin`, and the parts of `admin`, `edit` and `view`. As of Kubernetes 1.36. */
import { type PolicyRules, paths, read, rule, write } from './notation.ts'

export const userFacingRoles: PolicyRules = {
  'cluster-admin': [rule('*', '*', '*'), paths('*', '*')],
  'system:aggregate-to-admin': [
    rule('create', 'localsubjectaccessreviews', 'authorization.k8s.io'),
    rule(`${read} ${write}`, 'rolebindings roles', 'rbac.authorization.k8s.io'),
  ],
  'system:aggregate-to-edit': [
    rule(read, 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
    rule('impersonate', 'serviceaccounts'),
    rule(write, 'pods pods/attach pods/exec pods/portforward pods/proxy'),
    rule('create', 'pods/eviction'),
    rule(
      write,
      'configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets ' +
        'serviceaccounts services services/proxy',
    ),
    rule('create', 'serviceaccounts/token'),
    rule(write, 'events', 'core events.k8s.io'),
    rule(
      write,
      'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale statefulsets ' +
        'statefulsets/scale',
      'apps',
    ),
    rule(write, 'horizontalpodautoscalers', 'autoscaling'),
    rule(write, 'cronjobs jobs', 'batch'),
    rule(
      write,
      'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets ' +
        'replicasets/scale replicationcontrollers/scale',
      'extensions',
    ),
    rule(write, 'poddisruptionbudgets', 'policy'),
    rule(write, 'ingresses networkpolicies', 'networking.k8s.io'),
    rule(`${read} ${write}`, 'leases', 'coordination.k8s.io'),
    rule(write, 'resourceclaims resourceclaimtemplates', 'resource.k8s.io'),
  ],
  'system:aggregate-to-view': [
    rule(
      read,
      'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers ' +
        'replicationcontrollers/scale serviceaccounts services services/status',
    ),
    rule(
      read,
      'bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas ' +
        'resourcequotas/status',
    ),
    rule(read, 'namespaces'),
    rule(read, 'events', 'core events.k8s.io'),
    rule(read, 'endpointslices', 'discovery.k8s.io'),
    rule(
      read,
      'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status ' +
        'replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      'apps',
    ),
    rule(read, 'horizontalpodautoscalers horizontalpodautoscalers/status', 'autoscaling'),
    rule(read, 'cronjobs cronjobs/status jobs jobs/status', 'batch'),
    rule(
      read,
      'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status ' +
        'networkpolicies replicasets replicasets/scale replicasets/status replicationcontrollers/scale',
      'extensions',
    ),
    rule(read, 'poddisruptionbudgets poddisruptionbudgets/status', 'policy'),
    rule(read, 'ingresses ingresses/status networkpolicies', 'networking.k8s.io'),
    rule(read, 'resourceclaims resourceclaims/status resourceclaimtemplates', 'resource.k8s.io'),
  ],
}
