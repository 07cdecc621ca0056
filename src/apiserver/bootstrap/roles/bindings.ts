/** Subjects of the bootstrap roles. */
import type { Subject } from '../../authorization/rbac/rule.ts'

const apiGroup = 'rbac.authorization.k8s.io'
/** The user of a system component. */
export const systemUser = (name: string): Subject => ({ kind: 'User', apiGroup, name })
/** A group of users. */
export const systemGroup = (name: string): Subject => ({ kind: 'Group', apiGroup, name })
/** A service account in kube-system. */
export const systemAccount = (name: string): Subject => ({ kind: 'ServiceAccount', namespace: 'kube-system', name })

/**
 * Subjects of ClusterRoleBindings by the name of the role, which is the name of the binding too. Bindings of
 * controllers are added elsewhere.
 */
export const clusterRoleSubjects: Readonly<Record<string, readonly Subject[]>> = {
  'cluster-admin': [systemGroup('system:masters')],
  'system:basic-user': [systemGroup('system:authenticated')],
  'system:discovery': [systemGroup('system:authenticated')],
  'system:kube-controller-manager': [systemUser('system:kube-controller-manager')],
  'system:kube-dns': [systemAccount('kube-dns')],
  'system:kube-scheduler': [systemUser('system:kube-scheduler')],
  'system:monitoring': [systemGroup('system:monitoring')],
  // The Node authorizer authorizes nodes: this binding exists for administrators who add subjects.
  'system:node': [],
  'system:node-proxier': [systemUser('system:kube-proxy')],
  'system:public-info-viewer': [systemGroup('system:authenticated'), systemGroup('system:unauthenticated')],
  'system:service-account-issuer-discovery': [systemGroup('system:serviceaccounts')],
  'system:volume-scheduler': [systemUser('system:kube-scheduler')],
}

/** A RoleBinding. */
export interface NamespacedBinding {
  readonly namespace: string
  readonly name: string
  /** A Role in the same namespace. Default: the name of the binding. */
  readonly role?: string
  readonly subjects: readonly Subject[]
}

const components = [systemUser('system:kube-controller-manager'), systemUser('system:kube-scheduler')]

export const namespacedBindings: readonly NamespacedBinding[] = [
  {
    namespace: 'kube-public',
    name: 'system:controller:bootstrap-signer',
    subjects: [systemAccount('bootstrap-signer')],
  },
  {
    namespace: 'kube-system',
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    subjects: components,
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-controller-manager',
    subjects: [
      systemUser('system:kube-controller-manager'),
      systemAccount('kube-controller-manager'),
      systemAccount('leader-election-controller'),
    ],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-scheduler',
    subjects: [systemUser('system:kube-scheduler'), systemAccount('kube-scheduler')],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:bootstrap-signer',
    subjects: [systemAccount('bootstrap-signer')],
  },
  { namespace: 'kube-system', name: 'system:controller:cloud-provider', subjects: [systemAccount('cloud-provider')] },
  { namespace: 'kube-system', name: 'system:controller:token-cleaner', subjects: [systemAccount('token-cleaner')] },
]
