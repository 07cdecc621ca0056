/** Removed admission plug-ins of Kubernetes: the release that removed each, and its replacement. */

interface Dropped {
  readonly since: string
  readonly instead: string
}

const podSecurity =
  'PodSecurity (on by default) holds pods to the Pod Security Standards that labels of their namespace name'
const policies = 'a ValidatingAdmissionPolicy or a validating webhook can refuse requests for pods/exec and pods/attach'

const droppedPlugins: Readonly<Record<string, Dropped>> = {
  DenyEscalatingExec: { since: '1.21', instead: policies },
  DenyExecOnPrivileged: { since: '1.21', instead: policies },
  GenericAdmissionWebhook: { since: '1.9', instead: 'it is called ValidatingAdmissionWebhook, which is on by default' },
  InitialResources: {
    since: '1.10',
    instead: 'LimitRanger (on by default) fills in requests and limits from LimitRanges',
  },
  Initializers: { since: '1.14', instead: 'MutatingAdmissionWebhook (on by default) lets webhooks change objects' },
  PersistentVolumeLabel: {
    since: '1.31',
    instead: "the cloud's own controller or a mutating webhook labels PersistentVolumes",
  },
  PodPreset: {
    since: '1.20',
    instead: 'a MutatingAdmissionPolicy or a mutating webhook can add to pods what presets did',
  },
  PodSecurityPolicy: { since: '1.25', instead: podSecurity },
  PVCProtection: { since: '1.10', instead: 'it is called StorageObjectInUseProtection, which is on by default' },
  SecurityContextDeny: { since: '1.30', instead: podSecurity },
}

/** The error message for a removed plug-in; undefined for other names. */
export function droppedPlugin(name: string): string | undefined {
  if (!Object.hasOwn(droppedPlugins, name)) return undefined
  const { since, instead } = droppedPlugins[name]!
  return `Kubernetes has dropped it in ${since}: leave it out; ${instead}`
}
