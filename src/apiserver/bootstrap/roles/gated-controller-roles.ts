/**
 * Cluster roles of controllers whose kinds are off by default: a role exists only while its kind is served.
 */
import type { PolicyRule } from '../../authorization/rbac/rule.ts'
import { rule, writeEvents } from './notation.ts'

interface GatedRole {
  /** The kind that the controller reconciles. */
  readonly group: string
  readonly plural: string
  readonly rules: readonly PolicyRule[]
}

/** By name without `system:controller:`. */
export const gatedControllerRoles: Readonly<Record<string, GatedRole>> = {
  'kube-apiserver-serving-clustertrustbundle-publisher': {
    group: 'certificates.k8s.io',
    plural: 'clustertrustbundles',
    rules: [
      rule('attest', 'signers', 'certificates.k8s.io', 'kubernetes.io/kube-apiserver-serving'),
      rule('create update delete list watch', 'clustertrustbundles', 'certificates.k8s.io'),
      writeEvents,
    ],
  },
  podcertificaterequestcleaner: {
    group: 'certificates.k8s.io',
    plural: 'podcertificaterequests',
    rules: [rule('get list watch delete', 'podcertificaterequests', 'certificates.k8s.io')],
  },
  'storage-version-migrator-controller': {
    group: 'storagemigration.k8s.io',
    plural: 'storageversionmigrations',
    rules: [
      rule('list watch create patch', '*', '*'),
      rule('update', 'storageversionmigrations/status', 'storagemigration.k8s.io'),
    ],
  },
}
