/** Reads a KubeSchedulerConfiguration: decodes it strictly, fills in upstream's defaults, and validates it. */
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { parseDurationMs } from '../../lib/duration.ts'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'
import { decodeConfiguration } from '../../machinery/decode/configuration.ts'
import { duplicate, type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { parseYaml, YamlError } from '../../machinery/yaml.ts'
import type { ExtenderSettings } from '../extenders/settings.ts'
import type { Registry } from '../framework/plugin.ts'
import type { ProfileSettings } from '../profile/profile.ts'
import type { BackOff } from '../queue/queue-entry.ts'
import { withDefaultPlugins } from './default-plugins.ts'
import { extenderSettings } from './extenders.ts'
import { kubeSchedulerConfiguration, type WrittenConfiguration, type WrittenProfile } from './shape.ts'

export interface ElectionSettings {
  readonly leaderElect: boolean
  readonly leaseMs: number
  readonly renewMs: number
  readonly retryMs: number
  /** The name of the lease. */
  readonly name: string
  readonly namespace: string
}

/** A KubeSchedulerConfiguration, parsed and with defaults. */
export interface SchedulerConfiguration {
  readonly profiles: readonly ProfileSettings[]
  readonly extenders: readonly ExtenderSettings[]
  readonly backOff: BackOff
  /** Default: 0, which depends on the size of the cluster. */
  readonly percentageOfNodesToScore: number
  readonly leaderElection: ElectionSettings
  readonly clientConnection: { readonly kubeconfig?: string; readonly qps?: number; readonly burst?: number }
}

/** Reads a file of YAML or JSON. Throws an ExplainedError that names the file. */
export function readConfigurationFile(file: string, registry: Registry): SchedulerConfiguration {
  try {
    const { value, strict } = parseYaml(readFileSync(file, 'utf8'))
    if (strict.length > 0) throw new YamlError(strict.join(', '))
    return parseConfiguration(value, registry)
  } catch (error) {
    throw new ExplainedError(`${file}: ${reasonOf(error)}`, { cause: error })
  }
}

/** The configuration without a file. */
export const defaultConfiguration = (registry: Registry): SchedulerConfiguration => configurationOf({}, registry)

/** Throws an ExplainedError with all errors found. */
export function parseConfiguration(value: unknown, registry: Registry): SchedulerConfiguration {
  try {
    return configurationOf(decodeConfiguration<WrittenConfiguration>(value, kubeSchedulerConfiguration), registry)
  } catch (error) {
    throw error instanceof ExplainedError ? error : new ExplainedError(reasonOf(error), { cause: error })
  }
}

function configurationOf(written: WrittenConfiguration, registry: Registry): SchedulerConfiguration {
  const errors: FieldError[] = []
  const {
    parallelism = 16,
    percentageOfNodesToScore = 0,
    podInitialBackoffSeconds: initial = 1,
    podMaxBackoffSeconds: most = 10,
  } = written
  if (parallelism <= 0)
    errors.push(invalidValue('parallelism', parallelism, 'should be an integer value greater than zero'))
  checkPercentage(percentageOfNodesToScore, 'percentageOfNodesToScore', errors)
  if (initial <= 0) errors.push(invalidValue('podInitialBackoffSeconds', initial, 'must be greater than 0'))
  if (most < initial)
    errors.push(invalidValue('podMaxBackoffSeconds', most, 'must be greater than or equal to PodInitialBackoffSeconds'))
  const configuration: SchedulerConfiguration = {
    profiles: profilesOf(written.profiles, registry, errors),
    extenders: extenderSettings(written.extenders ?? [], errors),
    backOff: { initialMs: initial * 1000, maxMs: most * 1000 },
    percentageOfNodesToScore,
    leaderElection: electionOf(written.leaderElection, errors),
    clientConnection: written.clientConnection ?? {},
  }
  if (errors.length > 0) throw new ExplainedError(errors.map(({ field, message }) => `${field}: ${message}`).join('; '))
  return configuration
}

function checkPercentage(percentage: number, path: string, errors: FieldError[]): void {
  if (percentage < 0 || percentage > 100) errors.push(invalidValue(path, percentage, 'not in valid range [0-100]'))
}

function profilesOf(
  written: readonly WrittenProfile[] | undefined,
  registry: Registry,
  errors: FieldError[],
): ProfileSettings[] {
  const profiles = written?.length ? written : [{}]
  checkQueueSort(profiles, errors)
  const names = new Set<string>()
  return profiles.map((profile, at) => {
    const path = `profiles[${at}]`
    const schedulerName = profile.schedulerName ?? (profiles.length === 1 ? 'default-scheduler' : '')
    if (!schedulerName) errors.push(required(`${path}.schedulerName`))
    else if (names.has(schedulerName)) errors.push(duplicate(`${path}.schedulerName`, schedulerName))
    names.add(schedulerName)
    const { percentageOfNodesToScore } = profile
    checkPercentage(percentageOfNodesToScore ?? 0, `${path}.percentageOfNodesToScore`, errors)
    for (const [point, { enabled = [] }] of Object.entries(profile.plugins ?? {}))
      for (const [index, { name }] of enabled.entries())
        if (!registry.has(name))
          errors.push(unknownPlugin(`${path}.plugins.${point}.enabled[${index}].name`, name, registry))
    return {
      schedulerName,
      percentageOfNodesToScore,
      plugins: withDefaultPlugins(profile.plugins),
      args: argsOf(profile, path, registry, errors),
    }
  })
}

/** All profiles share one queue, so they must sort it in the same way. */
function checkQueueSort(profiles: readonly WrittenProfile[], errors: FieldError[]): void {
  const [first = {}, ...others] = profiles
  const sortOf = ({ plugins }: WrittenProfile) => ({
    enabled: plugins?.queueSort?.enabled ?? [],
    disabled: plugins?.queueSort?.disabled ?? [],
  })
  const { enabled } = sortOf(first)
  const argsOfSort = ({ pluginConfig = [] }: WrittenProfile): unknown =>
    pluginConfig.find(({ name }) => name === enabled[0]?.name)?.args
  const differs = 'has to match for all profiles'
  if (enabled.length > 1)
    errors.push(
      invalidValue(
        'profiles[0].plugins.queueSort.Enabled',
        enabled.length,
        'only one queue sort plugin can be enabled',
      ),
    )
  for (const [at, other] of others.entries()) {
    const path = `profiles[${at + 1}]`
    if (!isDeepStrictEqual(sortOf(other), sortOf(first)))
      errors.push(invalidValue(`${path}.plugins.queueSort`, other.plugins?.queueSort, differs))
    const args = argsOfSort(other)
    if (args !== undefined && !isDeepStrictEqual(args, argsOfSort(first)))
      errors.push(invalidValue(`${path}.pluginConfig.args`, args, differs))
  }
}

const unknownPlugin = (path: string, name: string, registry: Registry): FieldError =>
  invalidValue(path, name, `there is no such plug-in: choose one of ${[...registry.keys()].sort().join(', ')}`)

/** The arguments of plug-ins, with defaults, validated by the plug-ins. */
function argsOf(
  { pluginConfig = [] }: WrittenProfile,
  path: string,
  registry: Registry,
  errors: FieldError[],
): ReadonlyMap<string, unknown> {
  const found = new Map<string, unknown>()
  for (const [at, { name = '', args: given }] of pluginConfig.entries()) {
    const entryPath = `${path}.pluginConfig[${at}]`
    const factory = registry.get(name)
    if (found.has(name)) errors.push(duplicate(entryPath, name))
    else if (!factory) errors.push(unknownPlugin(`${entryPath}.name`, name, registry))
    else if (!factory.args) errors.push(invalidValue(`${entryPath}.args`, given, `${name} takes no arguments`))
    else {
      try {
        const kind = { kind: `${name}Args`, versions: kubeSchedulerConfiguration.versions, fields: factory.args.fields }
        const named = { kind: kind.kind, apiVersion: kind.versions[0], ...(given as object | undefined) }
        const { kind: _, apiVersion: __, ...written } = decodeConfiguration<Record<string, unknown>>(named, kind)
        const args = factory.args.withDefaults(written)
        errors.push(...(factory.args.validate?.(args, `${entryPath}.args`) ?? []))
        found.set(name, args)
      } catch (error) {
        errors.push(invalidValue(`${entryPath}.args`, given, reasonOf(error)))
      }
    }
  }
  return found
}

function electionOf(written: WrittenConfiguration['leaderElection'] = {}, errors: FieldError[]): ElectionSettings {
  const {
    leaderElect = true,
    leaseDuration = '15s',
    renewDeadline = '10s',
    retryPeriod = '2s',
    resourceLock = 'leases',
  } = written
  const durations = { leaseDuration, renewDeadline, retryPeriod }
  const [leaseMs = 0, renewMs = 0, retryMs = 0] = Object.entries(durations).map(([name, text]) => {
    const ms = parseDurationMs(text)
    if (ms === undefined || ms <= 0)
      errors.push(invalidValue(`leaderElection.${name}`, text, 'must be a duration greater than zero, such as 15s'))
    return ms ?? 0
  })
  if (leaseMs <= renewMs)
    errors.push(
      invalidValue('leaderElection.leaseDuration', renewDeadline, 'LeaseDuration must be greater than RenewDeadline'),
    )
  if (renewMs <= retryMs)
    errors.push(
      invalidValue('leaderElection.renewDeadline', retryPeriod, 'RenewDeadline must be greater than RetryPeriod'),
    )
  if (resourceLock !== 'leases')
    errors.push(invalidValue('leaderElection.resourceLock', resourceLock, 'resourceLock value must be "leases"'))
  return {
    leaderElect,
    leaseMs,
    renewMs,
    retryMs,
    name: written.resourceName || 'kube-scheduler',
    namespace: written.resourceNamespace || 'kube-system',
  }
}
