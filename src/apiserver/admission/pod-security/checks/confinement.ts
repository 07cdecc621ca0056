/** Checks of the confinement of containers: AppArmor, SELinux, the masks of /proc, sysctls. */
import { goQuote } from '../../../../lib/go/go-quote.ts'
import {
  type Check,
  type CheckPod,
  containersOf,
  exceptInUserNamespace,
  named,
  plural,
  quoted,
  setters,
  sortedSet,
} from './check.ts'

const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/'
const profileTypes: ReadonlySet<string> = new Set(['RuntimeDefault', 'Localhost'])

const appArmorProfile: CheckPod = ({ annotations, spec }) => {
  const ofPod = spec.securityContext?.appArmorProfile?.type
  const isPodBad = spec.securityContext?.appArmorProfile !== undefined && !profileTypes.has(ofPod ?? '')
  const bad: string[] = []
  const types: string[] = isPodBad ? [ofPod ?? ''] : []
  for (const { name, securityContext } of containersOf(spec)) {
    if (!securityContext?.appArmorProfile || profileTypes.has(securityContext.appArmorProfile.type)) continue
    bad.push(name)
    types.push(securityContext.appArmorProfile.type)
  }
  const noted = Object.entries(annotations)
    .filter(
      ([key, value]) =>
        key.startsWith(appArmorAnnotation) &&
        value !== '' &&
        value !== 'runtime/default' &&
        !value.startsWith('localhost/'),
    )
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .sort()
  const who = [...setters(isPodBad, bad), ...(noted.length ? [plural(noted.length, 'annotation')] : [])]
  if (who.length === 0) return undefined
  const values = [...sortedSet(types), ...noted]
  return {
    reason: plural(values.length, 'forbidden AppArmor profile'),
    detail: `${who.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']

/** The type must be one of `allowed`; user and role must not be set. */
const seLinuxOptions =
  (allowed: readonly string[]): CheckPod =>
  ({ spec }) => {
    const types: string[] = []
    let isUserSet = false
    let isRoleSet = false
    const isBad = (
      options: { readonly type?: string; readonly user?: string; readonly role?: string } | undefined,
    ): boolean => {
      if (!options) return false
      const { type = '', user, role } = options
      const isTypeBad = !allowed.includes(type)
      if (isTypeBad) types.push(type)
      isUserSet ||= Boolean(user)
      isRoleSet ||= Boolean(role)
      return isTypeBad || Boolean(user) || Boolean(role)
    }
    const isPodBad = isBad(spec.securityContext?.seLinuxOptions)
    const bad = containersOf(spec).flatMap(({ name, securityContext }) =>
      isBad(securityContext?.seLinuxOptions) ? name : [],
    )
    const who = setters(isPodBad, bad)
    if (who.length === 0) return undefined
    const distinct = sortedSet(types)
    const what = [
      ...(distinct.length ? [`${plural(distinct.length, 'type')} ${quoted(distinct)}`] : []),
      ...(isUserSet ? ['user may not be set'] : []),
      ...(isRoleSet ? ['role may not be set'] : []),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${who.join(' and ')} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    }
  }

const procMount: CheckPod = ({ spec }) => {
  const bad: string[] = []
  const types: string[] = []
  for (const { name, securityContext } of containersOf(spec)) {
    const type = securityContext?.procMount ?? 'Default'
    if (type === 'Default') continue
    bad.push(name)
    types.push(type)
  }
  return bad.length
    ? {
        reason: 'procMount',
        detail: `${named(bad)} must not set securityContext.procMount to ${quoted(sortedSet(types))}`,
      }
    : undefined
}

const sysctls =
  (...safe: readonly string[]): CheckPod =>
  ({ spec }) => {
    const bad = (spec.securityContext?.sysctls ?? []).flatMap(({ name }) => (safe.includes(name) ? [] : name))
    return bad.length ? { reason: 'forbidden sysctls', detail: bad.join(', ') } : undefined
  }

const firstSysctls = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const sysctls27 = [...firstSysctls, 'net.ipv4.ip_local_reserved_ports']
const sysctls29 = [
  ...sysctls27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const sysctls32 = [...sysctls29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']

export const confinementChecks: readonly Check[] = [
  { id: 'appArmorProfile', level: 'baseline', revisions: [{ since: 0, check: appArmorProfile }] },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    revisions: [
      { since: 0, check: seLinuxOptions(seLinuxTypes) },
      { since: 31, check: seLinuxOptions([...seLinuxTypes, 'container_engine_t']) },
    ],
  },
  {
    id: 'procMount',
    level: 'baseline',
    revisions: [
      { since: 0, check: procMount },
      { since: 35, check: exceptInUserNamespace(procMount) },
    ],
  },
  {
    id: 'procMount_restricted',
    level: 'restricted',
    overrides: ['procMount'],
    revisions: [{ since: 35, check: procMount }],
  },
  {
    id: 'sysctls',
    level: 'baseline',
    revisions: [
      { since: 0, check: sysctls(...firstSysctls) },
      { since: 27, check: sysctls(...sysctls27) },
      { since: 29, check: sysctls(...sysctls29) },
      { since: 32, check: sysctls(...sysctls32) },
    ],
  },
]
