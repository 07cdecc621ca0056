/**
 * Cluster roles of controllers that came after 1.28, as upstream has them in 1.36, and what older controllers were given since, by their
 * names without `system:controller:`. They lack the label of those that every cluster of 1.28 has.
 */
import { type PolicyRules, read, rule, writeEvents } from './notation.ts'

export const laterControllerRoles: PolicyRules = {
  'device-taint-eviction-controller': [
    rule('get list watch delete', 'pods'),
    rule('update patch', 'pods/status'),
    rule(read, 'resourceclaims', 'resource.k8s.io'),
    rule(read, 'resourceslices', 'resource.k8s.io'),
    rule(read, 'deviceclasses', 'resource.k8s.io'),
    rule(read, 'devicetaintrules', 'resource.k8s.io'),
    rule('update patch', 'devicetaintrules/status', 'resource.k8s.io'),
    writeEvents,
  ],
  'kube-apiserver-serving-clustertrustbundle-publisher': [
    rule('attest', 'signers', 'certificates.k8s.io', 'kubernetes.io/kube-apiserver-serving'),
    rule('create update delete list watch', 'clustertrustbundles', 'certificates.k8s.io'),
    writeEvents,
  ],
  'legacy-service-account-token-cleaner': [
    rule('get', 'configmaps', 'core', 'kube-apiserver-legacy-service-account-token-tracking'),
    rule('patch delete', 'secrets'),
  ],
  podcertificaterequestcleaner: [rule('get list watch delete', 'podcertificaterequests', 'certificates.k8s.io')],
  'resource-claim-controller': [
    rule(read, 'pods'),
    rule('update', 'pods/finalizers'),
    rule('get list watch create delete', 'resourceclaims', 'resource.k8s.io'),
    rule('update patch', 'resourceclaims resourceclaims/status resourceclaims/binding', 'resource.k8s.io'),
    rule('update patch', 'pods/status'),
    writeEvents,
  ],
  'selinux-warning-controller': [
    writeEvents,
    rule(read, 'persistentvolumes'),
    rule(read, 'persistentvolumeclaims'),
    rule(read, 'pods'),
    rule(read, 'csidrivers', 'storage.k8s.io'),
  ],
  'service-cidrs-controller': [
    rule('get list watch update patch', 'servicecidrs', 'networking.k8s.io'),
    rule('update patch', 'servicecidrs/finalizers', 'networking.k8s.io'),
    rule('update patch', 'servicecidrs/status', 'networking.k8s.io'),
    rule(read, 'ipaddresses', 'networking.k8s.io'),
    writeEvents,
  ],
  'storage-version-migrator-controller': [
    rule('list watch create patch', '*', '*'),
    rule('update', 'storageversionmigrations/status', 'storagemigration.k8s.io'),
  ],
  'validatingadmissionpolicy-status-controller': [
    rule(read, 'validatingadmissionpolicies', 'admissionregistration.k8s.io'),
    rule('get update patch', 'validatingadmissionpolicies/status', 'admissionregistration.k8s.io'),
    writeEvents,
  ],
  'volumeattributesclass-protection-controller': [
    rule(read, 'persistentvolumeclaims'),
    rule(read, 'persistentvolumes'),
    rule('get list watch update', 'volumeattributesclasses', 'storage.k8s.io'),
    writeEvents,
  ],
}

/** Beyond what their roles say. Most is watching, which informers do now instead of listing first. */
export const rightsOfControllersSince: PolicyRules = {
  'cronjob-controller': [rule('watch', 'pods')],
  'disruption-controller': [rule('update', 'pods/status')],
  'endpoint-controller': [rule('watch', 'endpoints')],
  'endpointslice-controller': [rule('watch', 'endpointslices', 'discovery.k8s.io')],
  'endpointslicemirroring-controller': [rule('watch', 'endpointslices', 'discovery.k8s.io')],
  'horizontal-pod-autoscaler': [
    rule('watch', 'pods'),
    rule('watch', 'pods', 'metrics.k8s.io'),
    rule('watch', '*', 'custom.metrics.k8s.io'),
    rule('watch', '*', 'external.metrics.k8s.io'),
  ],
  'namespace-controller': [rule('watch', '*', '*')],
  'node-controller': [rule('watch', 'nodes'), rule('watch', 'pods')],
  'persistent-volume-binder': [rule('watch', 'nodes')],
  'pod-garbage-collector': [rule('watch', 'nodes')],
  'statefulset-controller': [rule('list watch', 'persistentvolumeclaims'), rule('update', 'pods/finalizers')],
}
