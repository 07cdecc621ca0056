/**
 * PodSecurity's section of `--admission-control-config-file`: the defaults for namespaces without labels, and
 * exemptions.
 */
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'
import { decodeConfiguration, listOf, structOf, text } from '../../../../machinery/decode/configuration.ts'
import { duplicate, type FieldError, invalidValue, required } from '../../../../machinery/validation/field-error.ts'
import { dnsLabel, dnsSubdomain } from '../../../../machinery/validation/names.ts'
import { type LevelVersion, levelFault, modes, type Policy, parseLevel, parseVersion, versionFault } from './policy.ts'

export interface PodSecurityConfiguration {
  readonly defaults: Policy
  readonly exempt: {
    readonly usernames: ReadonlySet<string>
    readonly namespaces: ReadonlySet<string>
    readonly runtimeClasses: ReadonlySet<string>
  }
}

interface Fields {
  readonly defaults?: Readonly<Record<string, string>>
  readonly exemptions?: {
    readonly usernames?: readonly string[]
    readonly namespaces?: readonly string[]
    readonly runtimeClasses?: readonly string[]
  }
}

const shape = {
  kind: 'PodSecurityConfiguration',
  versions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => `pod-security.admission.config.k8s.io/${version}`),
  fields: {
    defaults: structOf(
      'PodSecurityDefaults',
      Object.fromEntries(modes.flatMap((mode) => [mode, `${mode}-version`].map((name) => [name, text]))),
    ),
    exemptions: structOf('PodSecurityExemptions', {
      usernames: listOf(text),
      namespaces: listOf(text),
      runtimeClasses: listOf(text),
    }),
  },
}

/** Undefined means no configuration. Throws an ExplainedError for an invalid one. */
export function podSecurityConfiguration(given: unknown): PodSecurityConfiguration {
  const { defaults = {}, exemptions = {} } = given === undefined ? {} : decoded(given)
  const faults: FieldError[] = []
  const read = (mode: (typeof modes)[number]): LevelVersion => {
    const level = defaults[mode] || 'privileged'
    const version = defaults[`${mode}-version`] || 'latest'
    if (!parseLevel(level)) faults.push(invalidValue(`defaults.${mode}`, level, levelFault))
    if (parseVersion(version) === undefined)
      faults.push(invalidValue(`defaults.${mode}-version`, version, versionFault))
    return { level: parseLevel(level) ?? 'restricted', version: parseVersion(version) ?? 'latest' }
  }
  const policy = { enforce: read('enforce'), warn: read('warn'), audit: read('audit') }
  const exempt = {
    namespaces: names(exemptions.namespaces, 'exemptions.namespaces', dnsLabel, faults),
    runtimeClasses: names(exemptions.runtimeClasses, 'exemptions.runtimeClasses', dnsSubdomain, faults),
    usernames: names(exemptions.usernames, 'exemptions.usernames', undefined, faults),
  }
  if (faults.length) {
    const texts = faults.map(({ field, message }) => `${field}: ${message}`)
    throw refused(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
  }
  return { defaults: policy, exempt }
}

function decoded(given: unknown): Fields {
  try {
    return decodeConfiguration<Fields>(given, shape)
  } catch (error) {
    throw refused(reasonOf(error))
  }
}

const refused = (why: string): ExplainedError =>
  new ExplainedError(`PodSecurity invalid: ${why}; correct its part of the file of --admission-control-config-file`)

function names(
  given: readonly string[] = [],
  path: string,
  rule: ((name: string) => string[]) | undefined,
  faults: FieldError[],
): ReadonlySet<string> {
  const unique = new Set<string>()
  given.forEach((name, i) => {
    const at = `${path}[${i}]`
    const wrong = rule?.(name) ?? []
    if (name === '' && !rule) faults.push(required(at))
    else if (wrong.length) faults.push(invalidValue(at, name, wrong.join(', ')))
    else if (unique.has(name)) faults.push(duplicate(at, name))
    unique.add(name)
  })
  return unique
}
