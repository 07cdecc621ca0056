/** Checks of privileges: privileged containers, privilege escalation, capabilities. */
import {
  type Check,
  type CheckPod,
  containersOf,
  exceptOnWindows,
  named,
  namesWhere,
  quoted,
  sortedSet,
} from './check.ts'

const privileged: CheckPod = ({ spec }) => {
  const bad = namesWhere(spec, ({ securityContext }) => securityContext?.privileged === true)
  return bad.length
    ? { reason: 'privileged', detail: `${named(bad)} must not set securityContext.privileged=true` }
    : undefined
}

const allowPrivilegeEscalation: CheckPod = ({ spec }) => {
  const bad = namesWhere(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (bad.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${named(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

/** The default capabilities of container runtimes, except NET_RAW. */
const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])

/** Describes the containers that add capabilities which are not `isAllowed`; undefined if there are none. */
function addedBeyond(pod: Parameters<CheckPod>[0], isAllowed: (name: string) => boolean): string | undefined {
  const bad: string[] = []
  const added: string[] = []
  for (const { name, securityContext } of containersOf(pod.spec)) {
    const beyond = (securityContext?.capabilities?.add ?? []).filter((capability) => !isAllowed(capability))
    if (beyond.length === 0) continue
    bad.push(name)
    added.push(...beyond)
  }
  return bad.length
    ? `${named(bad)} must not include ${quoted(sortedSet(added))} in securityContext.capabilities.add`
    : undefined
}

const capabilitiesBaseline: CheckPod = (pod) => {
  const detail = addedBeyond(pod, (name) => defaultCapabilities.has(name))
  return detail ? { reason: 'non-default capabilities', detail } : undefined
}

const capabilitiesRestricted: CheckPod = (pod) => {
  const keeping = namesWhere(pod.spec, ({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'))
  const details = [
    keeping.length ? `${named(keeping)} must set securityContext.capabilities.drop=["ALL"]` : undefined,
    addedBeyond(pod, (name) => name === 'NET_BIND_SERVICE'),
  ].filter((detail) => detail !== undefined)
  return details.length ? { reason: 'unrestricted capabilities', detail: details.join('; ') } : undefined
}

export const privilegeChecks: readonly Check[] = [
  { id: 'privileged', level: 'baseline', revisions: [{ since: 0, check: privileged }] },
  { id: 'capabilities_baseline', level: 'baseline', revisions: [{ since: 0, check: capabilitiesBaseline }] },
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    revisions: [
      { since: 8, check: allowPrivilegeEscalation },
      { since: 25, check: exceptOnWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    overrides: ['capabilities_baseline'],
    revisions: [
      { since: 22, check: capabilitiesRestricted },
      { since: 25, check: exceptOnWindows(capabilitiesRestricted) },
    ],
  },
]
