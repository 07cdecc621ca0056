/** Checks of access to the host: namespaces, paths, ports, hosts of probes, Windows host processes. */
import {
  type Check,
  type CheckPod,
  containersOf,
  named,
  namesWhere,
  plural,
  quoted,
  setters,
  sortedSet,
} from './check.ts'

const hostNamespaces: CheckPod = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field])
  return shared.length
    ? { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') }
    : undefined
}

const hostPathVolumes: CheckPod = ({ spec }) => {
  const names = (spec.volumes ?? []).flatMap(({ name, hostPath }) => (hostPath ? name : []))
  return names.length
    ? { reason: 'hostPath volumes', detail: `${plural(names.length, 'volume')} ${quoted(names)}` }
    : undefined
}

const hostPorts: CheckPod = ({ spec }) => {
  const bad = namesWhere(spec, ({ ports }) => ports?.some(({ hostPort }) => hostPort) ?? false)
  if (bad.length === 0) return undefined
  const ports = sortedSet(
    containersOf(spec).flatMap((container) =>
      (container.ports ?? []).flatMap(({ hostPort }) => (hostPort ? String(hostPort) : [])),
    ),
  )
  return {
    reason: 'hostPort',
    detail:
      `${named(bad)} ${plural(bad.length, 'uses', 'use')} ${plural(ports.length, 'hostPort')} ` + ports.join(', '),
  }
}

interface Handler {
  readonly httpGet?: { readonly host?: string }
  readonly tcpSocket?: { readonly host?: string }
}

const hostsOf = (handler: Handler | undefined): string[] =>
  [handler?.httpGet?.host, handler?.tcpSocket?.host].flatMap((host) => host || [])

const hostProbesAndHostLifecycle: CheckPod = ({ spec }) => {
  const bad: string[] = []
  const hosts: string[] = []
  for (const { name, livenessProbe, readinessProbe, startupProbe, lifecycle } of containersOf(spec)) {
    const found = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap(
      hostsOf,
    )
    if (found.length === 0) continue
    bad.push(name)
    hosts.push(...found)
  }
  if (bad.length === 0) return undefined
  const names = sortedSet(bad)
  const targets = sortedSet(hosts)
  return {
    reason: 'probe or lifecycle host',
    detail:
      `${named(names)} ${plural(names.length, 'uses', 'use')} ` +
      `${plural(targets.length, 'probe or lifecycle host')} ${quoted(targets)}`,
  }
}

const windowsHostProcess: CheckPod = ({ spec }) => {
  const bad = namesWhere(spec, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true)
  const who = setters(spec.securityContext?.windowsOptions?.hostProcess === true, bad)
  return who.length
    ? {
        reason: 'hostProcess',
        detail: `${who.join(' and ')} must not set securityContext.windowsOptions.hostProcess=true`,
      }
    : undefined
}

export const hostChecks: readonly Check[] = [
  { id: 'hostNamespaces', level: 'baseline', revisions: [{ since: 0, check: hostNamespaces }] },
  { id: 'hostPathVolumes', level: 'baseline', revisions: [{ since: 0, check: hostPathVolumes }] },
  { id: 'hostPorts', level: 'baseline', revisions: [{ since: 0, check: hostPorts }] },
  {
    id: 'hostProbesAndHostLifecycle',
    level: 'baseline',
    revisions: [{ since: 34, check: hostProbesAndHostLifecycle }],
  },
  { id: 'windowsHostProcess', level: 'baseline', revisions: [{ since: 0, check: windowsHostProcess }] },
]
