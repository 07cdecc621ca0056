/**
 * Rules that components have in 1.36 beyond those of 1.28, as cluster roles of their own, so that those of 1.28 stay as they are. They lack
 * the label of those that every cluster of 1.28 has.
 */
import { type PolicyRules, read, rule } from './notation.ts'

/** By the user whose they are. */
export const laterComponentRoles: PolicyRules = {
  'system:kube-scheduler': [
    rule(read, 'volumeattachments', 'storage.k8s.io'),
    rule(read, 'deviceclasses', 'resource.k8s.io'),
    rule('get list watch create update patch delete', 'resourceclaims', 'resource.k8s.io'),
    rule('update patch', 'resourceclaims/status resourceclaims/binding', 'resource.k8s.io'),
    rule(read, 'resourceslices', 'resource.k8s.io'),
    rule(read, 'devicetaintrules', 'resource.k8s.io'),
    rule('update', 'pods/finalizers'),
  ],
}
