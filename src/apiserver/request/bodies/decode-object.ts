/** Turns a request body into an object of a resource's kind: type check, decoding, field validation, defaults. */
import { pauses } from '../../../lib/flow/steps.ts'
import { goJsonType } from '../../../machinery/decode/go-json.ts'
import { type Decoded, DecodeError } from '../../../machinery/decode/index.ts'
import type { KubeObject } from '../../../machinery/object.ts'
import { badRequest, invalid, type StatusError } from '../../../machinery/status-error.ts'
import { invalidValue } from '../../../machinery/validation/field-error.ts'
import { strictWarnings } from '../../../machinery/yaml.ts'
import type { Request } from '../../http/exchange.ts'
import type { ServedResource } from '../../registry/served-resource.ts'
import { type Body, readBody, unrecognized } from '../../request-options/body.ts'
import { removeDuplicateOwners } from '../../request-options/duplicate-owners.ts'
import type { WriteOptions } from '../../request-options/write-options.ts'
import { decodeAs } from './decode-as.ts'

/** The kind that a body must have. */
export interface ExpectedKind {
  readonly kind: string
  readonly groupVersion: string
  /** Other group versions that are accepted. */
  readonly otherVersions?: readonly string[]
}

export const kindOf = ({ definition: { kind, acceptedBodyVersions }, groupVersion }: ServedResource): ExpectedKind => ({
  kind,
  groupVersion,
  otherVersions: acceptedBodyVersions,
})

/** Returns true for a known kind. Used to choose the error message for a body of the wrong kind. */
export type KnowsKind = (groupVersion: string, kind: string) => boolean

/** Reads the body of POST or PUT. Throws 400, 413, 415; warnings go to the request. */
export async function decodeObject(
  request: Request,
  resource: ServedResource,
  options: WriteOptions,
  knowsKind: KnowsKind,
): Promise<KubeObject> {
  const body = await readBody(request)
  const pause = pauses()
  const expected = kindOf(resource)
  const value = body.value(expected.kind) as Record<string, unknown>
  if (resource.definition.custom) checkCustomKind(value, resource, body)
  else checkKind(value, expected, body, knowsKind)
  await pause()
  const object = objectOf(resource, decodeBody(resource, body, value, request, options))
  await pause()
  resource.applyDefaults(object)
  request.audit?.recordObject(object)
  const duplicates = removeDuplicateOwners(object.metadata)
  if (duplicates) request.warnings.push(duplicates)
  return object
}

/** Turns a decoded value into an object: kind, version and metadata first, as it is stored. */
export function objectOf({ definition, groupVersion }: ServedResource, decoded: Decoded['object']): KubeObject {
  // The order of members is that of their first definition.
  const object = { kind: '', apiVersion: '', metadata: {}, ...decoded }
  object.kind = definition.kind
  object.apiVersion = groupVersion
  return object
}

/** `v1` for `apps/v1`. */
const versionOf = (groupVersion: string): string => groupVersion.slice(groupVersion.indexOf('/') + 1)
/** The package of upstream's internal types: `core`, `apps`, `rbac`. */
const internalPackage = (groupVersion: string): string =>
  groupVersion.includes('/') ? groupVersion.split(/[./]/, 1)[0]! : 'core'

/** Throws 400 for a body of another kind; kind and version may be omitted. */
export function checkKind(
  value: Record<string, unknown>,
  { kind, groupVersion, otherVersions }: ExpectedKind,
  { text }: Pick<Body, 'text'>,
  knowsKind: KnowsKind,
): void {
  const givenVersion = value.apiVersion ?? ''
  const givenKind = value.kind ?? ''
  for (const [name, given] of [
    ['apiVersion', givenVersion],
    ['kind', givenKind],
  ] as const) {
    if (typeof given !== 'string') {
      const go = given === null ? 'null' : goJsonType(given)
      throw unrecognized(
        kind,
        text,
        `json parse error: json: cannot unmarshal ${go} into Go struct field .${name} of type string`,
      )
    }
  }
  const actualVersion = (givenVersion as string) || groupVersion
  const actualKind = (givenKind as string) || kind
  if (actualKind === kind && (actualVersion === groupVersion || otherVersions?.includes(actualVersion))) return
  if (actualVersion.split('/').length > 2)
    throw unrecognized(kind, text, `unexpected GroupVersion string: ${actualVersion}`)
  const why = knowsKind(actualVersion, actualKind)
    ? `converting (${versionOf(actualVersion)}.${actualKind}) to (${internalPackage(groupVersion)}.${kind}): ` +
      'unknown conversion'
    : `no kind ${JSON.stringify(actualKind)} is registered for version ${JSON.stringify(actualVersion)} in ` +
      'scheme "pkg/api/legacyscheme/scheme.go:30"'
  throw notHandled(actualKind, actualVersion, kind, why)
}

/** The same for custom resources, whose kind is validated as a field. */
function checkCustomKind(
  value: Record<string, unknown>,
  { definition: { group, kind }, groupVersion }: ServedResource,
  { text }: Pick<Body, 'text'>,
): void {
  if (typeof value.kind !== 'string' || value.kind === '') throw badRequest(`Object 'Kind' is missing in '${text}'`)
  const given = typeof value.apiVersion === 'string' ? value.apiVersion : ''
  if (given !== groupVersion)
    throw badRequest(`the API version in the data (${given}) does not match the expected API version (${groupVersion})`)
  if (value.kind === kind) return
  const { name } = (value.metadata ?? {}) as { readonly name?: unknown }
  throw invalid({ group, name: value.kind }, typeof name === 'string' ? name : '', [
    invalidValue('kind', value.kind, `must be ${kind}`),
  ])
}

/** 400 for a body of a known format, but not of this endpoint's kind. */
const notHandled = (actualKind: string, actualVersion: string, kind: string, why: string): StatusError =>
  badRequest(
    `${actualKind} in version ${JSON.stringify(versionOf(actualVersion))} cannot be handled as a ${kind}: ${why}`,
  )

/** Decodes a parsed body, strictly if the options demand it. */
function decodeBody(
  resource: ServedResource,
  { text, format, fields, duplicateKeys }: Body,
  value: unknown,
  request: Request,
  { fieldValidation }: WriteOptions,
): Decoded['object'] {
  const { kind } = resource.definition
  let decoded: Decoded
  try {
    // A value of YAML may be referenced from several places.
    const owned = format !== 'yaml'
    decoded = decodeAs(
      resource,
      fields ? fields(resource.type) : value,
      format === 'json' ? { text, owned } : { owned },
    )
  } catch (error) {
    if (error instanceof DecodeError) throw notHandled(kind, resource.groupVersion, kind, error.message)
    throw error
  }
  if (fieldValidation === 'Strict' && duplicateKeys.length + decoded.strict.length > 0) {
    throw notHandled(
      kind,
      resource.groupVersion,
      kind,
      `strict decoding error: ${[...duplicateKeys, ...decoded.strict].join(', ')}`,
    )
  }
  if (fieldValidation === 'Warn') request.warnings.push(...strictWarnings(duplicateKeys), ...decoded.strict)
  return decoded.object
}
