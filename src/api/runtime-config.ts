/**
 * `--runtime-config`: which group versions and resources are served, beside what is on by default.
 * `api/all`, `api/ga`, `api/beta`, `api/alpha`, `GROUP/VERSION`, `GROUP/VERSION/RESOURCE` (`v1` for the core group),
 * each `=true` or `=false`; the value may be left out and means true.
 */
import type { ResourceDefinition } from './resource.ts'

/** Whether something is on, by the words of the flag. */
export type RuntimeConfig = ReadonlyMap<string, boolean>

const stages = ['api/all', 'api/ga', 'api/beta', 'api/alpha']

/** Reads the flag's value. Throws an Error whose message says what is wrong and what to do. */
export function parseRuntimeConfig(text: string, all: readonly ResourceDefinition[]): RuntimeConfig {
  const config = new Map<string, boolean>()
  for (const part of text.split(',').map((item) => item.trim())) {
    if (part === '') continue
    const [key = '', value = 'true', ...more] = part.split('=').map((item) => item.trim())
    if (more.length > 0 || (value !== 'true' && value !== 'false' && value !== ''))
      throw new Error(`--runtime-config: ${JSON.stringify(part)} is not KEY=true or KEY=false`)
    check(key, all)
    config.set(key, value !== 'false')
  }
  if (config.get('api/all') === false && config.size === 1)
    throw new Error(
      '--runtime-config: api/all=false turns everything off; name what to serve as well, for instance ' +
        'api/all=false,v1=true,apps/v1=true',
    )
  return config
}

function check(key: string, all: readonly ResourceDefinition[]): void {
  if (stages.includes(key)) return
  if (key.startsWith('api/') && key !== 'api/v1')
    throw new Error(
      `--runtime-config: unknown key ${JSON.stringify(key)}; the keys for all groups are ${stages.join(', ')}`,
    )
  const { group, version, plural } = partsOf(key)
  if (!/^v\d+((alpha|beta)\d+)?$/.test(version))
    throw new Error(
      `--runtime-config: ${JSON.stringify(key)} names no version; write GROUP/VERSION, such as apps/v1, or v1 ` +
        'for the core group',
    )
  const inGroup = all.filter((resource) => resource.group === group)
  if (inGroup.length === 0) throw new Error(`--runtime-config: there is no API group ${JSON.stringify(group)}`)
  const inVersion = inGroup.filter((resource) => resource.version === version)
  if (plural && !inVersion.some((resource) => resource.plural === plural))
    throw new Error(`--runtime-config: there is no resource ${JSON.stringify(key)}`)
}

/** `v1`, `api/v1`, `apps/v1`, `apps/v1/deployments`, `v1/pods`. */
function partsOf(key: string): { group: string; version: string; plural?: string } {
  const parts = key.split('/')
  const [first = '', second = '', third] = parts[0] === 'api' ? parts.slice(1) : parts
  if (/^v\d/.test(first)) return { group: '', version: first, ...(second && { plural: second }) }
  return { group: first, version: second, ...(third && { plural: third }) }
}

const stageOf = (version: string): string =>
  version.includes('alpha') ? 'api/alpha' : version.includes('beta') ? 'api/beta' : 'api/ga'

/**
 * What is on: a resource's own word counts before its version's, that before its stage's, and `api/all` counts last.
 * Group versions that were asked for and have no resource are told in `warnings`.
 */
export function enabledResources(
  all: readonly ResourceDefinition[],
  config: RuntimeConfig,
): { enabled: ResourceDefinition[]; warnings: string[] } {
  const words = new Map<string, boolean>()
  for (const [key, on] of config) {
    const { group, version, plural } = partsOf(key)
    words.set(stages.includes(key) ? key : [group, version, ...(plural ? [plural] : [])].join('/'), on)
  }
  const enabled = all.filter(
    ({ group, version, plural, onByDefault = true }) =>
      words.get(`${group}/${version}/${plural}`) ??
      words.get(`${group}/${version}`) ??
      words.get(stageOf(version)) ??
      words.get('api/all') ??
      onByDefault,
  )
  const served = new Set(enabled.map(({ group, version }) => `${group}/${version}`))
  const warnings = new Set<string>()
  for (const [key, on] of config) {
    if (!on || stages.includes(key)) continue
    const { group, version } = partsOf(key)
    if (!served.has(`${group}/${version}`))
      warnings.add(`Skipping API ${group ? `${group}/${version}` : version} because it has no resources.`)
  }
  for (const { group, version } of all) {
    const gv = `${group}/${version}`
    // Every resource of a version that is on was turned off one by one.
    const wanted = words.get(gv) ?? words.get(stageOf(version)) ?? words.get('api/all') ?? stageOf(version) === 'api/ga'
    if (wanted && !served.has(gv)) warnings.add(`Skipping API ${group ? gv : version} because it has no resources.`)
  }
  return { enabled, warnings: [...warnings] }
}
