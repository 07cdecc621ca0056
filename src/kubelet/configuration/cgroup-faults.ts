/** Faults of the settings of cgroups, in upstream's words. */
import type { KubeletConfiguration } from './defaults.ts'

const enforcements = [
  'pods',
  'system-reserved',
  'system-reserved-compressible',
  'kube-reserved',
  'kube-reserved-compressible',
  'none',
] as const

export function cgroupFaults(configuration: KubeletConfiguration): string[] {
  const { cgroupDriver, enforceNodeAllocatable } = configuration
  return [
    ...(cgroupDriver === 'cgroupfs' || cgroupDriver === 'systemd'
      ? []
      : [`cgroupDriver (--cgroup-driver) ${cgroupDriver} must be cgroupfs or systemd`]),
    ...(['system', 'kube'] as const).flatMap((kind) => reservedFaults(kind, configuration)),
    ...enforceNodeAllocatable.flatMap((value, i) => enforcementFaults(value, i, configuration)),
  ]
}

const option = 'enforceNodeAllocatable (--enforce-node-allocatable)'

function reservedFaults(kind: 'system' | 'kube', configuration: KubeletConfiguration): string[] {
  const { enforceNodeAllocatable: enforced } = configuration
  const names = [`${kind}-reserved`, `${kind}-reserved-compressible`]
  const quoted = names.map((name) => JSON.stringify(name))
  const used = names.filter((name) => enforced.includes(name))
  const cgroup = kind === 'system' ? configuration.systemReservedCgroup : configuration.kubeReservedCgroup
  return [
    ...(used.length === 2
      ? [`both ${quoted.toReversed().join(' and ')} cannot be specified together in ${option}`]
      : []),
    ...(used.length > 0 && cgroup === ''
      ? [
          `${kind}ReservedCgroup (--${kind}-reserved-cgroup) must be specified when ${quoted.join(' or ')} ` +
            `included in ${option}`,
        ]
      : []),
  ]
}

function enforcementFaults(value: string, i: number, configuration: KubeletConfiguration): string[] {
  const { enforceNodeAllocatable: enforced, cgroupsPerQOS } = configuration
  const quoted = JSON.stringify(value)
  if (enforced.indexOf(value) < i) return [`duplicated enforcements ${quoted} in ${option}`]
  if (value === 'none')
    return enforced.length > 1 ? [`${option} may not contain additional enforcements when "none" is specified`] : []
  if (!enforcements.some((one) => one === value)) {
    const valid = enforcements.map((one) => JSON.stringify(one))
    const list = `${valid.slice(0, -1).join(', ')} or ${valid.at(-1)}`
    return [`option ${quoted} specified for ${option}. Valid options are ${list}`]
  }
  return cgroupsPerQOS
    ? []
    : [`cgroupsPerQOS (--cgroups-per-qos) must be set to true when ${quoted} contained in ${option}`]
}
