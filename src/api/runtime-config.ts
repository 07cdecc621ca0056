/**
 * `--runtime-config` enables and disables group versions and resources. Keys are `api/all`, `api/ga`, `api/beta`,
 * `api/alpha`, `GROUP/VERSION` and `GROUP/VERSION/RESOURCE` (`v1` for the core group), each with `=true` (the default)
 * or `=false`.
 */
import { ExplainedError } from '../lib/explained-error.ts'
import type { ResourceDefinition } from './resource.ts'

/** The keys of the flag; true if enabled. */
export type RuntimeConfig = ReadonlyMap<string, boolean>

const stages = ['api/all', 'api/ga', 'api/beta', 'api/alpha']

/** Parses the flag's value. Throws an ExplainedError if it is invalid. */
export function parseRuntimeConfig(text: string, all: readonly ResourceDefinition[]): RuntimeConfig {
  const config = new Map<string, boolean>()
  for (const part of text.split(',').map((item) => item.trim())) {
    if (part === '') continue
    const [key = '', value = 'true', ...more] = part.split('=').map((item) => item.trim())
    if (more.length > 0 || (value !== 'true' && value !== 'false' && value !== ''))
      throw new ExplainedError(`--runtime-config: ${JSON.stringify(part)} is not KEY=true or KEY=false`)
    validateKey(key, all)
    config.set(key, value !== 'false')
  }
  if (config.get('api/all') === false && config.size === 1)
    throw new ExplainedError(
      '--runtime-config: api/all=false disables everything; also enable what to serve, for instance ' +
        'api/all=false,v1=true,apps/v1=true',
    )
  return config
}

function validateKey(key: string, all: readonly ResourceDefinition[]): void {
  if (stages.includes(key)) return
  if (key.startsWith('api/') && key !== 'api/v1')
    throw new ExplainedError(
      `--runtime-config: unknown key ${JSON.stringify(key)}; the keys for all groups are ${stages.join(', ')}`,
    )
  const { group, version, plural } = parseKey(key)
  if (!/^v\d+((alpha|beta)\d+)?$/.test(version))
    throw new ExplainedError(
      `--runtime-config: ${JSON.stringify(key)} has no version; write GROUP/VERSION, such as apps/v1, or v1 ` +
        'for the core group',
    )
  const inGroup = all.filter((resource) => resource.group === group)
  if (inGroup.length === 0) throw new ExplainedError(`--runtime-config: unknown API group ${JSON.stringify(group)}`)
  const inVersion = inGroup.filter((resource) => resource.version === version)
  if (plural && !inVersion.some((resource) => resource.plural === plural))
    throw new ExplainedError(`--runtime-config: unknown resource ${JSON.stringify(key)}`)
}

/** Parses a key: `v1`, `api/v1`, `apps/v1`, `apps/v1/deployments` or `v1/pods`. */
function parseKey(key: string): { group: string; version: string; plural?: string } {
  const parts = key.split('/')
  const [first = '', second = '', third] = parts[0] === 'api' ? parts.slice(1) : parts
  if (/^v\d/.test(first)) return { group: '', version: first, ...(second && { plural: second }) }
  return { group: first, version: second, ...(third && { plural: third }) }
}

const stageOf = (version: string): string =>
  version.includes('alpha') ? 'api/alpha' : version.includes('beta') ? 'api/beta' : 'api/ga'

/**
 * Returns the enabled resources. The key of a resource overrides that of its version, that of its stage, and `api/all`,
 * in this order. Enabled group versions without a resource cause `warnings`.
 */
export function enabledResources(
  all: readonly ResourceDefinition[],
  config: RuntimeConfig,
): { enabled: ResourceDefinition[]; warnings: string[] } {
  const settings = new Map<string, boolean>()
  for (const [key, on] of config) {
    const { group, version, plural } = parseKey(key)
    settings.set(stages.includes(key) ? key : [group, version, ...(plural ? [plural] : [])].join('/'), on)
  }
  const enabled = all.filter(
    ({ group, version, plural, enabledByDefault = true }) =>
      settings.get(`${group}/${version}/${plural}`) ??
      settings.get(`${group}/${version}`) ??
      settings.get(stageOf(version)) ??
      settings.get('api/all') ??
      enabledByDefault,
  )
  const served = new Set(enabled.map(({ group, version }) => `${group}/${version}`))
  const warnings = new Set<string>()
  for (const [key, on] of config) {
    if (!on || stages.includes(key)) continue
    const { group, version } = parseKey(key)
    if (!served.has(`${group}/${version}`))
      warnings.add(`Skipping API ${group ? `${group}/${version}` : version} because it has no resources.`)
  }
  for (const { group, version } of all) {
    const gv = `${group}/${version}`
    // The version is enabled, but each of its resources is disabled.
    const isVersionEnabled =
      settings.get(gv) ?? settings.get(stageOf(version)) ?? settings.get('api/all') ?? stageOf(version) === 'api/ga'
    if (isVersionEnabled && !served.has(gv))
      warnings.add(`Skipping API ${group ? gv : version} because it has no resources.`)
  }
  return { enabled, warnings: [...warnings] }
}
