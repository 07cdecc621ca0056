/**
 * Upstream's controllers that are not needed here, with the reason. `--controllers` accepts their names, because
 * existing command lines contain them, and ignores them.
 */
const cloud = 'clouds have their own controller manager'
const alpha = 'its API is alpha and not served'

export const noOpControllers: ReadonlyMap<string, string> = new Map([
  ['validatingadmissionpolicy-status-controller', 'the server type-checks policies and writes their status'],
  ['cloud-node-lifecycle-controller', cloud],
  ['node-route-controller', cloud],
  ['podgroup-protection-controller', alpha],
  ['resourcepoolstatusrequest-controller', alpha],
  ['storageversion-garbage-collector-controller', 'StorageVersions are alpha and not served'],
  ['selinux-warning-controller', 'off by default upstream; it checks SELinux labels, which no node here has'],
])
