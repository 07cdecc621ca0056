/** Validation of CustomResourceDefinitions. `machinery/structural-schema/` validates their schemas. */
import { definitionFaults, SchemaRules, SharedRules } from '../../cel/schema-rules/index.ts'
import { jsonEqual } from '../../machinery/fields/json.ts'
import {
  anySchema,
  type SchemaChecks,
  type SchemaSource,
  structuralFaults,
} from '../../machinery/structural-schema/index.ts'
import { type FieldError, invalidValue, required } from '../../machinery/validation/field-error.ts'
import { each, immutable, oneOf } from '../../machinery/validation/field-rules.ts'
import { dns1035Label, dnsSubdomain } from '../../machinery/validation/names.ts'
import { conversionRules } from './conversion-rules.ts'
import { type Definition, type DefinitionVersion, hasCondition } from './definition.ts'
import { joinedErrors, nameRules, requiredNames } from './name-rules.ts'
import { columnRules, deprecationRules, scaleRules, selectableFieldRules } from './version-rules.ts'

const approval = 'api-approved.kubernetes.io'
const approvalPage = 'https://github.com/kubernetes/enhancements/pull/1111'

/** Validates a new definition. */
export function definitionRules(definition: Definition): readonly FieldError[] {
  const { metadata, spec } = definition
  const expectedName = `${spec?.names?.plural ?? ''}.${spec?.group ?? ''}`
  const misnamed =
    metadata.name === expectedName
      ? []
      : [invalidValue('metadata.name', metadata.name ?? '', 'must be spec.names.plural+"."+spec.group')]
  return [
    ...misnamed,
    ...specRules(definition),
    ...statusRules(definition),
    ...approvalRules(definition),
    ...preservationRules(definition),
  ]
}

/** Validates an update. Group, plural and, once established, kind and scope are immutable: objects may exist. */
export function definitionUpdateRules(definition: Definition, old: Definition): readonly FieldError[] {
  const { spec } = definition
  const faults = [...specRules(definition, old)]
  if (hasCondition(old, 'Established'))
    faults.push(
      ...immutable(spec.scope, 'spec.scope', old.spec.scope),
      ...immutable(spec.names?.kind, 'spec.names.kind', old.spec.names?.kind),
    )
  faults.push(
    ...immutable(spec.group, 'spec.group', old.spec.group),
    ...immutable(spec.names?.plural, 'spec.names.plural', old.spec.names?.plural),
  )
  return [
    ...faults,
    ...statusRules(definition),
    ...approvalRules(definition, old),
    ...preservationRules(definition, old),
  ]
}

/** Validates a status write. The next write of the spec checks storedVersions against it. */
export const definitionStatusRules = ({ status }: Definition): readonly FieldError[] =>
  nameRules(status?.acceptedNames ?? noNames, 'status.acceptedNames')

const noNames = { plural: '', kind: '' }

function specRules({ spec }: Definition, old?: Definition): readonly FieldError[] {
  const versions = spec?.versions ?? []
  const names = spec?.names ?? noNames
  const { perVersion, hoisted } = versionFaults(versions, old)
  const faults: FieldError[] = [
    ...groupRules(spec?.group),
    ...oneOf(spec?.scope, 'spec.scope', ['Cluster', 'Namespaced'], 'needed'),
  ]
  faults.push(...missingSchemas(versions, old))
  const preserves = spec?.preserveUnknownFields === true
  if (preserves && versions.some((version) => hasDefaults(version)))
    faults.push(
      invalidValue('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'),
    )
  faults.push(...perVersion)
  if (new Set(versions.map(({ name }) => name)).size < versions.length)
    faults.push(invalidValue('spec.versions', versions, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1)
    faults.push(invalidValue('spec.versions', versions, 'must have exactly one version marked as storage version'))
  faults.push(...requiredNames(names, 'spec.names'), ...nameRules(names, 'spec.names'), ...hoisted)
  const strategy = spec?.conversion?.strategy
  if (preserves && strategy && strategy !== 'None')
    faults.push(
      invalidValue('spec.conversion.strategy', strategy, 'must be None if spec.preserveUnknownFields is true'),
    )
  return [...faults, ...conversionRules(spec?.conversion, old)]
}

function groupRules(group: string | undefined): readonly FieldError[] {
  if (!group) return [required('spec.group')]
  const faults = joinedErrors(group, 'spec.group', dnsSubdomain)
  return faults.length > 0 || group.includes('.')
    ? faults
    : [invalidValue('spec.group', group, 'should be a domain with at least one dot')]
}

const schemaOf = ({ schema }: DefinitionVersion): SchemaSource | undefined =>
  schema?.openAPIV3Schema as SchemaSource | undefined

const hasDefaults = (version: DefinitionVersion): boolean => {
  const schema = schemaOf(version)
  return schema !== undefined && anySchema(schema, ({ default: initial }) => initial !== undefined && initial !== null)
}

function missingSchemas(versions: readonly DefinitionVersion[], old: Definition | undefined): readonly FieldError[] {
  // A definition without schemas, from v1beta1, may omit those of versions that are not served.
  const all = (old?.spec?.versions ?? []).every((version) => schemaOf(version))
  return each(versions, 'spec.versions', (version, path) => {
    if (schemaOf(version) || (!all && !version.served)) return []
    return [required(`${path}.schema.openAPIV3Schema`, all ? undefined : 'because otherwise all fields are pruned')]
  })
}

/** A part of a version, with its rules. */
interface VersionPart {
  of(version: DefinitionVersion): unknown
  /** `isShared`: all versions have the same part. */
  faults(version: DefinitionVersion, path: string, isShared: boolean): readonly FieldError[]
}

/** Upstream reports errors in fields that all versions share below `spec`, also if there is only one version. */
function versionFaults(
  versions: readonly DefinitionVersion[],
  old: Definition | undefined,
): { readonly perVersion: FieldError[]; readonly hoisted: FieldError[] } {
  const [first] = versions
  const parts = versionParts(versions, old)
  const shared = parts.filter(({ of }) => versions.every((version) => jsonEqual(of(version), of(first!))))
  const own = parts.filter((part) => !shared.includes(part))
  const perVersion = versions.flatMap((version, at) => {
    const path = `spec.versions[${at}]`
    return [
      ...joinedErrors(version.name ?? '', `${path}.name`, dns1035Label),
      ...deprecationRules(version, path),
      ...own.flatMap((part) => part.faults(version, path, false)),
    ]
  })
  const hoisted = first ? shared.flatMap((part) => part.faults(first, 'spec', true)) : []
  return { perVersion, hoisted }
}

function versionParts(versions: readonly DefinitionVersion[], old: Definition | undefined): readonly VersionPart[] {
  const schemaFaults = schemaRules(old)
  return [
    {
      of: ({ schema }) => schema,
      faults: (version, path, isShared) =>
        isShared
          ? schemaFaults(version, `${path}.validation`, versions.some(hasStatus))
          : schemaFaults(version, `${path}.schema`, hasStatus(version)),
    },
    {
      of: ({ subresources }) => subresources,
      faults: ({ subresources }, path) =>
        subresources?.scale ? scaleRules(subresources.scale, `${path}.subresources.scale`) : [],
    },
    {
      of: ({ additionalPrinterColumns }) => additionalPrinterColumns,
      faults: ({ additionalPrinterColumns }, path) =>
        each(additionalPrinterColumns, `${path}.additionalPrinterColumns`, columnRules),
    },
    {
      of: ({ selectableFields }) => selectableFields,
      faults: (version, path) =>
        selectableFieldRules(version.selectableFields, schemaOf(version), `${path}.selectableFields`),
    },
  ]
}

const hasStatus = ({ subresources }: DefinitionVersion): boolean => (subresources?.status ?? undefined) !== undefined

/** Returns the rules of schemas; versions share their compiled CEL rules. */
function schemaRules(
  old: Definition | undefined,
): (version: DefinitionVersion, path: string, status: boolean) => readonly FieldError[] {
  const shared = new SharedRules()
  const oldVersions = old?.spec?.versions
  const oldSchemas = oldVersions?.flatMap((version) => schemaOf(version) ?? [])
  return (version, path, status) => {
    const schema = schemaOf(version)
    if (!schema) return []
    const oldVersion = oldVersions?.find(({ name }) => name === version.name)
    const isUnchanged = oldVersion !== undefined && jsonEqual(schema, schemaOf(oldVersion))
    const checks = { status, old: oldSchemas, ...ruleChecks(isUnchanged, shared) }
    return structuralFaults(schema, `${path}.openAPIV3Schema`, checks)
  }
}

/** Returns the checks of CEL rules; those of `unchanged` schemas may exceed newer limits. */
const ruleChecks = (unchanged: boolean, shared: SharedRules): SchemaChecks => ({
  ruleFaults: (source, path, faulty) => definitionFaults(source, path, { faulty, unchanged, shared }),
  defaultRuleFaults: (value, schema, path) => new SchemaRules(schema, schema.embedded).defaultFaults(value, path),
})

function statusRules({ spec, status }: Definition): readonly FieldError[] {
  const versions = spec?.versions ?? []
  // Without a status, as when a client validates, storedVersions follow from the versions.
  const list = status?.storedVersions ?? versions.filter(({ storage }) => storage).map(({ name }) => name)
  const faults: FieldError[] = [...nameRules(status?.acceptedNames ?? noNames, 'status.acceptedNames')]
  if (list.length === 0)
    return [...faults, invalidValue('status.storedVersions', list, 'must have at least one stored version')]
  for (const { name, storage } of versions)
    if (storage && !list.includes(name))
      faults.push(invalidValue('status.storedVersions', list, `must have the storage version ${name}`))
  const names = new Set(versions.map(({ name }) => name))
  for (const [at, version] of list.entries())
    if (!names.has(version)) faults.push(invalidValue(`status.storedVersions[${at}]`, version, stillStored(version)))
  return faults
}

const stillStored = (version: string): string =>
  `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions ` +
  `until a storage migration ensures no data remains persisted in ${version} and removes ${version} from ` +
  'status.storedVersions'

type Approval = 'missing' | 'approved' | 'bypassed' | 'invalid'

function approvalOf({ metadata }: Definition): Approval {
  const value = metadata.annotations?.[approval]
  if (!value) return 'missing'
  if (value.startsWith('unapproved')) return 'bypassed'
  return URL.parse(value)?.host ? 'approved' : 'invalid'
}

/** Groups under `k8s.io` and `kubernetes.io` are protected: definitions in them need an approval annotation. */
function approvalRules(definition: Definition, old?: Definition): readonly FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(definition.spec?.group ?? '')) return []
  const state = approvalOf(definition)
  if (old && approvalOf(old) === state) return []
  const field = `metadata.annotations[${approval}]`
  const must = `protected groups must have approval annotation "${approval}"`
  if (state === 'missing') return [required(field, `${must}, see ${approvalPage}`)]
  if (state !== 'invalid') return []
  const value = definition.metadata.annotations?.[approval]
  return [
    invalidValue(field, value, `${must} with either a URL or a reason starting with "unapproved", see ${approvalPage}`),
  ]
}

function preservationRules({ spec }: Definition, old?: Definition): readonly FieldError[] {
  if (spec?.preserveUnknownFields !== true || old?.spec.preserveUnknownFields === true) return []
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [invalidValue('spec.preserveUnknownFields', true, detail)]
}
