/**
 * Cluster roles of controllers that came after 1.28 and run here, by their names without `system:controller:`. They lack the label of those
 * that every cluster of 1.28 has.
 */
import { type PolicyRules, read, rule, writeEvents } from './notation.ts'

export const laterControllerRoles: PolicyRules = {
  'service-cidrs-controller': [
    rule('get list watch patch update', 'servicecidrs', 'networking.k8s.io'),
    rule('patch update', 'servicecidrs/finalizers', 'networking.k8s.io'),
    rule('patch update', 'servicecidrs/status', 'networking.k8s.io'),
    rule(read, 'ipaddresses', 'networking.k8s.io'),
    writeEvents,
  ],
}
