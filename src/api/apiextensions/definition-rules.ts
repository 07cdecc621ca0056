/** What is valid in a CustomResourceDefinition, apart from its schemas (`apiserver/crd/` looks at those). */
import type { V1CustomResourceDefinitionNames, V1CustomResourceDefinitionVersion } from '@kubernetes/client-node'
import type { Wire } from '../../machinery/object.ts'
import { type FieldError, forbiddenField, invalidValue, notSupported, required } from '../../machinery/validation/field-error.ts'
import { all, each, follows, immutable, oneOf, requiredRule } from '../../machinery/validation/field-rules.ts'
import { dns1035Label, dnsSubdomain } from '../../machinery/validation/names.ts'
import { clientConfigRules, reviewVersionRules } from '../admissionregistration/webhook-rules.ts'
import type { Definition } from './custom-resource-definition.ts'
import { versionRules } from './version-rules.ts'

type Names = Wire<V1CustomResourceDefinitionNames>
type Version = Wire<V1CustomResourceDefinitionVersion>

const approval = 'api-approved.kubernetes.io'
const approvalPage = 'https://github.com/kubernetes/enhancements/pull/1111'

/** What is wrong with a definition. */
export function definitionRules(definition: Definition): readonly FieldError[] {
  const { metadata, spec, status } = definition
  const errors: FieldError[] = []
  const wanted = `${spec?.names?.plural ?? ''}.${spec?.group ?? ''}`
  if (metadata.name !== wanted) errors.push(invalidValue('metadata.name', metadata.name ?? '', 'must be spec.names.plural+"."+spec.group'))
  errors.push(...groupRules(spec?.group))
  if (!spec?.scope) errors.push(required('spec.scope'))
  else errors.push(...oneOf(spec.scope, 'spec.scope', ['Cluster', 'Namespaced']))
  errors.push(
    ...versionsRules(spec?.versions ?? []),
    ...namesRules(spec?.names ?? { plural: '', kind: '' }, 'spec.names'),
    ...conversionRules(spec?.conversion),
  )
  errors.push(...storedVersionRules(spec?.versions ?? [], status?.storedVersions))
  errors.push(...approvalRules(definition))
  if (spec?.preserveUnknownFields === true)
    errors.push(
      invalidValue(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  return errors
}

function groupRules(group: string | undefined): readonly FieldError[] {
  const errors = [...requiredRule(group, 'spec.group', dnsSubdomain)]
  if (group && !group.includes('.')) errors.push(invalidValue('spec.group', group, 'should be a domain with at least one dot'))
  return errors
}

function versionsRules(versions: readonly Version[]): readonly FieldError[] {
  const errors: FieldError[] = []
  versions.forEach((version, at) => {
    const path = `spec.versions[${at}]`
    errors.push(...follows(version.name ?? '', `${path}.name`, dns1035Label))
    if (version.deprecationWarning !== undefined && !version.deprecated)
      errors.push(invalidValue(`${path}.deprecationWarning`, version.deprecationWarning, 'can only be set for deprecated versions'))
    errors.push(...versionRules(version, versions.length === 1 ? 'spec' : path))
    if (!version.schema?.openAPIV3Schema) errors.push(required(`${path}.schema.openAPIV3Schema`, 'schemas are required'))
  })
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    errors.push(invalidValue('spec.versions', versions, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1)
    errors.push(invalidValue('spec.versions', versions, 'must have exactly one version marked as storage version'))
  return errors
}

function storedVersionRules(versions: readonly Version[], stored: readonly string[] | undefined): readonly FieldError[] {
  // On create the server has not filled in the status when a client validates; it follows from the versions.
  const list = stored ?? versions.filter(({ storage }) => storage).map(({ name }) => name)
  if (list.length === 0) return [invalidValue('status.storedVersions', list, 'must have at least one stored version')]
  const names = new Set(versions.map(({ name }) => name))
  const errors = list.flatMap((version, at) =>
    names.has(version) ? [] : [invalidValue(`status.storedVersions[${at}]`, version, 'must appear in spec.versions')],
  )
  const storage = versions.findLast((version) => version.storage)?.name
  if (storage && !list.includes(storage)) errors.push(invalidValue('status.storedVersions', list, `must have the storage version ${storage}`))
  return errors
}

const kindRule = (value: string): string[] => dns1035Label(value.toLowerCase()).map((message) => `may have mixed case, but should otherwise match: ${message}`)

function namesRules({ plural, singular, shortNames, kind, listKind, categories }: Names, path: string): readonly FieldError[] {
  const errors = [
    ...requiredRule(plural, `${path}.plural`, dns1035Label),
    ...requiredRule(singular, `${path}.singular`, dns1035Label),
    ...requiredRule(kind, `${path}.kind`, kindRule),
    ...requiredRule(listKind, `${path}.listKind`, kindRule),
    ...each(shortNames, `${path}.shortNames`, (text, at) => follows(text, at, dns1035Label)),
  ]
  if (kind && kind === listKind) errors.push(invalidValue(`${path}.listKind`, listKind, 'kind and listKind may not be the same'))
  return errors.concat(each(categories, `${path}.categories`, (text, at) => follows(text, at, dns1035Label)))
}

function conversionRules(conversion: Definition['spec']['conversion']): readonly FieldError[] {
  const path = 'spec.conversion'
  if (!conversion) return []
  const { strategy, webhook } = conversion
  if (strategy !== 'None' && strategy !== 'Webhook') return [notSupported(`${path}.strategy`, strategy, ['None', 'Webhook'])]
  // Upstream's names of these fields are those of the version that it stores.
  const config = `${path}.webhookClientConfig`
  const versions = `${path}.conversionReviewVersions`
  if (strategy === 'None') {
    const why = 'should not be set when strategy is not set to Webhook'
    return all(webhook?.clientConfig ? [forbiddenField(config, why)] : [], webhook?.conversionReviewVersions?.length ? [forbiddenField(versions, why)] : [])
  }
  return all(
    webhook?.clientConfig ? clientConfigRules(webhook.clientConfig, config) : [required(config, 'required when strategy is set to Webhook')],
    webhook?.conversionReviewVersions?.length ? reviewVersionRules(webhook.conversionReviewVersions, versions) : [required(versions)],
  )
}

/** Groups under `k8s.io` and `kubernetes.io` belong to the community: definitions in them say who approved them. */
function approvalRules({ metadata, spec }: Definition): readonly FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec?.group ?? '')) return []
  const field = `metadata.annotations[${approval}]`
  const value = metadata.annotations?.[approval]
  if (!value) return [required(field, `protected groups must have approval annotation "${approval}", see ${approvalPage}`)]
  if (value.startsWith('unapproved') || URL.canParse(value)) return []
  return [
    invalidValue(
      field,
      value,
      `protected groups must have approval annotation "${approval}" with either a URL or a reason starting with "unapproved", see ${approvalPage}`,
    ),
  ]
}

/** What names a definition's objects stays once they may exist. */
export function definitionUpdateRules({ spec, status }: Definition, { spec: old }: Definition): readonly FieldError[] {
  const errors = [...immutable(spec.group, 'spec.group', old.group), ...immutable(spec.names?.plural, 'spec.names.plural', old.names?.plural)]
  const established = status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True')
  return established
    ? [...errors, ...immutable(spec.scope, 'spec.scope', old.scope), ...immutable(spec.names?.kind, 'spec.names.kind', old.names?.kind)]
    : errors
}
