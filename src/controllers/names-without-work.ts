/**
 * Names of upstream's controllers that have nothing to do here, and why. `--controllers` takes them, as they stand in
 * people's command lines; they turn nothing on or off.
 */
const cloud = 'clouds bring a controller manager of their own'
const alpha = 'its API is alpha, and not served'

export const withoutWork: ReadonlyMap<string, string> = new Map([
  [
    'validatingadmissionpolicy-status-controller',
    'the server checks the types of policies itself, and writes their status',
  ],
  ['cloud-node-lifecycle-controller', cloud],
  ['node-route-controller', cloud],
  ['service-lb-controller', cloud],
  ['podgroup-protection-controller', alpha],
  ['resourcepoolstatusrequest-controller', alpha],
  ['storageversion-garbage-collector-controller', 'the server does not publish StorageVersions, which are alpha'],
  [
    'selinux-warning-controller',
    'upstream runs it only where it is named; it looks at labels of SELinux that no node here has',
  ],
])
