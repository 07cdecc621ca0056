/** PodSecurity's part of `--admission-control-config-file`: what holds where namespaces say nothing, and whom nothing is asked of. */
import { ExplainedError } from '../../../lib/explained-error.ts'
import { duplicate, type FieldError, invalidValue, required } from '../../../machinery/validation/field-error.ts'
import { dnsLabel, dnsSubdomain } from '../../../machinery/validation/names.ts'
import { levelFault, modes, type Policy, parseLevel, parseVersion, versionFault } from './policy.ts'

export interface PodSecurityConfiguration {
  readonly defaults: Policy
  readonly exempt: {
    readonly usernames: ReadonlySet<string>
    readonly namespaces: ReadonlySet<string>
    readonly runtimeClasses: ReadonlySet<string>
  }
}

const group = 'pod-security.admission.config.k8s.io'
const kind = 'PodSecurityConfiguration'

/** Undefined is no configuration. Throws an ExplainedError for one that cannot be. */
export function podSecurityConfiguration(given: unknown): PodSecurityConfiguration {
  const { apiVersion, kind: givenKind, defaults, exemptions, ...unknown } = fieldsOf(given, kind)
  if (given !== undefined && (givenKind !== kind || !['v1', 'v1beta1', 'v1alpha1'].some((version) => apiVersion === `${group}/${version}`))) {
    throw refused(
      `no kind ${JSON.stringify(givenKind ?? '')} is registered for version ${JSON.stringify(apiVersion ?? '')}: it has to be ${kind} of ${group}/v1`,
    )
  }
  const faults: FieldError[] = []
  const levels = fieldsOf(defaults, 'defaults')
  const read = (mode: (typeof modes)[number]) => ({
    level: parsed(levels, mode, 'privileged', parseLevel, levelFault, faults) ?? 'privileged',
    version: parsed(levels, `${mode}-version`, 'latest', parseVersion, versionFault, faults) ?? 'latest',
  })
  const policy = { enforce: read('enforce'), warn: read('warn'), audit: read('audit') }
  const { usernames, namespaces, runtimeClasses, ...others } = fieldsOf(exemptions, 'exemptions')
  const exempt = {
    namespaces: names(namespaces, 'exemptions.namespaces', dnsLabel, faults),
    runtimeClasses: names(runtimeClasses, 'exemptions.runtimeClasses', dnsSubdomain, faults),
    usernames: names(usernames, 'exemptions.usernames', undefined, faults),
  }
  for (const field of modes) for (const name of [field, `${field}-version`]) delete levels[name]
  const strangers = [
    ...Object.keys(unknown),
    ...Object.keys(levels).map((name) => `defaults.${name}`),
    ...Object.keys(others).map((name) => `exemptions.${name}`),
  ]
  if (strangers.length) throw refused(`strict decoding error: ${strangers.map((name) => `unknown field ${JSON.stringify(name)}`).join(', ')}`)
  if (faults.length) {
    const texts = faults.map(({ field, message }) => `${field}: ${message}`)
    throw refused(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
  }
  return { defaults: policy, exempt }
}

const refused = (why: string): ExplainedError =>
  new ExplainedError(`PodSecurity invalid: ${why}; correct its part of the file of --admission-control-config-file`)

/** A copy. */
function fieldsOf(value: unknown, name: string): Record<string, unknown> {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw refused(`${name} has to be an object`)
  return { ...value }
}

function parsed<T>(
  fields: Readonly<Record<string, unknown>>,
  name: string,
  usual: string,
  parse: (text: string) => T | undefined,
  fault: string,
  faults: FieldError[],
): T | undefined {
  const text = fields[name] || usual
  const value = typeof text === 'string' ? parse(text) : undefined
  if (value === undefined) faults.push(invalidValue(`defaults.${name}`, text, fault))
  return value
}

function names(given: unknown, path: string, rule: ((name: string) => string[]) | undefined, faults: FieldError[]): ReadonlySet<string> {
  const seen = new Set<string>()
  if (given === undefined || given === null) return seen
  if (!Array.isArray(given)) throw refused(`${path} has to be a list of names`)
  given.forEach((name: unknown, i) => {
    const at = `${path}[${i}]`
    const wrong = typeof name === 'string' ? (rule?.(name) ?? []) : ['has to be a text']
    if (name === '' && !rule) faults.push(required(at))
    else if (wrong.length) faults.push(invalidValue(at, name, wrong.join(', ')))
    else if (seen.has(String(name))) faults.push(duplicate(at, name))
    seen.add(String(name))
  })
  return seen
}
